/*
 * Numbers as short texts: each is built from the right end of a small buffer or piece by piece from its left.
 */
#include "word.h"

static void append(struct word *word, const char *text)
{
    size_t used = strlen(word->text);
    size_t count = min_size(strlen(text), sizeof(word->text) - 1 - used);
    memcpy(word->text + used, text, count);
    word->text[used + count] = 0;
}

/* With leading zeros up to `width` digits. */
static void append_number(struct word *word, uint64_t n, unsigned width)
{
    char digits[24];
    char *first = digits + sizeof(digits) - 1;
    *first = 0;
    do
        *--first = (char)('0' + n % 10);
    while (n /= 10);
    while (first > digits && (size_t)(digits + sizeof(digits) - 1 - first) < width)
        *--first = '0';
    append(word, first);
}

struct word word_number(uint64_t n)
{
    struct word ret = {""};
    append_number(&ret, n, 1);
    return ret;
}

struct word word_signed(int64_t n)
{
    struct word ret = {.text[0] = n < 0 ? '-' : 0};
    append_number(&ret, n < 0 ? -(uint64_t)n : (uint64_t)n, 1);
    return ret;
}

struct word word_count(uint64_t n)
{
    if (n < 1000000)
        return word_number(n);
    static const char *const units[] = {" M", " G", " T", " P", " E"};
    uint64_t unit = 1000000;
    unsigned index = 0;
    for (; n / unit >= 1000; unit *= 1000)
        index++;
    struct word ret = word_decimal((double)n / (double)unit, n / unit < 10 ? 2 : n / unit < 100 ? 1 : 0);
    append(&ret, units[index]);
    return ret;
}

struct word word_size(int64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB", " PiB"};
    uint64_t n = bytes < 0 ? -(uint64_t)bytes : (uint64_t)bytes;
    uint64_t whole = n, tenths = 0;
    unsigned index = 0;
    while (whole >= 1024 && index < ARRAY_LENGTH(units) - 1) {
        unsigned shift = 10 * ++index;
        uint64_t unit = (uint64_t)1 << shift;
        whole = n >> shift;
        tenths = ((n & (unit - 1)) * 10 + unit / 2) >> shift;
        whole += tenths / 10;
        tenths %= 10;
    }
    struct word ret = {.text[0] = bytes < 0 ? '-' : 0};
    append_number(&ret, whole, 1);
    if (index) {
        append(&ret, ".");
        append_number(&ret, tenths, 1);
    }
    append(&ret, units[index]);
    return ret;
}

struct word word_size_exact(uint64_t bytes)
{
    static const char *const units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
    unsigned index = 0;
    for (; bytes && bytes % 1024 == 0 && index < ARRAY_LENGTH(units) - 1; bytes /= 1024)
        index++;
    struct word ret = word_number(bytes);
    append(&ret, units[index]);
    return ret;
}

struct word word_decimal(double value, unsigned digits)
{
    uint64_t scale = 1;
    for (unsigned i = 0; i < digits; i++)
        scale *= 10;
    double size = value < 0 ? -value : value;
    if (!(size * (double)scale < (double)((uint64_t)1 << 53)))
        return word_number(0);
    uint64_t scaled = (uint64_t)(size * (double)scale + 0.5);
    struct word ret = {.text[0] = value < 0 && scaled ? '-' : 0};
    append_number(&ret, scaled / scale, 1);
    if (digits) {
        append(&ret, ".");
        append_number(&ret, scaled % scale, digits);
    }
    return ret;
}

struct word word_seconds(uint64_t nanoseconds)
{
    struct word ret = word_number(nanoseconds / 1000000000);
    append(&ret, ".");
    append_number(&ret, nanoseconds / 1000000 % 1000, 3);
    return ret;
}

struct date {
    unsigned year, month, day, hour, minute, second;
};

/* The Gregorian calendar counted from 1 March of year 0, when a leap day is the last day of a year. gmtime_r takes
 * the time zone's lock. */
static struct date date_of(uint64_t seconds)
{
    unsigned days = (unsigned)(seconds / 86400) + 719468;
    unsigned era = days / 146097, day_of_era = days % 146097;
    unsigned year = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    unsigned day = day_of_era - (365 * year + year / 4 - year / 100);
    unsigned month = (5 * day + 2) / 153; // 0 is March
    struct date ret = {
        .year = era * 400 + year + (month >= 10),
        .month = month < 10 ? month + 3 : month - 9,
        .day = day - (153 * month + 2) / 5 + 1,
        .hour = (unsigned)(seconds / 3600 % 24),
        .minute = (unsigned)(seconds / 60 % 60),
        .second = (unsigned)(seconds % 60),
    };
    return ret;
}

/* With these marks between the parts of the date and of the time. */
static struct word date_text(struct date date, const char *in_date, const char *in_time)
{
    struct word ret = {""};
    append_number(&ret, date.year, 4);
    append(&ret, in_date);
    append_number(&ret, date.month, 2);
    append(&ret, in_date);
    append_number(&ret, date.day, 2);
    append(&ret, "T");
    append_number(&ret, date.hour, 2);
    append(&ret, in_time);
    append_number(&ret, date.minute, 2);
    append(&ret, in_time);
    append_number(&ret, date.second, 2);
    return ret;
}

struct word word_time(uint64_t nanoseconds)
{
    struct word ret = date_text(date_of(nanoseconds / 1000000000), "-", ":");
    append(&ret, ".");
    append_number(&ret, nanoseconds / 1000000 % 1000, 3);
    append(&ret, "Z");
    return ret;
}

struct word word_time_compact(uint64_t nanoseconds)
{
    struct word ret = date_text(date_of(nanoseconds / 1000000000), "", "");
    append(&ret, "Z");
    return ret;
}

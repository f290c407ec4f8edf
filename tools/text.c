/*
 * Binary units throughout (KiB, MiB): block and page sizes are powers of two, and a unit that says so misleads nobody.
 */
#include "tools/text.h"

#include <stdio.h>
#include <string.h>

#include "tools/paint.h"

static const char *const units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB"};

struct text text_bytes(int64_t bytes)
{
    struct text ret;
    double n = (double)(bytes < 0 ? -bytes : bytes);
    unsigned unit = 0;
    while (n >= 1023.95 && unit + 1 < sizeof units / sizeof units[0]) {
        n /= 1024;
        unit++;
    }
    int digits = unit && n < 99.95 ? 1 : 0;
    snprintf(ret.s, sizeof ret.s, "%s%.*f %s", bytes < 0 ? "-" : "", digits, n, units[unit]);
    return ret;
}

struct text text_size(size_t bytes)
{
    struct text ret;
    unsigned unit = 0;
    // the largest unit in which at most three decimals say it exactly
    while (unit + 1 < sizeof units / sizeof units[0] && bytes >> (10 * (unit + 1)) &&
           bytes % ((size_t)1 << (10 * unit + 7)) == 0)
        unit++;
    snprintf(ret.s, sizeof ret.s, "%.12g %s", (double)bytes / (double)((size_t)1 << (10 * unit)), units[unit]);
    return ret;
}

struct text text_plain(uint64_t n)
{
    struct text ret;
    snprintf(ret.s, sizeof ret.s, "%lu", (unsigned long)n);
    return ret;
}

struct text text_count(uint64_t n)
{
    struct text ret;
    struct text plain = text_plain(n);
    size_t length = strlen(plain.s), used = 0;
    for (size_t i = 0; i < length; i++) {
        if (i && (length - i) % 3 == 0)
            ret.s[used++] = ',';
        ret.s[used++] = plain.s[i];
    }
    ret.s[used] = '\0';
    return ret;
}

struct text text_seconds(uint64_t nanoseconds)
{
    struct text ret;
    double seconds = (double)nanoseconds / 1e9;
    snprintf(ret.s, sizeof ret.s, "%.*f s", seconds < 1 ? 3 : seconds < 60 ? 2 : 0, seconds);
    return ret;
}

struct text text_percent(uint64_t part, uint64_t whole)
{
    struct text ret = {"-"};
    if (!whole)
        return ret;
    double percent = 100.0 * (double)part / (double)whole;
    if (part < whole && percent > 99.9)
        percent = 99.9;
    snprintf(ret.s, sizeof ret.s, "%.*f %%", part == whole || !part ? 0 : 1, percent);
    return ret;
}

const char *text_bar(char ret[3 * TEXT_BAR + 1], int64_t part, int64_t whole)
{
    const char *cell = paint_unicode() ? "\u2588" : "#";
    int64_t cells = whole > 0 && part > 0 ? (int64_t)((double)part / (double)whole * TEXT_BAR + 0.5) : 0;
    if (part > 0 && cells < 1)
        cells = 1;
    if (cells > TEXT_BAR)
        cells = TEXT_BAR;
    char *end = ret;
    for (int64_t i = 0; i < cells; i++)
        end = stpcpy(end, cell);
    *end = '\0';
    return ret;
}

size_t text_width(const char *utf8)
{
    size_t width = 0;
    for (; *utf8; utf8++)
        width += ((unsigned char)*utf8 & 0xc0) != 0x80;
    return width;
}

/* Writes one word as a shell reads it; returns its length, 0 if it does not fit or cannot be shown in one line. */
static size_t quote(char *buffer, size_t size, const char *word)
{
    static const char plain[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-+=./,:@%^";
    bool bare = *word && word[strspn(word, plain)] == '\0';
    size_t used = 0;
    size_t needed = strlen(word) + sizeof "''";
    for (const char *c = word; *c; c++)
        needed += *c == '\'' ? strlen("'\\'") : 0;
    if (needed > size)
        return 0;
    if (bare)
        return (size_t)(stpcpy(buffer, word) - buffer);
    buffer[used++] = '\'';
    for (; *word; word++) {
        if ((unsigned char)*word < ' ' || *word == 0x7f)
            return 0;
        if (*word == '\'')
            used = (size_t)(stpcpy(buffer + used, "'\\'") - buffer);
        buffer[used++] = *word;
    }
    buffer[used++] = '\'';
    buffer[used] = '\0';
    return used;
}

bool text_shell(char *buffer, size_t size, char *const *words)
{
    static const char ending[] = " ...";
    size_t used = 0;
    buffer[0] = '\0';
    for (char *const *word = words; *word; word++) {
        size_t space = used ? 1 : 0, room = size - used - space;
        size_t length = room > sizeof ending ? quote(buffer + used + space, room - sizeof ending, *word) : 0;
        if (!length) {
            strcpy(buffer + used, ending + !used);
            return false;
        }
        if (space)
            buffer[used] = ' ';
        used += space + length;
    }
    return true;
}

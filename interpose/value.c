/*
 * The types of settings: what a text must look like, and what number it stands for (option_parse of options.h).
 *
 * The idea: one function per type, each a ladder that ends in the constant text of what would have been accepted. The
 * words, ranges and "or auto" of a row come from its `values` in options.def, so the table is all there is to change.
 *
 * A path may be anything, and a misspelt `stderr` is a path: the dump would go to a file of that name, and nobody
 * would notice. So a bare word (no slash, dot or percent) that is nearly one of ours, or means something elsewhere
 * (`stdout`, `yes`), is refused; `./yes` is a way to say it.
 */
#define _GNU_SOURCE
#include "options.h"

#include <signal.h>

enum {
    LONG_WORD = 5, // from this length on a word is recognised with OPTION_EDITS errors in it, else with one
};

static const uint64_t millisecond = 1000000; // in ns
static const size_t no_index = SIZE_MAX;

/* Words that are no path: answers to the question whether, and names of what is not on offer. */
static const char *const no_path[] = {"-", "0", "1", "on", "yes", "no", "true", "false", "stdout", "none", NULL};

static const char accept_route[] = "NAME[:UPTO],... such as thread:32K,array:1M,native (see `poolmark policies`)";
static const char accept_signal[] = "off, or a signal such as USR1, SIGUSR2 or SIGRTMIN+3, but not KILL, STOP, SEGV, "
                                    "BUS, FPE or ILL";
static const char accept_time[] = "a number with ms, s or m, such as 250ms, 10s or 2m";
static const char accept_time_off[] = "a number with ms, s or m, such as 250ms, 10s or 2m, or off";
static const char accept_size[] = "bytes, or a number with K, M or G, such as 256K";
static const char accept_size_auto[] = "bytes, or a number with K, M or G, such as 256K, or auto";
static const char accept_shorter[] = "a value of at most 256 bytes";
static const char accept_shorter_path[] = "a path of at most 4096 bytes";
_Static_assert(OPTION_WORD_MAX == 256 && OPTION_PATH_MAX == 4096, "the two texts above say so");

/* ---- words ---- */

static char fold(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

/* Copies the `index`-th of "off|on|FOLDER"; an empty text for those that are no words, but stand for something. */
static bool word_at(const char *values, unsigned index, char ret[OPTION_NAME])
{
    for (; index; index--) {
        values = strchr(values, '|');
        if (!values)
            return false;
        values++;
    }
    size_t length = strcspn(values, "|");
    if (length >= OPTION_NAME || *values < 'a' || *values > 'z')
        length = 0;
    memcpy(ret, values, length);
    ret[length] = '\0';
    return true;
}

/* The index of `text` among the words of `values`, no_index if it is none of them. */
static size_t word_index(const char *values, const char *text)
{
    char word[OPTION_NAME];
    for (unsigned i = 0; word_at(values, i, word); i++) {
        if (*word && strcmp(word, text) == 0)
            return i;
    }
    return no_index;
}

unsigned edit_distance(const char *a, const char *b, unsigned limit)
{
    size_t a_length = strnlen(a, OPTION_NAME);
    size_t b_length = strnlen(b, OPTION_NAME);
    size_t apart = a_length > b_length ? a_length - b_length : b_length - a_length;
    if (a_length == OPTION_NAME || b_length == OPTION_NAME)
        return strcmp(a, b) == 0 ? 0 : limit + 1;
    if (apart > limit)
        return limit + 1;
    // rows[i % 3][j]: edits between the first i of a and the first j of b
    unsigned rows[3][OPTION_NAME];
    for (unsigned j = 0; j <= b_length; j++)
        rows[0][j] = j;
    for (unsigned i = 1; i <= a_length; i++) {
        unsigned *row = rows[i % 3];
        const unsigned *above = rows[(i + 2) % 3];
        const unsigned *swap = rows[(i + 1) % 3];
        row[0] = i;
        for (unsigned j = 1; j <= b_length; j++) {
            row[j] = above[j - 1] + (a[i - 1] != b[j - 1]);
            row[j] = (unsigned)min_size(row[j], min_size(above[j], row[j - 1]) + 1);
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = (unsigned)min_size(row[j], swap[j - 2] + 1);
        }
    }
    return (unsigned)min_size(rows[a_length % 3][b_length], limit + 1);
}

bool option_suggest(const struct option *option, const char *text, char ret[OPTION_NAME])
{
    char folded[OPTION_NAME], word[OPTION_NAME];
    size_t length = strnlen(text, OPTION_NAME);
    if (length == OPTION_NAME)
        return false;
    for (size_t i = 0; i <= length; i++)
        folded[i] = fold(text[i]);
    unsigned best = OPTION_EDITS + 1;
    for (unsigned i = 0; word_at(option->values, i, word); i++) {
        unsigned limit = strlen(word) < LONG_WORD ? 1 : OPTION_EDITS;
        unsigned edits = edit_distance(word, folded, limit);
        if (*word && edits <= limit && edits < best) {
            best = edits;
            memcpy(ret, word, sizeof(word));
        }
    }
    return best <= OPTION_EDITS;
}

/* ---- numbers ---- */

/* Reads digits at the start of a text; returns how many, 0 if there are none or the number is too large. */
static size_t digits_parse(const char *text, size_t length, uint64_t *ret)
{
    uint64_t number = 0;
    size_t used = 0;
    for (; used < length && text[used] >= '0' && text[used] <= '9'; used++) {
        if (__builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(text[used] - '0'), &number))
            return 0;
    }
    if (used)
        *ret = number;
    return used;
}

static bool text_is(const char *text, size_t length, const char *word)
{
    return length == strlen(word) && memcmp(text, word, length) == 0;
}

bool size_parse(const char *text, size_t length, size_t *ret)
{
    uint64_t number;
    size_t used = digits_parse(text, length, &number);
    if (!used)
        return false;
    unsigned shift = 0;
    if (used < length) {
        char unit = fold(text[used++]);
        shift = unit == 'k' ? 10 : unit == 'm' ? 20 : unit == 'g' ? 30 : 0;
        size_t rest = length - used;
        if (!shift || !(rest == 0 || text_is(text + used, rest, "B") || text_is(text + used, rest, "iB")))
            return false;
    }
    if (number > SIZE_MAX >> shift)
        return false;
    *ret = number << shift;
    return true;
}

bool time_parse(const char *text, size_t length, uint64_t *ret)
{
    uint64_t number;
    size_t used = digits_parse(text, length, &number);
    if (!used)
        return false;
    text += used;
    length -= used;
    uint64_t unit = text_is(text, length, "ms")  ? millisecond
                    : text_is(text, length, "s") ? 1000 * millisecond
                    : text_is(text, length, "m") ? 60000 * millisecond
                                                 : 0;
    if (!unit || __builtin_mul_overflow(number, unit, &number) || number == UINT64_MAX)
        return false;
    *ret = number;
    return true;
}

/* ---- one function per type: NULL and *ret, or what is accepted ---- */

static const char *route_shape(const char *text)
{
    static const char shell_safe[] = "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-:,";
    return text[strspn(text, shell_safe)] ? accept_route : NULL;
}

static const char *choice_parse(const struct option *option, const char *text, uint64_t *ret)
{
    size_t index = word_index(option->values, text);
    if (index == no_index)
        return option->values;
    *ret = index;
    return NULL;
}

static const char *path_check(const struct option *option, const char *text)
{
    char meant[OPTION_NAME];
    if (word_index(option->values, text) != no_index || strpbrk(text, "/.%"))
        return NULL;
    for (const char *const *word = no_path; *word; word++) {
        if (strcmp(*word, text) == 0)
            return option->values;
    }
    return option_suggest(option, text, meant) ? option->values : NULL;
}

/* The signal of a name without SIG; 0 if there is none, or it cannot be used. */
static int signal_number(const char *name)
{
    if (strncmp(name, "RTMIN", 5) == 0) {
        uint64_t above = 0;
        size_t length = strlen(name + 5);
        bool plus = length > 1 && name[5] == '+' && digits_parse(name + 6, length - 1, &above) == length - 1;
        bool known = (length == 0 || plus) && above <= (uint64_t)(SIGRTMAX - SIGRTMIN);
        return known ? SIGRTMIN + (int)above : 0;
    }
    for (int signal = 1; signal < SIGRTMIN; signal++) {
        bool unfit = signal == SIGKILL || signal == SIGSTOP || signal == SIGSEGV || signal == SIGBUS ||
                     signal == SIGFPE || signal == SIGILL;
        const char *known = sigabbrev_np(signal);
        if (known && !unfit && strcmp(known, name) == 0)
            return signal;
    }
    return 0;
}

static const char *signal_parse(const struct option *option, const char *text, uint64_t *ret)
{
    if (word_index(option->values, text) != no_index) {
        *ret = 0; // off
        return NULL;
    }
    int number = signal_number(strncmp(text, "SIG", 3) == 0 ? text + 3 : text);
    if (!number)
        return accept_signal;
    *ret = (uint64_t)number;
    return NULL;
}

static const char *time_option_parse(const struct option *option, const char *text, uint64_t *ret)
{
    bool may_be_off = word_index(option->values, "off") != no_index;
    if (may_be_off && strcmp(text, "off") == 0) {
        *ret = UINT64_MAX;
        return NULL;
    }
    if (time_parse(text, strlen(text), ret))
        return NULL;
    return may_be_off ? accept_time_off : accept_time;
}

/* The range is "LOW..HIGH" in the row's values. */
static const char *count_parse(const struct option *option, const char *text, uint64_t *ret)
{
    uint64_t number, low = 0, high = 0;
    size_t length = strlen(text);
    const char *dots = strstr(option->values, "..");
    assert(dots);
    digits_parse(option->values, (size_t)(dots - option->values), &low);
    digits_parse(dots + 2, strlen(dots + 2), &high);
    if (!length || digits_parse(text, length, &number) != length || number < low || number > high)
        return option->values;
    *ret = number;
    return NULL;
}

static const char *size_option_parse(const struct option *option, const char *text, uint64_t *ret)
{
    bool may_be_auto = word_index(option->values, "auto") != no_index;
    if (may_be_auto && strcmp(text, "auto") == 0) {
        *ret = 0;
        return NULL;
    }
    size_t size;
    if (!size_parse(text, strlen(text), &size))
        return may_be_auto ? accept_size_auto : accept_size;
    *ret = size;
    return NULL;
}

static const char *typed_parse(const struct option *option, const char *text, uint64_t *ret)
{
    switch (option->type) {
    case TYPE_ROUTE:
        return route_shape(text);
    case TYPE_CHOICE:
        return choice_parse(option, text, ret);
    case TYPE_TARGET:
    case TYPE_FOLDER:
        return path_check(option, text);
    case TYPE_SIGNAL:
        return signal_parse(option, text, ret);
    case TYPE_TIME:
        return time_option_parse(option, text, ret);
    case TYPE_COUNT:
        return count_parse(option, text, ret);
    case TYPE_SIZE:
        return size_option_parse(option, text, ret);
    }
    return option->values;
}

const char *option_parse(const struct option *option, const char *text, struct option_value *ret)
{
    bool path = option->type == TYPE_TARGET || option->type == TYPE_FOLDER;
    size_t most = path ? OPTION_PATH_MAX : OPTION_WORD_MAX;
    if (strnlen(text, most + 1) > most)
        return path ? accept_shorter_path : accept_shorter;
    if (!*text)
        return option->values;
    uint64_t number = 0;
    const char *accepted = typed_parse(option, text, &number);
    if (!accepted)
        *ret = (struct option_value){.text = text, .number = number};
    return accepted;
}

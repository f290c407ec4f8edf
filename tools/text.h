/*
 * Numbers for people: every one with its unit.
 *
 * The functions return their text by value, for use inside a call: printf("%s", text_bytes(n).s).
 */
#ifndef POOLMARK_TOOLS_TEXT_H
#define POOLMARK_TOOLS_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct text {
    char s[48];
};

/* A measured amount, rounded: "512 B", "41.2 MiB". */
struct text text_bytes(int64_t bytes);

/* An exact size: "1.25 KiB", "1000 B". */
struct text text_size(size_t bytes);

/* "12,345,678" */
struct text text_count(uint64_t n);

/* "12345678": for numbers that are names, as pids */
struct text text_plain(uint64_t n);

/* "0.002 s", "2.31 s", "75 s" */
struct text text_seconds(uint64_t nanoseconds);

/* "98.7 %" of `part` in `whole`; "-" if the whole is 0. Rounds down near 100, so 100 % means all. */
struct text text_percent(uint64_t part, uint64_t whole);

enum { TEXT_BAR = 20 };

/* A bar of TEXT_BAR cells, `part` of `whole` filled, at least one cell if part > 0. */
const char *text_bar(char ret[3 * TEXT_BAR + 1], int64_t part, int64_t whole);

/* Columns that a UTF-8 text takes (combining and wide characters are not ours). */
size_t text_width(const char *utf8);

/*
 * A command line that a shell reads back as `words` (ends with NULL). Returns false, and a text cut at a whole word
 * and ended by "...", if it does not fit.
 */
bool text_shell(char *buffer, size_t size, char *const *words);

#endif

/*
 * Numbers as short texts: counts, sizes with units, decimals, times. For the dump's renderers.
 *
 * Pure and async-signal-safe: no printf, no locale, no allocation. A text is returned by value, so that a line can be
 * put together without buffers: print_right(out, 10, word_size(bytes).text).
 */
#ifndef POOLMARK_WORD_H
#define POOLMARK_WORD_H

#include "base.h"

struct word {
    char text[32];
};

/* The whole number. */
HIDDEN struct word word_number(uint64_t n);
HIDDEN struct word word_signed(int64_t n);

/* At most six digits: exact below a million, then "1.23 M", "45.6 G". */
HIDDEN struct word word_count(uint64_t n);

/* Bytes with a unit and one decimal: "512 B", "1.5 KiB", "-3.0 MiB". */
HIDDEN struct word word_size(int64_t bytes);

/* Bytes without rounding, in the largest unit that divides them: "1280 B", "20 KiB", "1152 KiB". */
HIDDEN struct word word_size_exact(uint64_t bytes);

/* `value` with `digits` (0..6) decimals, rounded half up; "0" where it is no number or beyond 2^53. */
HIDDEN struct word word_decimal(double value, unsigned digits);

/* Nanoseconds as seconds with three decimals, cut: "12.345". */
HIDDEN struct word word_seconds(uint64_t nanoseconds);

/* Nanoseconds since 1970 as UTC: "2026-11-30T22:29:28.123Z" (RFC 3339). */
HIDDEN struct word word_time(uint64_t nanoseconds);

/* The same for a file's name: "20261130T222928Z". */
HIDDEN struct word word_time_compact(uint64_t nanoseconds);

#endif

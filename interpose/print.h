/*
 * Texts into a struct report_out: columns, and the escapes of the three formats.
 *
 * Async-signal-safe, no allocation. `limit` is the size of the field that a text lies in: it need not end with a NUL.
 */
#ifndef POOLMARK_PRINT_H
#define POOLMARK_PRINT_H

#include "base.h"

/*
 * Where rendered bytes go: a buffer with a sink that takes it when it is full. `flush` returns false on failure; from
 * then on nothing more is handed to it. Without `flush` it is a plain buffer: what does not fit is cut and `failed` is
 * set.
 */
struct report_out {
    char *buffer;
    size_t size, used;
    bool (*flush)(struct report_out *out); // takes buffer[0..used)
    void *context;
    bool failed;
};

/* Hands the buffer to the sink. */
HIDDEN void print_flush(struct report_out *out);

HIDDEN void print_bytes(struct report_out *out, const char *bytes, size_t count);
HIDDEN void print_text(struct report_out *out, const char *text);

/* Text in a column of `width`, never cut: spaces come after or before it. */
HIDDEN void print_left(struct report_out *out, unsigned width, const char *text);
HIDDEN void print_right(struct report_out *out, unsigned width, const char *text);
HIDDEN void print_repeat(struct report_out *out, char c, unsigned count);

/* Foreign text for a terminal: control characters and bytes that are no UTF-8 become '?'. */
HIDDEN void print_plain(struct report_out *out, const char *text, size_t limit);

/* A JSON string with its quotes. A byte that is no valid UTF-8 becomes the Latin-1 character, \u0080..\u00ff. */
HIDDEN void print_json(struct report_out *out, const char *text, size_t limit);

/* The value of an OpenMetrics label with its quotes; bytes that are no UTF-8 become '?'. */
HIDDEN void print_label(struct report_out *out, const char *text, size_t limit);

#endif

/*
 * What the library says to the user: single lines on the stderr of the start, by write(2).
 *
 * Nothing is said when descriptor 2 is no longer the file that it was at the start (a daemon may have put a data file
 * there), nor before message_start. No stdio, no allocation, errno kept, async-signal-safe. SIGPIPE, SIGXFSZ and full
 * pipes do no harm, and a system call that a sandbox refuses costs the line, not the program.
 */
#ifndef POOLMARK_MESSAGE_H
#define POOLMARK_MESSAGE_H

#include "base.h"

enum {
    MESSAGE_LINE = 500, // bytes of a line's text; the rest is cut
};

/* Remembers which file descriptor 2 is. Once, at start, before the program runs. */
HIDDEN void message_start(void);

/* Whether descriptor 2 is still that file. */
HIDDEN bool message_stderr_is_original(void);

/*
 * Writes all of `bytes` to `fd` without harm: retries short writes and EINTR; keeps SIGPIPE and SIGXFSZ from the
 * program; a pipe, socket or terminal that makes it wait for a second in all is given up. True if all was written.
 */
HIDDEN bool message_write(int fd, const char *bytes, size_t count);

/*
 * One line "poolmark: ..." as message_format makes it, control characters escaped, cut at MESSAGE_LINE bytes; the
 * newline is added. One write. After a line that did not arrive (a full pipe, say) no further one is tried.
 */
HIDDEN void message_line(const char *format, ...) FORMAT(1, 2);

/*
 * %s %c %p %% and %d %u %x with l or z; no width, no precision. Never writes beyond `size`, always terminates if
 * size > 0; returns the length of what is in the buffer. NULL prints as "(null)". Bytes are taken as they are.
 */
HIDDEN size_t message_format(char *buffer, size_t size, const char *format, ...) FORMAT(3, 4);

/*
 * Copies at most `length` bytes of `text` (less if it ends before) in a form that a terminal only shows: control
 * characters and bytes that are no UTF-8 become \xNN, a backslash stays. Text that does not fit into `size` ends in
 * "...". Returns the length; always terminates if size > 0.
 */
HIDDEN size_t message_escape(char *buffer, size_t size, const char *text, size_t length);

/* A broken heap: one line that names the address and the fault, then abort(). */
HIDDEN void message_broken_heap(const char *fault, const void *block) __attribute__((noreturn, cold));

#endif

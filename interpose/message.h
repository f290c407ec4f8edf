/*
 * What the library says to the user: single lines on the stderr of the start, by write(2).
 *
 * Nothing is said when descriptor 2 is no longer the file that it was at the start (a daemon may have put a data file
 * there). No stdio, no allocation, errno kept, async-signal-safe. SIGPIPE, SIGXFSZ and full pipes do no harm.
 */
#ifndef POOLMARK_MESSAGE_H
#define POOLMARK_MESSAGE_H

#include "base.h"

/* Remembers which file descriptor 2 is. Once, at start, before the program runs. */
HIDDEN void message_start(void);

/* Whether descriptor 2 is still that file. */
HIDDEN bool message_stderr_is_original(void);

/*
 * Writes all of `bytes` to `fd` without harm: retries short writes and EINTR; keeps SIGPIPE and SIGXFSZ from the
 * program; a pipe, socket or terminal that takes nothing for a second is given up. True if all was written.
 */
HIDDEN bool message_write(int fd, const char *bytes, size_t count);

/* One line "poolmark: ..." with %s %d %u %lu %zu %x %p %c and %%; cut at 500 bytes; the newline is added. */
HIDDEN void message_line(const char *format, ...) FORMAT(1, 2);

/* The same into a buffer, without prefix or newline; returns the length, always terminates. */
HIDDEN size_t message_format(char *buffer, size_t size, const char *format, ...) FORMAT(3, 4);

/* A broken heap: one line that names the address and the fault, then abort(). */
HIDDEN void message_broken_heap(const char *fault, const void *block) __attribute__((noreturn, cold));

#endif

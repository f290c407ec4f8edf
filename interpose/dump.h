/*
 * The dump's way out: from the page to stderr or a file, whole or not at all.
 *
 * POOL_STATS: off, stderr, or a path with %p (pid) %n (program) %h (host) %t (start time) %%; a folder means
 * FOLDER/poolmark.%n.%p.json; .json is JSON, .prom OpenMetrics, else text. A file is written under a temporary name in
 * the same folder (O_EXCL, O_NOFOLLOW, O_CLOEXEC, 0600), then renamed over the target: a symlink is replaced and never
 * followed, a reader never sees half a dump, and the last good one stays if anything fails. A target that exists and
 * is no regular file or symlink (a device, a fifo) is left alone, with one line said.
 *
 * No stdio, no allocation, no locks; errno kept; async-signal-safe. SIGPIPE and SIGXFSZ are kept from the program.
 */
#ifndef POOLMARK_DUMP_H
#define POOLMARK_DUMP_H

#include "counters.h"

/* Remembers the target (a text as options.c accepts it: "off", "stderr" or a path; it must outlive the process) and
 * the folder that a relative path is relative to: the current one of the start. Once, at start. */
HIDDEN void dump_start(const char *target);

/* Whether a dump has somewhere to go. */
HIDDEN bool dump_wanted(void);

/* Whether that is the stderr of the start. */
HIDDEN bool dump_goes_to_stderr(void);

/* Fills page->resident from /proc/self/status (VmRSS, VmHWM); leaves it as it is where that cannot be read. */
HIDDEN void dump_read_resident(struct page *page);

/* Renders `from` to the target. True if it arrived whole. */
HIDDEN bool dump_write(const struct page *from);

#endif

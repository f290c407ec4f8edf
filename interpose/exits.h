/*
 * The ends of a process, caught so that its numbers survive: exit and return, quick_exit, _exit and _Exit, exec*,
 * fatal signals with default action, and POOL_SIGNAL.
 *
 * The program sees none of it: wait status, signal dispositions (sigaction and signal report SIG_DFL where only our
 * handler is), masks and errno are what they would be without us. A child of vfork or posix_spawn shares our memory
 * and is recognised by its pid: nothing is counted or written for it.
 */
#ifndef POOLMARK_EXITS_H
#define POOLMARK_EXITS_H

#include "counters.h"

/* Finds libc's own functions and installs the handlers: `fatal` for signals whose action is the default and ends the
 * process, `snapshot` (a signal number, 0 none) for POOL_SIGNAL. Once, at start. */
HIDDEN void exits_start(bool fatal, int snapshot);

/*
 * Stamps the end into the page and dumps (process.c). Not for a vfork child: the caller has asked process_is_ours.
 * Returns for END_EXEC, END_SIGNAL, END_SNAPSHOT; a later end overwrites an earlier one.
 */
HIDDEN void process_ends(enum page_end end, int detail);

/* Whether the calling process is the one whose numbers these are (not a vfork child). */
HIDDEN bool process_is_ours(void);

#endif

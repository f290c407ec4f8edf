/*
 * Seccomp filters that the program puts on itself: would they kill it for our dump?
 *
 * A filter may answer a system call that it does not know by killing the process. A program that leaves with status 0
 * must not die of a dump's openat, so prctl and syscall, through which a filter comes, are replaced, and each filter is
 * asked beforehand what it would say to the calls that a dump and our signal handler make.
 *
 * A filter that would kill for a dump, and strict mode, gets a snapshot dumped before it is in force and no dump after:
 * the record then shows the numbers at the entry of the sandbox, and a live page goes on counting. A filter that would
 * not let the signal handler do its work gets the caught signals' default actions. Any other changes nothing.
 *
 * Filters that were there before the program started (a container's, a service manager's) have let the loader open
 * files; nothing is asked of them. Raw system call instructions are not seen.
 */
#ifndef POOLMARK_SANDBOX_H
#define POOLMARK_SANDBOX_H

#include "base.h"

struct sock_fprog;

/* Whether `filter` lets all that a dump calls pass, or refuses it with an error, which does no harm. */
HIDDEN bool sandbox_allows_dumps(const struct sock_fprog *filter);

/* Whether `filter` lets all that the handler of a fatal signal calls pass. */
HIDDEN bool sandbox_allows_handlers(const struct sock_fprog *filter);

#endif

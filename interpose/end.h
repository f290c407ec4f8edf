/*
 * One end at a time: the guard around process_ends.
 *
 * Ends meet: a signal arrives while the exit dump is written, a second thread calls _exit, the program crashes in a
 * destructor after its dump, an exec fails and the program goes on. What may come after what:
 *
 *     first \ then     exit, quick_exit, _exit     exec, signal       snapshot
 *     being written    waits, then by the rows below                  skipped
 *     exit, _exit      is the same end: skipped    overtakes: dumps   skipped
 *     exec, signal     waits for the process to be gone               skipped
 *     snapshot         dumps                       dumps              dumps
 *
 * Whoever waits does so for two seconds at most, then ends without a dump. A thread that meets its own dump (a fault
 * inside it) does not wait. What a fork child inherits of its parent's end does not count.
 *
 * The dump runs with all signals blocked, cancellation off, and on a stack of its own: the caller may be on a small
 * alternate stack, a coroutine's, or a thread's smallest. errno is kept.
 */
#ifndef POOLMARK_END_H
#define POOLMARK_END_H

#include "exits.h"

/* Before this, no end is dumped. Once, at start. */
HIDDEN void end_start(void);

/* No dump from now on: the sandbox that the program enters would kill it for the system calls. */
HIDDEN void end_stop(void);

/* Whether an end of this process may be dumped: started, not stopped, and not a vfork child. */
HIDDEN bool end_is_possible(void);

/* Calls process_ends if that is possible and due by the table. Returns whether it did. Async-signal-safe. */
HIDDEN bool end_dump(enum page_end end, int detail);

/* The end that this thread dumped last did not come: an exec failed. The page says "running" again. */
HIDDEN void end_withdraw(void);

#endif

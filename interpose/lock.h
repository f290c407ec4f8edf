/*
 * A futex lock that knows its holder, so that a forked child can tell which locks its missing threads held.
 *
 * Word: 0 free, else the holder's id with LOCK_CONTENDED set if somebody may sleep. Nobody spins without bound: after
 * LOCK_SPINS looks a waiter sleeps, since the holder may have been descheduled.
 *
 * After fork no handler takes or releases these locks (a handler that takes them can hang against the program's own
 * handlers and stdio's locks; CASES.md fault 6). Instead the child asks lock_survived for each lock: if a thread that
 * no longer exists held it, what it protects may be half-changed, and the caller starts that part afresh.
 *
 * Ranks, in acquisition order: a thread that holds a lock may only take one of a higher rank. Checked in debug builds.
 */
#ifndef POOLMARK_LOCK_H
#define POOLMARK_LOCK_H

#include "base.h"

enum lock_rank {
    RANK_GUEST,    // thread.c: the block that threads without one share
    RANK_THREADS,  // thread.c: the list of threads
    RANK_POOL,     // a policy's own locks and depots
    RANK_CLASS,    // span.c: the spans of one class
    RANK_UNITS,    // chunk.c: free units
    RANK_META,     // chunk.c: bookkeeping memory
    RANK_MAPPING,  // mapping.c
    RANK_TIMELINE, // trim.c
};

struct lock {
    _Atomic uint32_t word; // any thread
};

/* Returns whether the caller had to sleep. */
HIDDEN bool lock_acquire(struct lock *lock, enum lock_rank rank);
HIDDEN bool lock_try(struct lock *lock, enum lock_rank rank);
HIDDEN void lock_release(struct lock *lock, enum lock_rank rank);

/* Whether the calling thread holds it. */
HIDDEN bool lock_is_mine(struct lock *lock);

/*
 * In a forked child, before it has threads: true if `lock` was free or is held by the calling thread itself. False if
 * a vanished thread held it: the lock is then free again, and what it protects must be started afresh.
 */
HIDDEN bool lock_survived(struct lock *lock);

#endif

/*
 * Memory goes back: on a clock that slow paths look at, and at once when asked.
 */
#ifndef POOLMARK_TRIM_H
#define POOLMARK_TRIM_H

#include "thread.h"

enum { TRIM_LOOKS = 2 }; // looks per POOL_TRIM, so what is idle goes within 1.5 of it

/* One slow path has passed. Now and then this looks at the clock, and when it is time, gives idle memory back. */
HIDDEN void trim_tick(struct thread *self);

/*
 * Gives back what all threads share and has been idle for POOL_TRIM, if nobody else has looked for half of that; or all
 * that is free. For `self` with its guard held.
 */
HIDDEN void trim_shared(struct thread *self, uint64_t now, enum pressure pressure);

/* Gives back all that can be: the caller's bins, all pools, all free pages. Returns the bytes. */
HIDDEN size_t trim_all(struct thread *self);

/* In a forked child: the clocks start anew. */
HIDDEN void trim_forked(void);

#endif

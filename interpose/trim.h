/*
 * Memory goes back: on a clock that slow paths look at, and at once when asked.
 */
#ifndef POOLMARK_TRIM_H
#define POOLMARK_TRIM_H

#include "thread.h"

/* One slow path has passed. Now and then this looks at the clock, and when it is time, gives idle memory back. */
HIDDEN void trim_tick(struct thread *self);

/* Gives back all that can be: the caller's bins, all pools, all free pages. Returns the bytes. */
HIDDEN size_t trim_all(struct thread *self);

/* In a forked child: the clocks start anew. */
HIDDEN void trim_forked(void);

#endif

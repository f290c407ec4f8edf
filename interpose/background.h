/*
 * A thread of our own that gives memory back while the program's threads only sleep (POOL_BACKGROUND).
 */
#ifndef POOLMARK_BACKGROUND_H
#define POOLMARK_BACKGROUND_H

#include "thread.h"

/*
 * Starts the thread, or wakes it, if the setting and what is free ask for it. From slow paths, now and then; the caller
 * has its guard, and no lock. Leaves errno and the signal mask as they were; what fails is tried again later, silently.
 */
HIDDEN void background_look(struct thread *self, uint64_t now);

/* No thread is started from now on: the program has put a filter on its system calls. */
HIDDEN void background_forbid(void);

/* In a forked child: the thread is the parent's. */
HIDDEN void background_forked(void);

#endif

/*
 * POOL_LIVE: the page in a file of its own, that survives every end of the process and can be read while it runs.
 */
#ifndef POOLMARK_LIVE_H
#define POOLMARK_LIVE_H

#include "base.h"

/*
 * Makes the file FOLDER/PID-STARTTIME-N.pool (mode 0600; N counts images of one pid, since exec keeps it) and moves the
 * page into it. Does nothing if POOL_LIVE is off; says one line, and leaves the page private, if it cannot be done.
 * At start, and again in a forked child.
 */
HIDDEN void live_start(void);

#endif

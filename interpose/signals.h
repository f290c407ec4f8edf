/*
 * Signals that end the process by default, caught so that its numbers are written first; and POOL_SIGNAL.
 *
 * The kernel holds the only state: a signal whose handler is ours is one that the program has left at SIG_DFL. So
 * sigaction and its relatives, which this file replaces, need no table and no lock, and may run in signal handlers, in
 * any thread, before start, and in vfork children, which share our memory but not our dispositions.
 */
#ifndef POOLMARK_SIGNALS_H
#define POOLMARK_SIGNALS_H

#include "base.h"

/* Catches what is at SIG_DFL now, and whatever the program sets to SIG_DFL later: the signals whose default action
 * ends the process if `fatal`, and `snapshot` if not 0. Once, at start, before the program has threads. */
HIDDEN void signals_start(bool fatal, int snapshot);

/* Gives every caught signal its default action back, for good. */
HIDDEN void signals_stop(void);

#endif

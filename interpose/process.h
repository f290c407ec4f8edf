/*
 * The process as the page describes it: who it is, what its threads have not yet told, how it ends, and what a forked
 * child starts from.
 */
#ifndef POOLMARK_PROCESS_H
#define POOLMARK_PROCESS_H

#include "exits.h"

/* Writes who this is into the page: ids, program, arguments, host, settings. Once, at start, and again in a child. */
HIDDEN void process_identify(int argc, char **argv);

/*
 * Brings the page up to date with what all threads have in their bins, without a lock and without waiting: exact for
 * threads that do nothing meanwhile. process_resume takes it back, when the process goes on after all.
 */
HIDDEN void process_settle(void);
HIDDEN void process_resume(void);

/*
 * In a forked child: it starts from the blocks that it inherited, counted as its own first allocations, and from
 * nothing else of its parent's numbers. Locks that vanished threads held are freed and what they protected is started
 * afresh. From the fork handler, or from the first slow path where no handler ran (clone).
 */
HIDDEN void process_forked(void);

/* Bytes that the program holds and that pools keep at this moment, over all threads. */
HIDDEN void process_levels(uint64_t *ret_allocated, uint64_t *ret_pooled);

#endif

/*
 * Address space in units of 64 KiB: runs of them, for spans (span.h) and for nobody yet. Which unit holds what is told
 * by the unit map (unit.h).
 */
#ifndef POOLMARK_CHUNK_H
#define POOLMARK_CHUNK_H

#include "unit.h"

/*
 * A run of `units` units, marked as class `class`, with pages that read as zeros if ret->clean. NULL if memory is
 * exhausted. Any thread.
 */
HIDDEN struct span *span_take(unsigned units, unsigned class);

/* Gives a run back; neighbours are joined. `idle_since`: nanoseconds of the coarse clock, 0: purge at the next chance. */
HIDDEN void span_give(struct span *span, uint64_t idle_since);

/*
 * Makes a run that is in use longer or shorter where it lies, and marks it as `class`: longer only if what follows is
 * free. False, and nothing changed, if not. What is added may be dirty. Any thread, for a run that is the caller's.
 */
HIDDEN bool span_resize(struct span *span, unsigned units, unsigned class, uint64_t idle_since);

/* Gives the pages of free runs that have been idle since `before` or longer to the system, and whole free chunks'
 * address space too; returns bytes. Any thread. */
HIDDEN size_t chunk_purge(uint64_t before);

/* In a forked child: whatever a vanished thread may have left half-changed is left alone from now on. */
HIDDEN void chunk_forked(void);

/* Whether `span` was made before chunk_forked gave its units up: it must not be given back. */
HIDDEN bool span_lost(const struct span *span);

/* Forks that this process image has behind it: spans carry the number of their making. */
HIDDEN uint32_t chunk_epoch(void);

#endif

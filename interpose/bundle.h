/*
 * Bundles: lists of free blocks that are themselves in a list, so that a whole one changes hands without being walked.
 *
 * The blocks of a bundle are linked through their first word. The second word of its first block has the address of the
 * next bundle and, in the upper 16 bits, which no address uses, the bundle's length: no memory but the blocks' own. The
 * smallest block has two words.
 */
#ifndef POOLMARK_BUNDLE_H
#define POOLMARK_BUNDLE_H

#include "base.h"

enum { BUNDLE_COUNT_SHIFT = 48 };

static inline void *bundle_next(const void *first)
{
    return (void *)(uintptr_t)(((const uint64_t *)first)[1] & (((uint64_t)1 << BUNDLE_COUNT_SHIFT) - 1));
}

static inline unsigned bundle_count(const void *first)
{
    return (unsigned)(((const uint64_t *)first)[1] >> BUNDLE_COUNT_SHIFT);
}

static inline void bundle_set(void *first, unsigned count, const void *next)
{
    ((uint64_t *)first)[1] = (uint64_t)count << BUNDLE_COUNT_SHIFT | (uintptr_t)next;
}

#endif

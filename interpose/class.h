/*
 * Size classes: every block has one of CLASS_COUNT - 1 sizes, and its usable size is exactly its class's size.
 *
 * Steps of 16 bytes up to 128, then four classes per doubling (a block is at most 25 % larger than asked, 10 % on
 * average), eight per doubling from 1 MiB to 1 GiB, where a step costs address space. Every power of two is a class,
 * so policies that round to powers of two use the same table. Sizes above 1 GiB take four per doubling again: only
 * address space, never memory, is rounded away there.
 *
 * Class 0 is no class: its bins never hold a block, so "not ours" and "not ready" need no test on the fast path.
 * All functions here are pure, need nothing initialised, and may be called by any thread at any time.
 */
#ifndef POOLMARK_CLASS_H
#define POOLMARK_CLASS_H

#include "base.h"

enum {
    CLASS_NONE = 0,
    CLASS_FIRST = 1,
    CLASS_STEP_LIMIT = 128, // up to here one class per 16 bytes
    CLASS_COUNT = 1 + 8 + 52 + 80 + 68,
    CLASS_OF_1M = 8 + 52,       // the class of 1 MiB
    CLASS_OF_1G = 8 + 52 + 80,  // the class of 1 GiB
    CLASS_TABLE_MAX = 32 << 10, // requests up to this many bytes find their class in a table
};

/* The largest size that has a class: 2^47 bytes, all that a user process can address. */
#define CLASS_SIZE_MAX ((size_t)1 << 47)

/* The smallest class whose blocks hold `size` bytes; CLASS_NONE if none does. */
HIDDEN unsigned class_of(size_t size);

/* The largest class whose size is at most `usable` bytes; CLASS_NONE below 16. */
HIDDEN unsigned class_floor(size_t usable);

extern HIDDEN const size_t class_sizes[CLASS_COUNT];

/* Bytes of a block of this class; 0 for CLASS_NONE and what is no class. */
static inline size_t class_size(unsigned class)
{
    return class < CLASS_COUNT ? class_sizes[class] : 0;
}

#endif

/*
 * A mapping per block: POOL_NATIVE=mmap, and blocks so large that any allocator maps them one by one.
 *
 * A table knows each mapping, so nothing is stored in or before the block, pages stay untouched until the program
 * touches them, and an address that is not in the table is certainly not one of these.
 */
#ifndef POOLMARK_MAPPING_H
#define POOLMARK_MAPPING_H

#include "base.h"

/*
 * A block of `size` bytes, aligned to `align` (a power of two; at least a page). NULL if refused. *ret_clean: it reads as
 * zeros, always so unless blocks are kept.
 */
HIDDEN void *mapping_alloc(size_t size, size_t align, bool *ret_clean);

/*
 * From now on freed blocks are kept for a while (mapping_purge) and used again for others of
 * a like size: a page fault costs some 2 microseconds, which for a megabyte is ten times what filling it costs. Not for
 * POOL_NATIVE=mmap, which promises a mapping per block. Once, at start.
 */
HIDDEN void mapping_keep(void);

/* Gives kept mappings back that have been idle since `before` (os_clock_coarse) or longer; returns bytes. */
HIDDEN size_t mapping_purge(uint64_t before);

/* The size the block was made with (blocks are page-aligned: others are told at once); 0 if the address is not a block of ours. Any address, any thread, no lock. */
HIDDEN size_t mapping_size(const void *block);

/* Gives the block back. It must be one of ours. */
HIDDEN void mapping_free(void *block);

/* Grows or shrinks; the content moves without being copied. NULL if refused: the block is then unchanged. */
HIDDEN void *mapping_resize(void *block, size_t size);

/* In a forked child: frees the table's lock. The table itself is sound at any instruction. */
HIDDEN void mapping_forked(void);

#endif

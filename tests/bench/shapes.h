/*
 * What the benchmark shapes share: numbers that are the same in each run, and blocks that are written and read.
 */
#ifndef SHAPES_H
#define SHAPES_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

typedef uint64_t shape(size_t operations); // returns a checksum, the same under every allocator

shape shape_small_fixed, shape_random_small, shape_random_large, shape_power_law, shape_batch_order,
    shape_batch_reverse, shape_batch_random, shape_realloc, shape_large, shape_calloc, shape_aligned, shape_fragments,
    shape_burst, shape_start;
shape shape_server, shape_pipe, shape_fan, shape_handoff, shape_exchange, shape_sharing_active, shape_sharing_passive,
    shape_threads_8, shape_threads_64, shape_thread_churn;

/* xorshift64 (Marsaglia, 2003). */
static inline uint64_t draw(uint64_t *state)
{
    *state ^= *state << 13;
    *state ^= *state >> 7;
    return *state ^= *state << 17;
}

static inline size_t draw_size(uint64_t *state, size_t least, size_t most)
{
    return least + draw(state) % (most - least + 1);
}

/* A block whose first and last byte are known. */
static inline unsigned char *take(size_t size)
{
    unsigned char *block = malloc(size);
    if (!block)
        abort();
    block[0] = block[size - 1] = (unsigned char)size;
    return block;
}

/* Gives it back; returns what was in it. */
static inline uint64_t give(unsigned char *block)
{
    uint64_t first = block ? block[0] : 0;
    free(block);
    return first;
}

/* Random replacement among `live` blocks of `least` to `most` bytes. */
uint64_t replace(size_t operations, size_t live, size_t least, size_t most, uint64_t seed);

#endif

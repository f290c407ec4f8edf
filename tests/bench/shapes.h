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

/* Writes to a new block: its size (4 bytes at least) at the head, one byte in each further page, one at the end. */
static inline unsigned char *fill(unsigned char *block, size_t size)
{
    uint32_t head = (uint32_t)size;
    if (!block)
        abort();
    for (size_t page = 4096; page < size; page += 4096)
        block[page] = 1;
    block[size - 1] = (unsigned char)(size ^ 0x5a);
    memcpy(block, &head, sizeof(head));
    return block;
}

/* A block of 8 bytes or more. */
static inline unsigned char *take(size_t size)
{
    return fill(malloc(size), size);
}

/* Gives back a block that was filled, after a look at both of its ends; returns its size. */
static inline uint64_t give(unsigned char *block)
{
    uint32_t size;
    if (!block)
        return 0;
    memcpy(&size, block, sizeof(size));
    if (block[size - 1] != (unsigned char)(size ^ 0x5a))
        abort(); // somebody else wrote here
    free(block);
    return size;
}

/* Random replacement among `live` blocks of `least` to `most` bytes. */
uint64_t replace(size_t operations, size_t live, size_t least, size_t most, uint64_t seed);

#endif

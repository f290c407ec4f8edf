/*
 * Spans: runs of units that are cut into blocks of one class; the heap of each class.
 *
 * A span's blocks are handed out in order of address first (`fresh` counts how many have ever left), so that pages are
 * touched only when needed, and from the list of those that came home later. A span with all blocks home goes back to
 * the units (chunk.h), where any class may have it next.
 *
 * Invariants: used + home = fresh <= capacity, with `home` the blocks in the bundles; a span is in its class's
 * list of partial ones exactly if used < capacity.
 */
#ifndef POOLMARK_SPAN_H
#define POOLMARK_SPAN_H

#include "chunk.h"

enum {
    HEAP_CLASSES = CLASS_OF_1M + 1, // classes below this one come from spans
    RUN_BYTES = TINY ? 128 : 4096,  // what a thread takes from a span at a time, at least one block
};

enum { RECIPROCAL_SHIFT = 40 };

enum span_state { SPAN_FREE, SPAN_CUT };

struct span {
    struct span *next, *prev; // lock: class while cut, units while free
    char *start;              // fixed while it exists
    uint32_t units;           // fixed while it exists
    uint16_t class;           // fixed while cut
    uint8_t state;            // lock: units
    uint8_t clean;            // its pages read as zeros: all (free), those not yet handed out (cut)
    uint32_t capacity;        // fixed while cut: blocks
    uint32_t used;            // lock: class: blocks that are out
    uint32_t fresh;           // lock: class: blocks that were ever out
    uint32_t epoch;           // fixed while cut: chunk_epoch of its making
    void *home;               // lock: class: bundles of blocks that came back
    uint64_t reciprocal;      // fixed while cut: 2^40 / size of a block, rounded up
    uint64_t idle_since;      // lock: units
};

/*
 * What a thread has taken from a span and not yet handed out: a list of blocks that came home, or a range of fresh
 * ones. Owner only.
 */
struct run {
    void *list;
    char *next, *end;
    uint32_t listed; // blocks in the list
    bool clean;      // the fresh range reads as zeros
};

/* Fills an empty run with at least one block of the class; returns the number of blocks, 0 if memory is exhausted. */
HIDDEN unsigned heap_fetch(unsigned class, struct run *run);

/* Takes the next block of a run; NULL if it is empty. *ret_clean: the block reads as zeros. */
static inline void *run_next(struct run *run, size_t size, bool *ret_clean)
{
    void *block = run->list;
    *ret_clean = !block && run->clean;
    if (block) {
        owner_set(run->list, *(void **)block);
        owner_add(run->listed, -1u);
    } else if (run->next != run->end) {
        block = run->next;
        owner_set(run->next, run->next + size);
    }
    return block;
}

/* Most bytes that a run of this class can hold. */
HIDDEN size_t run_most(size_t size);

/* Bytes of the blocks left in a run. */
HIDDEN size_t run_bytes(const struct run *run, size_t size);

/* Blocks left in a run. */
static inline unsigned run_blocks(const struct run *run, size_t size)
{
    return (unsigned)(run_bytes(run, size) / size);
}

/* Brings back what is left of a run; it is empty then. Returns the number of blocks. */
HIDDEN unsigned heap_unfetch(unsigned class, struct run *run, uint64_t idle_since);

/*
 * Up to `count` blocks of one class, linked through their first word, come home, as far as they are the heap's: returns
 * how many, and leaves in *list the first that is not. `idle_since` as in span_give. Stops the program with one line if
 * a block lies inside another, is one of another class, or was home already (message_broken_heap).
 */
HIDDEN unsigned heap_return(unsigned class, void **list, unsigned count, uint64_t idle_since);

/*
 * The block alone in its span becomes one of class `to`, where it lies. False, and nothing changed, if there are more
 * blocks in its span, would be, or no room behind it. The caller has the block.
 */
HIDDEN bool heap_resize(void *block, unsigned to, uint64_t idle_since);

/*
 * Whether the block starts where its span has one. The quotient by multiplication (a division per block that comes home
 * would show): exact, since offset and size are below 2^21 and their product so far below 2^40 that the error of the
 * rounded-up reciprocal cannot reach the next whole number.
 */
static inline bool span_has(const struct span *span, const void *block)
{
    size_t offset = (size_t)((const char *)block - span->start);
    size_t index = offset * span->reciprocal >> RECIPROCAL_SHIFT;
    return index * class_sizes[span->class] == offset && index < span->capacity;
}

/* Whether `address` is the start of a block of its class's span. Any address. */
static inline bool block_is_sound(const void *address)
{
    struct span *span = unit_span(address);
    return span && span->state == SPAN_CUT && span_has(span, address);
}

/* Blocks that a class has out, by the heap's own count. */
HIDDEN uint64_t heap_blocks_out(unsigned class);

/* In a forked child: sets the count of blocks that are out, and starts afresh what lock_survived denies. */
HIDDEN void heap_forked(void);
HIDDEN void heap_set_blocks_out(unsigned class, uint64_t blocks);

/* Validates all partial spans of a class (debug): lengths, bounds, counts. */
HIDDEN bool span_check(unsigned class);

#endif

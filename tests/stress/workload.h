/*
 * Blocks whose content tells whose they are: a random step in the life of one, and what went wrong with it.
 *
 * One seed is one sequence of steps. Uses the core's own entry points (started.h), not the process's malloc.
 */
#ifndef POOLMARK_TEST_WORKLOAD_H
#define POOLMARK_TEST_WORKLOAD_H

#include "tests/unit/started.h"

enum { SLOT_WHOLE = 2048 }; // larger blocks are looked at near both ends only

struct slot {
    unsigned char *block;
    size_t size; // bytes that are filled
    uint64_t seed;
};

static inline unsigned char slot_byte(const struct slot *slot, size_t i)
{
    return (unsigned char)((slot->seed >> (i % 8 * 8)) + i / 8 * 37);
}

/* The next byte worth looking at. */
static inline size_t slot_next(size_t i, size_t size)
{
    return i + 1 == SLOT_WHOLE / 2 && size > SLOT_WHOLE ? size - SLOT_WHOLE / 2 : i + 1;
}

static inline void slot_fill(struct slot *slot, size_t size, uint64_t seed)
{
    slot->size = size;
    slot->seed = seed;
    for (size_t i = 0; i < size; i = slot_next(i, size))
        slot->block[i] = slot_byte(slot, i);
}

/* Whether the first `count` bytes are what they were filled with. */
static inline bool slot_holds(const struct slot *slot, size_t count)
{
    for (size_t i = 0; i < count; i = slot_next(i, slot->size))
        if (slot->block[i] != slot_byte(slot, i))
            return false;
    return true;
}

/* Most are small; every 64th may be as large as `most`. */
static inline size_t slot_size(uint64_t *state, size_t most)
{
    uint64_t kind = draw(state);
    size_t limit = kind % 64 == 0 ? most : kind % 8 == 0 ? KiB(4) : 300;
    return draw(state) % (min_size(limit, most) + 1);
}

static inline const char *slot_allocate(struct slot *slot, uint64_t *state, size_t most)
{
    size_t size = slot_size(state, most), align = MALLOC_ALIGN;
    uint64_t kind = draw(state) % 16;
    if (kind == 0) {
        align = (size_t)32 << draw(state) % 8;
        slot->block = slow_aligned(align, size);
    } else {
        slot->block = kind < 4 ? slow_calloc(size) : take(size);
    }
    if (!slot->block)
        return "no memory";
    if ((uintptr_t)slot->block % align)
        return "not aligned";
    if (slow_usable(slot->block) < size)
        return "less usable than asked for";
    if (kind > 0 && kind < 4)
        for (size_t i = 0; i < size; i = slot_next(i, size))
            if (slot->block[i])
                return "calloc is not zero";
    slot_fill(slot, draw(state) % 4 ? size : slow_usable(slot->block), draw(state));
    return NULL;
}

static inline const char *slot_release(struct slot *slot)
{
    if (!slot->block)
        return NULL;
    if (!slot_holds(slot, slot->size))
        return "content has changed";
    give(slot->block);
    *slot = (struct slot){0};
    return NULL;
}

static inline const char *slot_resize(struct slot *slot, uint64_t *state, size_t most)
{
    size_t size = slot_size(state, most) + 1;
    slot->block = slow_realloc(slot->block, size);
    if (!slot->block)
        return "no memory for realloc";
    // what lay behind the looked-at start of a large block may have moved to where it is looked at now
    size_t kept = min_size(size, slot->size);
    if (slot->size > SLOT_WHOLE)
        kept = min_size(kept, SLOT_WHOLE / 2);
    if (!slot_holds(slot, kept))
        return "realloc has lost content";
    slot_fill(slot, size, draw(state));
    return NULL;
}

/* One step in the life of a block; NULL, or what is wrong. */
static inline const char *slot_step(struct slot *slot, uint64_t *state, size_t most)
{
    if (!slot->block)
        return slot_allocate(slot, state, most);
    return draw(state) % 5 ? slot_release(slot) : slot_resize(slot, state, most);
}

#endif

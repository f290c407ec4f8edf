/*
 * The unit map: what a unit of 64 KiB of address space holds.
 *
 * A window is 4 GiB of address space in which we own some units; its table says per unit the class (as the offset of
 * the class's bin in a thread's block, so that free needs no multiplication) and the span. Windows that we own nothing
 * in all share one table of zeros: class 0, whose bins never hold a block. So "is it ours" and "which class" are one
 * look-up without a test: two loads, of which the first always hits the same cache line.
 *
 * This replaces the byte map of chunks with tables at the heads of aligned chunks (DESIGN 2.2): it saves two
 * instructions of free, needs no alignment beyond 64 KiB and so can take what little address space `ulimit -v` leaves,
 * and foreign maps may lie between our units.
 */
#ifndef POOLMARK_UNIT_H
#define POOLMARK_UNIT_H

#include "class.h"

enum {
    UNIT_SHIFT = 16,
    UNIT = 1 << UNIT_SHIFT,
    WINDOW_SHIFT = 32,
    WINDOW_UNITS = 1 << (WINDOW_SHIFT - UNIT_SHIFT),
    WINDOWS = 1 << (47 - WINDOW_SHIFT),
    BIN_SHIFT = 5, // a bin is 32 bytes (thread.h)
};

struct span;

struct unit_map {
    uint16_t nothing[WINDOW_UNITS]; // fixed: zeros
    intptr_t table[WINDOWS];        // any thread, written once each: window's table, relative to `nothing`
};

extern HIDDEN struct unit_map unit_map;

struct window {
    uint16_t bins[WINDOW_UNITS];      // any thread: offset of the class's bin, 0: not ours
    struct span *spans[WINDOW_UNITS]; // any thread
};

/* Offset of the bin of the class of the unit that `block` lies in; 0 if it is not ours. Any address below 2^47. */
static ALWAYS_INLINE size_t unit_bin(const void *block)
{
    // integer arithmetic on a base that the compiler cannot see through, since the table is another object; the load is
    // written out because gcc adds the displacement to the index instead, which costs free an instruction
    uintptr_t map = (uintptr_t)&unit_map;
    uintptr_t table;
    __asm__("mov %c3(%1,%2,8), %0"
            : "=r"(table)
            : "r"(map), "r"((uintptr_t)block >> WINDOW_SHIFT), "i"(offsetof(struct unit_map, table)), "m"(unit_map));
    map += table;
    __asm__("" : "+r"(map));
    return hint_get(((const struct unit_map *)map)->nothing[(uint32_t)(uintptr_t)block >> UNIT_SHIFT]);
}

/* The table that knows the address; NULL if nothing of its window is ours. Any address at all, as below. */
static inline struct window *window_of(const void *address)
{
    uintptr_t index = (uintptr_t)address >> WINDOW_SHIFT;
    intptr_t table = index < WINDOWS ? hint_get(unit_map.table[index]) : 0;
    return table ? (struct window *)((uintptr_t)unit_map.nothing + (uintptr_t)table) : NULL;
}

static inline unsigned unit_index(const void *address)
{
    return (uint32_t)(uintptr_t)address >> UNIT_SHIFT;
}

/* Class of the unit; CLASS_NONE if it is not ours. */
static inline unsigned unit_class(const void *address)
{
    struct window *window = window_of(address);
    return window ? hint_get(window->bins[unit_index(address)]) >> BIN_SHIFT : CLASS_NONE;
}

/*
 * Notes that the unit holds blocks of the native allocator, all of this class (mimalloc's pages are whole units and of
 * one size): then free finds their class as it finds that of ours. They have no span. False if memory is exhausted.
 */
HIDDEN bool unit_mark_native(const void *block, unsigned class);

/* The span that the address lies in (in use or free); NULL if it is not ours. */
static inline struct span *unit_span(const void *address)
{
    struct window *window = window_of(address);
    return window ? hint_get(window->spans[unit_index(address)]) : NULL;
}

/* The same for an address in a unit that has a class. */
static ALWAYS_INLINE struct span *unit_span_known(const void *address)
{
    intptr_t table = hint_get(unit_map.table[(uintptr_t)address >> WINDOW_SHIFT]);
    return hint_get(((struct window *)((uintptr_t)unit_map.nothing + (uintptr_t)table))->spans[unit_index(address)]);
}

/* Makes the tables of all windows that [start, start + bytes) touches. False if memory is exhausted. Any thread. */
HIDDEN bool unit_cover(const char *start, size_t bytes);

/* All units of [start, start + bytes), which are covered, hold this class and lead to this span. Any thread. */
HIDDEN void unit_mark(char *start, size_t bytes, unsigned class, struct span *span);

#endif

/*
 * The fast path, whole: a block from the caller's bin, a block into it.
 *
 * It knows no policy and tests for nothing rare. Not ready, gone, nothing in the bin, too large: the bin is empty
 * (thread.h). NULL, foreign, native, bin full: class 0 or no room. A block that is freed twice in a row is its bin's
 * head. One comparison or one empty bin leads out of here.
 *
 * Budget to the first ret, checked by scripts/check-fastpath: malloc 16 instructions, free 18, no call.
 */
#ifndef POOLMARK_HOT_H
#define POOLMARK_HOT_H

#include "unit.h"
#include "dispatch.h"
#include "slow.h"
#include "thread.h"

/* A block of the caller's bin for `size` bytes, NULL if there is none at hand. */
static ALWAYS_INLINE void *hot_take(size_t size)
{
    if (unlikely(size > CLASS_TABLE_MAX))
        return NULL;
    size_t offset = hint_get(dispatch_bins[(size + 15) / 16]);
    struct bin *bin = (struct bin *)((char *)thread_self->bins + offset);
    __asm__("" : "+d"(bin)); // not in %rax, where the block has to be in the end: saves a move
    void *block = owner_get(bin->head);
    if (unlikely(!block))
        return NULL;
    void *next = *(void **)block;
    owner_add(bin->room, 1);
    owner_add(bin->pops, 1);
    owner_set(bin->head, next);
    return block;
}

static ALWAYS_INLINE void *hot_malloc(size_t size)
{
    void *block = hot_take(size);
    return likely(block) ? block : slow_malloc(size);
}

static ALWAYS_INLINE void hot_free(void *block)
{
    struct bin *bin = (struct bin *)((char *)thread_self->bins + unit_bin(block));
    void *head = owner_get(bin->head);
    if (unlikely(head == block))
        return slow_free(block);
    if (unlikely(owner_drop(bin->room) < 0))
        return slow_free(block);
    *(void **)block = head;
    owner_set(bin->head, block);
}

#endif

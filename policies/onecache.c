/*
 * Policy `onecache`: the process keeps one free block per size class.
 *
 * A caller that asks for the same large buffer again and again finds it warm, and memory is bounded by one block per
 * class. The price: of N callers at once, N-1 go to native. Modelled on the private buffer cache of .NET's Process
 * class: one field, taken and filled by exchange, the loser of a race is freed.
 */
#include "interpose/policy.h"

/* A cached block has no owner; it is idle if it was there at the last look too. */
static struct {
    void *_Atomic block;  // any thread
    void *_Atomic looked; // hint: what the last trim saw
} cache[CLASS_COUNT];

static void *refill(struct thread *self, unsigned class)
{
    // taking leaves NULL behind: whoever comes second goes to native
    void *block = atomic_exchange_explicit(&cache[class].block, NULL, memory_order_acquire);
    if (!block)
        return native_alloc(self, class);
    count_stored(self, class, -1);
    atomic_store_explicit(&cache[class].looked, NULL, memory_order_relaxed);
    return count_hit(self, class, block);
}

static void spill(struct thread *self, unsigned class, void *block)
{
    count_stored(self, class, 1);
    void *loser = atomic_exchange_explicit(&cache[class].block, block, memory_order_acq_rel);
    if (!loser)
        return;
    if (loser == block)
        block_freed_twice(block);
    count_stored(self, class, -1);
    block_drop(self, class, loser);
}

static size_t trim(struct thread *self, unsigned class, uint64_t now, enum pressure pressure)
{
    (void)now;
    void *block = atomic_load_explicit(&cache[class].block, memory_order_relaxed);
    void *looked = atomic_exchange_explicit(&cache[class].looked, block, memory_order_relaxed);
    if (!block || (pressure == PRESSURE_NONE && looked != block))
        return 0;
    block = atomic_exchange_explicit(&cache[class].block, NULL, memory_order_acquire);
    if (!block)
        return 0;
    count_stored(self, class, -1);
    *(void **)block = NULL;
    chain_trim(self, class, (struct chain){block, 1});
    return class_size(class);
}

static size_t stored(unsigned class)
{
    return atomic_load_explicit(&cache[class].block, memory_order_relaxed) != NULL;
}

const struct policy policy_onecache = {
    .name = "onecache",
    .summary = "one free block per size class for the whole process",
    .largest = SIZE_MAX,
    .on_native = true,
    .block_size = native_block_size,
    .bin_capacity = policy_no_bin,
    .start = policy_nothing_to_start,
    .refill = refill,
    .spill = spill,
    .leave = policy_nothing_to_leave,
    .trim = trim,
    .stored = stored,
    .forked = policy_nothing_to_fork,
};

/*
 * Policy `thread`: free blocks wait in a bin per thread and class, without any lock.
 *
 * A full bin is exchanged whole with its spare, and a full spare with a depot that all threads share, as in Bonwick and
 * Adams, "Magazines and Vmem" (USENIX 2001) and TCMalloc's transfer cache; the depot's lock is taken once per chain.
 * Bins start small and double each time they are found empty or full, until POOL_THREAD_BYTES is used up; what the
 * depots keep in all is bounded by POOL_POOL_BYTES. The price: free blocks lie in the bins of threads that do not need
 * them, until the thread's next idle look.
 */
#include "interpose/policy.h"

enum {
    BIN_LEAST = 4,       // blocks, at the first use
    BIN_MOST = 256,      // blocks
    BIN_BYTES = 8 << 10, // a bin holds at most so much, or one block
    LARGE = 16 << 10,    // above it a thread's one block is its spare, which the counters see
};

/* Chains, linked as bundles. */
struct depot {
    struct lock lock;
    _Atomic uint32_t chains; // lock: pool; others as a hint
    uint32_t least;          // lock: pool: fewest chains since the last trim: so many were not needed
    _Atomic uint64_t blocks; // lock: pool; others as a hint
    void *first;             // lock: pool
} __attribute__((aligned(CACHE_LINE)));

static struct depot depots[CLASS_COUNT];

static void put_locked(struct depot *depot, struct chain chain)
{
    bundle_set(chain.head, chain.count, depot->first);
    depot->first = chain.head;
    atomic_store_explicit(&depot->chains, depot->chains + 1, memory_order_relaxed);
    atomic_store_explicit(&depot->blocks, depot->blocks + chain.count, memory_order_relaxed);
}

static struct chain take_locked(struct depot *depot)
{
    struct chain chain = {depot->first, 0};
    if (!chain.head)
        return chain;
    chain.count = bundle_count(chain.head);
    depot->first = bundle_next(chain.head);
    uint32_t left = depot->chains - 1;
    atomic_store_explicit(&depot->chains, left, memory_order_relaxed);
    atomic_store_explicit(&depot->blocks, depot->blocks - chain.count, memory_order_relaxed);
    if (left < depot->least)
        depot->least = left;
    return chain;
}

static struct chain depot_take(struct thread *self, unsigned class)
{
    struct depot *depot = &depots[class];
    if (!atomic_load_explicit(&depot->chains, memory_order_relaxed))
        return (struct chain){0};
    pool_lock(self, class, &depot->lock);
    struct chain chain = take_locked(depot);
    lock_release(&depot->lock, RANK_POOL);
    count_stored(self, class, -(long)chain.count);
    return chain;
}

static void depot_put(struct thread *self, unsigned class, struct chain chain)
{
    if (!chain.count)
        return;
    if (!pools_have_room(class, chain.count)) {
        chain_drop(self, class, chain);
        return;
    }
    struct depot *depot = &depots[class];
    count_stored(self, class, chain.count);
    pool_lock(self, class, &depot->lock);
    put_locked(depot, chain);
    lock_release(&depot->lock, RANK_POOL);
}

static unsigned bin_capacity(struct thread *self, unsigned class)
{
    size_t size = class_size(class);
    if (size > LARGE)
        return 0;
    if (TINY)
        return 2;
    unsigned now = bin_count_most(self, class);
    unsigned most = (unsigned)min_size(max_size(BIN_BYTES / size, 1), BIN_MOST);
    unsigned wish = (unsigned)min_size(max_size(now * 2, BIN_LEAST), most);
    if (wish <= now)
        return now;
    return bins_have_room(self, class, wish - now) || now == 0 ? wish : now;
}

static void *refill_large(struct thread *self, unsigned class)
{
    void *block = spare_pop(self, class);
    if (block)
        return count_hit(self, class, block);
    block = depot_take(self, class).head; // chains of one
    return block ? count_hit(self, class, block) : heap_alloc(self, class);
}

static void *refill(struct thread *self, unsigned class)
{
    if (class_size(class) > LARGE)
        return refill_large(self, class);
    if (bin_spare_count(self, class)) {
        bin_swap_spare(self, class);
        return count_hit(self, class, bin_pop(self, class));
    }
    struct chain chain = depot_take(self, class);
    if (!chain.count)
        return heap_alloc(self, class);
    if (bin_put(self, class, chain))
        return count_hit(self, class, bin_pop(self, class));
    // a longer chain than this thread's bin may hold: one block of it, the rest goes on to the heap
    void *block = chain.head;
    chain_trim(self, class, (struct chain){*(void **)block, chain.count - 1});
    return count_hit(self, class, block);
}

static void spill(struct thread *self, unsigned class, void *block)
{
    if (class_size(class) > LARGE) {
        if (!spare_push(self, class, block, 1))
            depot_put(self, class, (struct chain){block, 1});
        return;
    }
    if (bin_spare_count(self, class))
        depot_put(self, class, bin_take_spare(self, class));
    bin_swap_spare(self, class);
    if (!bin_push(self, class, block))
        block_drop(self, class, block);
}

static void leave(struct thread *self, unsigned class)
{
    depot_put(self, class, bin_take_spare(self, class));
    depot_put(self, class, bin_take(self, class));
}

static size_t trim(struct thread *self, unsigned class, uint64_t now, enum pressure pressure)
{
    (void)now;
    struct depot *depot = &depots[class];
    size_t bytes = 0;
    if (!atomic_load_explicit(&depot->chains, memory_order_relaxed))
        return 0;
    pool_lock(self, class, &depot->lock);
    uint32_t idle = pressure == PRESSURE_FULL ? UINT32_MAX : depot->least;
    lock_release(&depot->lock, RANK_POOL);
    for (; idle; idle--) {
        struct chain chain = depot_take(self, class);
        if (!chain.count)
            break;
        bytes += chain.count * class_size(class);
        chain_trim(self, class, chain);
    }
    pool_lock(self, class, &depot->lock);
    depot->least = depot->chains;
    lock_release(&depot->lock, RANK_POOL);
    return bytes;
}

static size_t stored(unsigned class)
{
    return atomic_load_explicit(&depots[class].blocks, memory_order_relaxed);
}

static void forked(void)
{
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        if (!lock_survived(&depots[class].lock))
            memset(&depots[class], 0, sizeof(depots[class]));
}

const struct policy policy_thread = {
    .name = "thread",
    .summary = "bins per thread and class; full and empty ones are exchanged with a shared depot",
    .largest = MiB(1),
    .on_native = false,
    .block_size = policy_class_size,
    .bin_capacity = bin_capacity,
    .start = policy_nothing_to_start,
    .refill = refill,
    .spill = spill,
    .leave = leave,
    .trim = trim,
    .stored = stored,
    .forked = forked,
};

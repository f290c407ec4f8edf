/*
 * Policy `array`: a shared array pool, improved from .NET's SharedArrayPool.
 *
 * Per class a bin in each thread, then one stack per processor (POOL_ARRAY_PARTITIONS of depth POOL_ARRAY_DEPTH), then
 * the other processors' stacks in turn, then the heap. A stack's lock is tried before it is waited for, and its count is
 * looked at before it is locked. What is idle for POOL_TRIM goes back on the clock, pressure or not. The original's
 * bins hold one block; ours hold 4 KiB of small ones, since a lock per small block costs more than the block.
 *
 * Good for large buffers that several threads take and give back; for small ones `thread` moves whole chains.
 */
#include "interpose/policy.h"

enum {
    BIN_BYTES = 4 << 10,
    BIN_MOST = 32,
    LARGE = 8 << 10, // above it a thread's one block is its spare, which the counters see
    PARTITIONS_MOST = 256,
};

struct partition {
    struct lock lock;
    _Atomic uint32_t count; // lock: pool; others as a hint
    uint32_t least;         // lock: pool: fewest blocks since the last trim
    void *blocks[];         // lock: pool
};

static struct {
    unsigned partitions, depth;          // fixed after start
    size_t bytes;                        // fixed after start: of one partition
    char *_Atomic of_class[CLASS_COUNT]; // any thread: partitions, made at the first spill
} pool;

static void start(void)
{
    unsigned wish = (unsigned)knob("POOL_ARRAY_PARTITIONS");
    pool.depth = TINY ? 3 : (unsigned)knob("POOL_ARRAY_DEPTH");
    pool.partitions = (unsigned)min_size(wish ? wish : os_processor_count(), PARTITIONS_MOST);
    pool.bytes = align_up(sizeof(struct partition) + pool.depth * sizeof(void *), CACHE_LINE);
}

static struct partition *partition_of(char *partitions, unsigned index)
{
    return (struct partition *)(partitions + index % pool.partitions * pool.bytes);
}

/* The class's partitions; NULL if there are none yet and `make` is not asked for or there is no memory. */
static char *partitions_of(unsigned class, bool make)
{
    char *partitions = atomic_load_explicit(&pool.of_class[class], memory_order_acquire);
    if (partitions || !make)
        return partitions;
    char *made = meta_alloc(pool.partitions * pool.bytes);
    if (!made)
        return NULL;
    // who loses the race leaves some bytes of bookkeeping memory unused
    return atomic_compare_exchange_strong_explicit(&pool.of_class[class], &partitions, made, memory_order_acq_rel,
                                                   memory_order_acquire)
               ? made
               : partitions;
}

static void *pop_locked(struct partition *partition)
{
    uint32_t count = partition->count;
    if (!count)
        return NULL;
    atomic_store_explicit(&partition->count, count - 1, memory_order_relaxed);
    if (count - 1 < partition->least)
        partition->least = count - 1;
    return partition->blocks[count - 1];
}

static bool push_locked(struct partition *partition, void *block)
{
    uint32_t count = partition->count;
    if (count == pool.depth)
        return false;
    partition->blocks[count] = block;
    atomic_store_explicit(&partition->count, count + 1, memory_order_relaxed);
    return true;
}

/* Whether it is worth locking, by its count; then the lock, which only `wait` waits for. */
static bool open_partition(struct thread *self, unsigned class, struct partition *partition, uint32_t useless,
                           bool wait)
{
    if (atomic_load_explicit(&partition->count, memory_order_relaxed) == useless)
        return false;
    if (lock_try(&partition->lock, RANK_POOL))
        return true;
    if (wait)
        pool_lock(self, class, &partition->lock);
    return wait;
}

/*
 * The caller's partition first, then the others in turn: twice round, and only the second time is a lock waited for,
 * since another partition may do as well.
 */
static void *take(struct thread *self, unsigned class)
{
    char *partitions = partitions_of(class, false);
    unsigned own = os_processor();
    for (unsigned i = 0; partitions && i < pool.partitions * 2; i++) {
        struct partition *partition = partition_of(partitions, own + i);
        if (!open_partition(self, class, partition, 0, i >= pool.partitions))
            continue;
        void *block = pop_locked(partition);
        lock_release(&partition->lock, RANK_POOL);
        if (block)
            return block;
    }
    return NULL;
}

static bool give(struct thread *self, unsigned class, void *block)
{
    char *partitions = partitions_of(class, true);
    unsigned own = os_processor();
    for (unsigned i = 0; partitions && i < pool.partitions * 2; i++) {
        struct partition *partition = partition_of(partitions, own + i);
        if (!open_partition(self, class, partition, pool.depth, i >= pool.partitions))
            continue;
        bool done = push_locked(partition, block);
        lock_release(&partition->lock, RANK_POOL);
        if (done)
            return true;
    }
    return false;
}

/* To a partition, or out if all are full. */
static void store(struct thread *self, unsigned class, void *block)
{
    count_stored(self, class, 1);
    if (give(self, class, block))
        return;
    count_stored(self, class, -1);
    block_drop(self, class, block);
}

static unsigned bin_capacity(struct thread *self, unsigned class)
{
    (void)self;
    if (class_size(class) > LARGE)
        return 0;
    return TINY ? 1 : (unsigned)min_size(max_size(BIN_BYTES / class_size(class), 1), BIN_MOST);
}

static void *refill(struct thread *self, unsigned class)
{
    void *block = spare_pop(self, class);
    if (block)
        return count_hit(self, class, block);
    block = take(self, class);
    if (!block)
        return heap_alloc(self, class);
    count_stored(self, class, -1);
    return count_hit(self, class, block);
}

static void spill(struct thread *self, unsigned class, void *block)
{
    if (!pools_have_room(class, 1)) {
        block_drop(self, class, block);
        return;
    }
    if (class_size(class) > LARGE && spare_push(self, class, block, 1))
        return;
    store(self, class, block);
}

static void leave(struct thread *self, unsigned class)
{
    struct chain chains[] = {bin_take(self, class), bin_take_spare(self, class)};
    for (unsigned i = 0; i < 2; i++)
        for (void *next, *block = chains[i].head; block; block = next) {
            next = *(void **)block;
            store(self, class, block);
        }
}
static size_t trim(struct thread *self, unsigned class, uint64_t now, enum pressure pressure)
{
    (void)now;
    char *partitions = partitions_of(class, false);
    size_t blocks = 0;
    for (unsigned i = 0; partitions && i < pool.partitions; i++) {
        struct partition *partition = partition_of(partitions, i);
        struct chain chain = {0};
        if (!open_partition(self, class, partition, 0, true))
            continue;
        uint32_t idle = pressure == PRESSURE_FULL ? partition->count : partition->least;
        while (chain.count < idle) {
            void *block = pop_locked(partition);
            *(void **)block = chain.head;
            chain = (struct chain){block, chain.count + 1};
        }
        partition->least = partition->count;
        lock_release(&partition->lock, RANK_POOL);
        blocks += chain.count;
        count_stored(self, class, -(long)chain.count);
        chain_trim(self, class, chain);
    }
    return blocks * class_size(class);
}

static size_t stored(unsigned class)
{
    char *partitions = partitions_of(class, false);
    size_t blocks = 0;
    for (unsigned i = 0; partitions && i < pool.partitions; i++)
        blocks += atomic_load_explicit(&partition_of(partitions, i)->count, memory_order_relaxed);
    return blocks;
}

static void forked(void)
{
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        char *partitions = partitions_of(class, false);
        for (unsigned i = 0; partitions && i < pool.partitions; i++)
            if (!lock_survived(&partition_of(partitions, i)->lock))
                partition_of(partitions, i)->count = 0;
    }
}

const struct policy policy_array = {
    .name = "array",
    .summary = "a stack of free blocks per processor and class behind small bins, trimmed on a clock",
    .largest = GiB(1),
    .on_native = false,
    .block_size = policy_class_size,
    .bin_capacity = bin_capacity,
    .start = start,
    .refill = refill,
    .spill = spill,
    .leave = leave,
    .trim = trim,
    .stored = stored,
    .forked = forked,
};

/*
 * The table of mappings: open addressing with linear probing, one slot per block.
 *
 * Readers take no lock: a slot's size is written before its address, and a table that has been outgrown stays where
 * it is (they double, so all old ones together are no larger than the current one). A slot whose block has gone is
 * emptied as soon as the slot behind it is empty, so that churn does not fill the table and no reader's path is cut.
 * So the table is sound at any instruction, also in a child forked in the middle. Writers take one lock; next to the
 * system call that each of them makes it does not show.
 */
#include "mapping.h"

#include "lock.h"
#include "os.h"

enum {
    FIRST_SLOTS = TINY ? 4 : 256,
    KEPT = TINY ? 2 : 16,
    KEPT_SHIFT = 3, // kept mappings take at most an eighth of what the live ones have taken
};

#define KEPT_LEAST MiB(32) // or this much, if that is more

/* Marks a slot whose block has gone: probing goes on past it. */
#define GONE ((uintptr_t)1)

struct slot {
    _Atomic uintptr_t block; // any thread; written under the lock
    _Atomic size_t size;     // any thread; written under the lock, before the block is
};

struct table {
    size_t slots, used; // fixed; lock: mapping: slots that are not zero
    struct slot slot[];
};

/* A mapping without a block, waiting for one. */
struct kept {
    char *start;
    size_t bytes;
    uint64_t since; // os_clock_coarse when it was freed
};

static struct {
    struct lock lock;
    bool keep;                   // fixed after start
    struct kept kept[KEPT];      // lock: mapping
    size_t kept_bytes;           // lock: mapping
    size_t live_bytes;           // lock: mapping
    struct table *_Atomic table; // any thread; written under the lock
    size_t live;                 // lock: mapping
} mappings;

static size_t hash(uintptr_t block)
{
    return (block >> 12) * 0x9E3779B97F4A7C15u >> 20;
}

static struct slot *find(struct table *table, uintptr_t block)
{
    if (!table)
        return NULL;
    for (size_t i = hash(block);; i++) {
        struct slot *slot = &table->slot[i & (table->slots - 1)];
        uintptr_t seen = atomic_load_explicit(&slot->block, memory_order_acquire);
        if (seen == block)
            return slot;
        if (seen == 0)
            return NULL;
    }
}

static struct slot *slot_at(struct table *table, size_t i)
{
    return &table->slot[i & (table->slots - 1)];
}

static uintptr_t block_at(struct table *table, size_t i)
{
    return atomic_load_explicit(&slot_at(table, i)->block, memory_order_relaxed);
}

static void insert_locked(struct table *table, uintptr_t block, size_t size)
{
    size_t i = hash(block);
    while (block_at(table, i) > GONE)
        i++;
    if (block_at(table, i) == 0)
        table->used++;
    atomic_store_explicit(&slot_at(table, i)->size, size, memory_order_relaxed);
    atomic_store_explicit(&slot_at(table, i)->block, block, memory_order_release); // pairs with find
}

static void remove_locked(struct table *table, struct slot *slot)
{
    atomic_store_explicit(&slot->block, GONE, memory_order_release);
    size_t i = (size_t)(slot - table->slot) + table->slots; // so that i - 1 never wraps
    if (block_at(table, i + 1))
        return;
    for (; block_at(table, i) == GONE; i--) {
        atomic_store_explicit(&slot_at(table, i)->block, 0, memory_order_release);
        table->used--;
    }
}

/* A table with room for one more block; false if there is no memory for it. */
static bool room_locked(void)
{
    struct table *old = atomic_load_explicit(&mappings.table, memory_order_relaxed);
    if (old && old->used * 2 < old->slots)
        return true;
    size_t slots = FIRST_SLOTS;
    while (slots < mappings.live * 4)
        slots *= 2;
    struct table *table = os_map(align_up(sizeof(*table) + slots * sizeof(struct slot), OS_PAGE));
    if (!table)
        return old && old->used + 1 < old->slots;
    table->slots = slots;
    for (size_t i = 0; old && i < old->slots; i++) {
        if (block_at(old, i) > GONE)
            insert_locked(table, block_at(old, i), atomic_load_explicit(&old->slot[i].size, memory_order_relaxed));
    }
    atomic_store_explicit(&mappings.table, table, memory_order_release); // pairs with mapping_size
    return true;
}

static bool record(void *block, size_t size)
{
    lock_acquire(&mappings.lock, RANK_MAPPING);
    bool done = room_locked();
    if (done) {
        insert_locked(atomic_load_explicit(&mappings.table, memory_order_relaxed), (uintptr_t)block, size);
        mappings.live++;
        mappings.live_bytes += align_up(size, OS_PAGE);
    }
    lock_release(&mappings.lock, RANK_MAPPING);
    return done;
}

static size_t forget(void *block)
{
    lock_acquire(&mappings.lock, RANK_MAPPING);
    struct table *table = atomic_load_explicit(&mappings.table, memory_order_relaxed);
    struct slot *slot = find(table, (uintptr_t)block);
    size_t size = slot ? atomic_load_explicit(&slot->size, memory_order_relaxed) : 0;
    if (slot) {
        remove_locked(table, slot);
        mappings.live--;
        mappings.live_bytes -= align_up(size, OS_PAGE);
    }
    lock_release(&mappings.lock, RANK_MAPPING);
    return size;
}

/* The kept mapping that is nearest in size, if one is within a factor of two; its bytes are then the caller's. */
static struct kept take_kept(size_t bytes)
{
    struct kept best = {0};
    struct kept *from = NULL;
    lock_acquire(&mappings.lock, RANK_MAPPING);
    for (struct kept *kept = mappings.kept; kept < mappings.kept + KEPT; kept++) {
        if (!kept->start || kept->bytes > bytes * 2 || kept->bytes < bytes / 2)
            continue;
        size_t off = kept->bytes > bytes ? kept->bytes - bytes : bytes - kept->bytes;
        size_t best_off = best.bytes > bytes ? best.bytes - bytes : bytes - best.bytes;
        if (!from || off < best_off) {
            from = kept;
            best = *kept;
        }
    }
    if (from) {
        mappings.kept_bytes -= best.bytes;
        from->start = NULL;
    }
    lock_release(&mappings.lock, RANK_MAPPING);
    return best;
}

/* A kept mapping brought to the right size by the kernel, which moves pages instead of making new ones. */
static void *map_again(size_t bytes)
{
    struct kept kept = take_kept(bytes);
    if (!kept.start || kept.bytes == bytes)
        return kept.start;
    void *start = os_remap(kept.start, kept.bytes, bytes);
    if (!start)
        os_unmap(kept.start, kept.bytes, kept.bytes);
    return start;
}

/* Keeps a mapping, in the place of the one that has been idle longest. False if it is not to be kept. */
static bool keep(void *start, size_t bytes)
{
    struct kept out = {0};
    bool kept_it = false;
    lock_acquire(&mappings.lock, RANK_MAPPING);
    if (mappings.kept_bytes + bytes <= max_size(mappings.live_bytes >> KEPT_SHIFT, KEPT_LEAST)) {
        struct kept *oldest = mappings.kept;
        for (struct kept *kept = mappings.kept; kept < mappings.kept + KEPT && oldest->start; kept++)
            if (!kept->start || kept->since < oldest->since)
                oldest = kept;
        out = *oldest;
        *oldest = (struct kept){start, bytes, os_clock_coarse()};
        mappings.kept_bytes += bytes - (out.start ? out.bytes : 0);
        kept_it = true;
    }
    lock_release(&mappings.lock, RANK_MAPPING);
    if (out.start)
        os_unmap(out.start, out.bytes, out.bytes);
    return kept_it;
}

size_t mapping_purge(uint64_t before)
{
    size_t bytes = 0;
    for (unsigned i = 0; i < KEPT; i++) {
        struct kept *kept = &mappings.kept[i];
        struct kept out = {0};
        lock_acquire(&mappings.lock, RANK_MAPPING);
        if (kept->start && kept->since <= before) {
            out = *kept;
            kept->start = NULL;
            mappings.kept_bytes -= out.bytes;
        }
        lock_release(&mappings.lock, RANK_MAPPING);
        if (out.start)
            os_unmap(out.start, out.bytes, out.bytes);
        bytes += out.start ? out.bytes : 0;
    }
    return bytes;
}

void mapping_keep(void)
{
    mappings.keep = true;
}

static void *map_aligned(size_t bytes, size_t align)
{
    if (align <= OS_PAGE)
        return os_map(bytes);
    void *block = os_reserve(bytes, align);
    if (block && !os_commit(block, bytes)) {
        os_unmap(block, bytes, 0);
        block = NULL;
    }
    return block;
}

void *mapping_alloc(size_t size, size_t align, bool *ret_clean)
{
    size_t bytes = align_up(size, OS_PAGE);
    void *block = align <= OS_PAGE && mappings.keep ? map_again(bytes) : NULL;
    *ret_clean = !block;
    if (!block)
        block = map_aligned(bytes, align);
    if (block && !record(block, size)) {
        os_unmap(block, bytes, bytes);
        return NULL;
    }
    return block;
}

size_t mapping_size(const void *block)
{
    if ((uintptr_t)block % OS_PAGE)
        return 0;
    struct slot *slot = find(atomic_load_explicit(&mappings.table, memory_order_acquire), (uintptr_t)block);
    return slot ? atomic_load_explicit(&slot->size, memory_order_relaxed) : 0;
}

void mapping_free(void *block)
{
    // forgotten first: the kernel may give the address to another thread at once
    size_t bytes = align_up(forget(block), OS_PAGE);
    if (bytes && !(mappings.keep && keep(block, bytes)))
        os_unmap(block, bytes, bytes);
}

void *mapping_resize(void *block, size_t size)
{
    lock_acquire(&mappings.lock, RANK_MAPPING); // over the system call: the old address may become another block's
    bool room = room_locked();
    struct table *table = atomic_load_explicit(&mappings.table, memory_order_relaxed);
    struct slot *slot = find(table, (uintptr_t)block);
    void *moved = NULL;
    if (room && slot) {
        size_t old = atomic_load_explicit(&slot->size, memory_order_relaxed);
        moved = os_remap(block, align_up(old, OS_PAGE), align_up(size, OS_PAGE));
        if (moved) {
            remove_locked(table, slot);
            insert_locked(table, (uintptr_t)moved, size);
            mappings.live_bytes += align_up(size, OS_PAGE) - align_up(old, OS_PAGE);
        }
    }
    lock_release(&mappings.lock, RANK_MAPPING);
    return moved;
}

void mapping_forked(void)
{
    if (lock_survived(&mappings.lock))
        return;
    // a vanished thread may have been changing these; the kept mappings are lost to the child
    memset(mappings.kept, 0, sizeof(mappings.kept));
    mappings.kept_bytes = 0;
}

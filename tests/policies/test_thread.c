/*
 * Policy `thread`: bins grow, chains move whole between bin, spare and depot, and budgets hold.
 */
#include "policy_test.h"

enum { LEAST = TINY ? 2 : 4, MANY = 3000 };

static const struct policy *policy;
static void *blocks[MANY];
static const size_t size = 64, large = KiB(256);

static void start(const char *thread_bytes, const char *pool_bytes)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_TRIM=off", thread_bytes, pool_bytes, NULL);
    policy = policy_named("thread");
}

/* Bins that cannot grow beyond their first size. */
static void start_small(void)
{
    start("POOL_THREAD_BYTES=256", "POOL_POOL_BYTES=64M");
}

static void start_roomy(void)
{
    start("POOL_THREAD_BYTES=64M", "POOL_POOL_BYTES=64M");
}

Test(thread, bins_double_up_to_a_bound, .init = start_roomy)
{
    unsigned before = 0, growths = 0;
    for (unsigned i = 0; i < 2 * MANY; i++) {
        if (i < MANY)
            blocks[i] = take(size);
        else
            give(blocks[i - MANY]);
        unsigned now = bin_count_most(self_now(), class_of(size));
        if (now == before)
            continue;
        cr_assert(before == 0 ? now == LEAST : now <= before * 2 && now > before, "from %u to %u", before, now);
        before = now;
        growths++;
    }
    cr_assert_leq(before, 256);
    cr_assert_leq(before * size, KiB(16));
    cr_assert_geq(growths, TINY ? 1 : 4);
    check_consistent();
}

Test(thread, each_class_has_a_bin_or_a_slot, .init = start_roomy)
{
    struct thread *self = self_now();
    for (unsigned class = CLASS_FIRST; class_size(class) <= policy->largest; class ++) {
        unsigned capacity = policy->bin_capacity(self, class);
        if (class_size(class) > KiB(32))
            cr_assert_eq(capacity, 0, "%zu bytes", class_size(class));
        if (class_size(class) <= KiB(8))
            cr_assert_geq(capacity, 1, "%zu bytes", class_size(class));
        cr_assert_leq(capacity * class_size(class), KiB(64));
    }
    cr_assert_eq(policy->largest, MiB(1));
    cr_assert_not(policy->on_native);
}

Test(thread, full_bin_goes_to_the_spare_and_full_spare_to_the_depot, .init = start_small)
{
    const unsigned class = class_of(size);
    struct thread *self = self_now();
    take_many(blocks, 10 * LEAST, size);
    unsigned before = bin_count(self, class);
    cr_assert_eq(before, 0);
    for (unsigned n = 1; n <= 10 * LEAST; n++) {
        give(blocks[n - 1]);
        unsigned chains = (n - 1) / LEAST; // that have left the bin
        cr_assert_eq(bin_count(self, class), n - chains * LEAST, "after %u", n);
        cr_assert_eq(bin_spare_count(self, class), chains ? LEAST : 0, "after %u", n);
        cr_assert_eq(policy->stored(class), chains > 1 ? (chains - 1) * LEAST : 0, "after %u", n);
    }
    cr_assert_eq(bin_count_most(self, class), LEAST, "no bytes to grow");
    check_consistent();
}

Test(thread, all_comes_back_before_the_heap_is_asked, .init = start_small)
{
    const unsigned class = class_of(size);
    take_many(blocks, 10 * LEAST, size);
    use_up_run(size);
    give_many(blocks, 10 * LEAST);
    uint64_t misses = counts_now(class).misses;
    take_many(blocks, 10 * LEAST, size);
    cr_assert_eq(counts_now(class).misses, misses);
    cr_assert_eq(counts_now(class).hits, 10 * LEAST);
    cr_assert_eq(policy->stored(class), 0);
    cr_assert_eq(bin_count(self_now(), class) + bin_spare_count(self_now(), class), 0);
    take(size);
    cr_assert_eq(counts_now(class).misses, misses + 1);
}

/* Takes a block; NULL if the rest of its chain has not come with it. */
static void *take_one(void *unused)
{
    (void)unused;
    void *block = take(size);
    bool whole = bin_count(thread_self, class_of(size)) == LEAST - 1 && policy->stored(class_of(size)) == 2 * LEAST;
    return whole ? block : NULL;
}

Test(thread, another_thread_gets_a_chain_whole, .init = start_small)
{
    const unsigned class = class_of(size);
    take_many(blocks, 5 * LEAST, size);
    give_many(blocks, 5 * LEAST);
    cr_assert_eq(policy->stored(class), 3 * LEAST);
    uint64_t misses = counts_now(class).misses;
    void *block = in_thread(take_one, NULL);
    cr_assert_not_null(block);
    cr_assert_eq(counts_now(class).misses, misses, "a hit");
    cr_assert_eq(policy->stored(class), 3 * LEAST - 1, "when it ends its bin goes to the depot");
    give(block);
    check_consistent();
}

/* Takes and gives back a block; NULL if others are in the bin. */
static void *take_of_a_long_chain(void *unused)
{
    (void)unused;
    void *block = take(size);
    unsigned others = bin_count(thread_self, class_of(size));
    give(block);
    return others ? NULL : block;
}

Test(thread, chain_that_is_too_long_for_a_new_bin_goes_on_to_the_heap, .init = start_roomy)
{
    if (TINY)
        cr_skip_test("all bins are equally long");
    take_many(blocks, MANY, size);
    give_many(blocks, MANY);
    uint64_t stored = policy->stored(class_of(size)), most = bin_count_most(self_now(), class_of(size));
    cr_assert_gt(most, LEAST);
    cr_assert_not_null(in_thread(take_of_a_long_chain, NULL));
    cr_assert_eq(counts_now(class_of(size)).trimmed, most - 1);
    cr_assert_eq(policy->stored(class_of(size)), stored - most + 1);
    check_consistent();
}

Test(thread, large_blocks_use_the_spare_as_a_slot, .init = start_small)
{
    const unsigned class = class_of(large);
    take_many(blocks, 4, large);
    for (unsigned n = 1; n <= 4; n++) {
        give(blocks[n - 1]);
        cr_assert_eq(bin_spare_count(self_now(), class), 1);
        cr_assert_eq(policy->stored(class), n - 1);
    }
    cr_assert_eq(bin_count_most(self_now(), class), 0);
    cr_assert_eq(take(large), blocks[0], "one's own first");
    cr_assert_eq(take(large), blocks[3]);
    cr_assert_eq(counts_now(class).hits, 2);
    check_consistent();
}

static void start_poor(void)
{
    start("POOL_THREAD_BYTES=1K", "POOL_POOL_BYTES=1M");
}

Test(thread, depots_keep_to_their_budget, .init = start_poor)
{
    const unsigned class = class_of(large);
    for (unsigned round = 0; round < 3; round++) {
        take_many(blocks, 20, large);
        for (unsigned i = 0; i < 20; i++) {
            give(blocks[i]);
            cr_assert_leq(page->total.stored.now, (int64_t)MiB(1) + (int64_t)large, "the slot is not the depot's");
        }
        cr_assert_geq(policy->stored(class), 2);
        cr_assert_gt(counts_now(class).dropped, 0);
    }
    take_many(blocks, MANY, KiB(1));
    give_many(blocks, MANY);
    cr_assert_leq(page->total.stored.now, (int64_t)MiB(1) + (int64_t)large, "over all classes");
    check_consistent();
}

Test(thread, bins_keep_to_their_threads_budget, .init = start_poor)
{
    size_t grown = 0;
    for (size_t bytes = 16; bytes <= KiB(8); bytes = bytes * 5 / 4 + 16) {
        take_many(blocks, 300, bytes);
        give_many(blocks, 300);
    }
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++)
        if (bin_count_most(self_now(), class) > LEAST)
            grown += bin_count_most(self_now(), class) * class_size(class);
    cr_assert_leq(grown, KiB(1), "beyond the first blocks of each");
}

Test(thread, depot_is_trimmed_when_idle_for_two_looks, .init = start_small)
{
    const unsigned class = class_of(size);
    take_many(blocks, 8 * LEAST, size);
    use_up_run(size);
    give_many(blocks, 8 * LEAST);
    unsigned stored = (unsigned)policy->stored(class);
    cr_assert_eq(stored, 6 * LEAST);
    cr_assert_eq(trim_idle(policy, class), 0, "it was used since the look before");
    take_many(blocks, 4 * LEAST, size); // two chains of the depot are needed
    give_many(blocks, 4 * LEAST);
    cr_assert_eq(policy->stored(class), stored);
    cr_assert_eq(trim_idle(policy, class), (size_t)(stored - 2 * LEAST) * size, "what was never needed");
    cr_assert_eq(policy->stored(class), 2 * LEAST);
    cr_assert_eq(trim_idle(policy, class), 2 * LEAST * size);
    cr_assert_eq(policy->stored(class), 0);
    cr_assert_eq(counts_now(class).trimmed, stored);
    check_consistent();
}

static void *give_all(void *unused)
{
    give_many(blocks, 10 * LEAST - 1);
    return unused;
}

Test(thread, what_an_ended_thread_had_is_in_the_depot, .init = start_small)
{
    const unsigned class = class_of(size);
    take_many(blocks, 10 * LEAST - 1, size);
    in_thread(give_all, NULL);
    cr_assert_eq(policy->stored(class), 10 * LEAST - 1);
    cr_assert_geq(counts_now(class).cross_thread_frees, 6 * LEAST, "as far as its bins had told");
    check_consistent();
}

static bool child_has_the_depot(void)
{
    process_forked();
    take_many(blocks, 10 * LEAST - 1, size);
    return policy->stored(class_of(size)) == 0 && counts_now(class_of(size)).hits == 10 * LEAST - 1 && !settled_fault();
}

Test(thread, child_inherits_the_depot, .init = start_small)
{
    take_many(blocks, 10 * LEAST - 1, size);
    use_up_run(size);
    in_thread(give_all, NULL);
    cr_assert_eq(in_child(child_has_the_depot), 0);
    cr_assert_eq(policy->stored(class_of(size)), 10 * LEAST - 1);
}

/*
 * Policy `array`: own partition, then the others, then the heap; depth and budget hold; idle blocks are trimmed.
 */
#include "policy_test.h"

#include <sched.h>

enum { DEPTH = TINY ? 3 : 5, PARTITIONS = 2, FULL = DEPTH * PARTITIONS };

static const struct policy *policy;
static void *blocks[64];
static const size_t size = KiB(100); // no bin: one in the thread's slot

static bool run_on(unsigned n)
{
    cpu_set_t all, one;
    sched_getaffinity(0, sizeof(all), &all);
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++)
        if (CPU_ISSET(cpu, &all) && n-- == 0) {
            CPU_ZERO(&one);
            CPU_SET(cpu, &one);
            return sched_setaffinity(0, sizeof(one), &one) == 0;
        }
    return false;
}

static void start_with(const char *partitions, const char *pool_bytes)
{
    start_core("POOL_POLICY=array", "POOL_NATIVE=mmap", "POOL_TRIM=off", "POOL_ARRAY_DEPTH=5", partitions, pool_bytes,
               NULL);
    policy = policy_named("array");
}

static void start(void)
{
    start_with("POOL_ARRAY_PARTITIONS=2", "POOL_POOL_BYTES=64M");
    cr_assert(run_on(0));
}

Test(array, fills_the_slot_its_partition_the_others_and_then_drops, .init = start)
{
    const unsigned class = class_of(size);
    take_many(blocks, FULL + 5, size);
    for (unsigned n = 1; n <= FULL + 5; n++) {
        give(blocks[n - 1]);
        cr_assert_eq(bin_spare_count(self_now(), class), 1);
        cr_assert_eq(policy->stored(class), min_size(n - 1, FULL), "after %u", n);
        cr_assert_eq(counts_now(class).dropped, n > FULL + 1 ? n - FULL - 1 : 0, "after %u", n);
    }
    check_consistent();
}

Test(array, takes_the_slots_its_partitions_the_others_and_then_the_heaps, .init = start)
{
    const unsigned class = class_of(size);
    take_many(blocks, FULL + 1, size);
    give_many(blocks, FULL + 1); // slot: 0; own partition: 1 ... DEPTH; the other: the rest
    uint64_t misses = counts_now(class).misses;
    cr_assert_eq(take(size), blocks[0]);
    for (unsigned i = DEPTH; i >= 1; i--)
        cr_assert_eq(take(size), blocks[i], "own, last in first out: %u", i);
    for (unsigned i = FULL; i > DEPTH; i--)
        cr_assert_eq(take(size), blocks[i], "the other's: %u", i);
    cr_assert_eq(counts_now(class).misses, misses);
    cr_assert_not_null(take(size));
    cr_assert_eq(counts_now(class).misses, misses + 1);
    check_consistent();
}

static void *take_on_the_other_processor(void *unused)
{
    (void)unused;
    return run_on(1) ? take(size) : NULL;
}

Test(array, each_processor_has_its_own_partition)
{
    cpu_set_t all;
    sched_getaffinity(0, sizeof(all), &all);
    if (CPU_COUNT(&all) < 2 || os_processor_count() % 2)
        cr_skip_test("one processor");
    start_with("POOL_ARRAY_PARTITIONS=2", "POOL_POOL_BYTES=64M");
    pthread_t thread;
    void *taken;
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    run_on(0);
    unsigned own = os_processor() % 2;
    sched_setaffinity(0, sizeof(all), &all);
    run_on(1);
    if (os_processor() % 2 == own)
        cr_skip_test("both processors share a partition");
    sched_setaffinity(0, sizeof(all), &all);
    run_on(0);
    take_many(blocks, FULL + 1, size);
    give_many(blocks, FULL + 1);
    pthread_attr_setaffinity_np(&attributes, sizeof(all), &all);
    cr_assert_eq(pthread_create(&thread, &attributes, take_on_the_other_processor, NULL), 0);
    pthread_join(thread, &taken);
    cr_assert_eq(taken, blocks[FULL], "the one put last into its own partition");
    check_consistent();
}

Test(array, small_blocks_have_bins, .init = start)
{
    const unsigned class = class_of(64);
    struct thread *self = self_now();
    unsigned capacity = policy->bin_capacity(self, class);
    cr_assert_eq(capacity, TINY ? 1 : 32);
    cr_assert_eq(policy->bin_capacity(self, class_of(KiB(2))), TINY ? 1 : 2);
    cr_assert_eq(policy->bin_capacity(self, class_of(KiB(64))), 0);
    take_many(blocks, capacity + FULL + 2, 64);
    use_up_run(64);
    for (unsigned n = 1; n <= capacity + FULL + 2; n++) {
        give(blocks[n - 1]);
        cr_assert_eq(bin_count(self, class), min_size(n, capacity));
        cr_assert_eq(policy->stored(class), n > capacity ? min_size(n - capacity, FULL) : 0);
    }
    cr_assert_eq(counts_now(class).dropped, 2);
    uint64_t misses = counts_now(class).misses;
    take_many(blocks, capacity + FULL, 64);
    cr_assert_eq(counts_now(class).misses, misses);
    check_consistent();
}

static void start_poor(void)
{
    start_with("POOL_ARRAY_PARTITIONS=2", "POOL_POOL_BYTES=512K");
}

Test(array, budget_holds, .init = start_poor)
{
    const unsigned class = class_of(size);
    take_many(blocks, 20, size);
    for (unsigned i = 0; i < 20; i++) {
        give(blocks[i]);
        cr_assert_leq(page->total.stored.now, (int64_t)KiB(512));
    }
    cr_assert_eq(policy->stored(class) + 1, KiB(512) / class_size(class));
    cr_assert_eq(counts_now(class).dropped, 20 - KiB(512) / class_size(class));
    take_many(blocks, 20, KiB(20));
    give_many(blocks, 20);
    cr_assert_leq(page->total.stored.now, (int64_t)KiB(512), "over all classes");
    check_consistent();
}

Test(array, idle_blocks_are_trimmed_at_the_second_look, .init = start)
{
    const unsigned class = class_of(size);
    size_t block = class_size(class);
    take_many(blocks, DEPTH + 1, size);
    give_many(blocks, DEPTH + 1);
    cr_assert_eq(trim_idle(policy, class), 0, "used since the look before");
    take_many(blocks, 2, size); // the slot's and one of the partition
    give_many(blocks, 2);
    cr_assert_eq(trim_idle(policy, class), (DEPTH - 1) * block, "what was never needed");
    cr_assert_eq(policy->stored(class), 1);
    cr_assert_eq(trim_idle(policy, class), block);
    cr_assert_eq(policy->stored(class), 0);
    cr_assert_eq(counts_now(class).trimmed, DEPTH);
    check_consistent();
}

static void *give_all(void *unused)
{
    give_many(blocks, FULL + 4);
    return unused;
}

Test(array, what_an_ended_thread_had_goes_to_the_partitions, .init = start)
{
    const unsigned class = class_of(size);
    take_many(blocks, FULL + 4, size);
    in_thread(give_all, NULL);
    cr_assert_eq(policy->stored(class), FULL);
    cr_assert_eq(counts_now(class).dropped, 4);
    check_consistent();
}

static void start_default(void)
{
    start_with("POOL_ARRAY_PARTITIONS=0", "POOL_POOL_BYTES=1G");
}

Test(array, one_partition_per_processor_by_default, .init = start_default)
{
    static void *many[4096];
    unsigned full = DEPTH * os_processor_count();
    cr_assert_leq(full + 5, ARRAY_LENGTH(many));
    take_many(many, full + 5, size);
    give_many(many, full + 5);
    cr_assert_eq(policy->stored(class_of(size)), full);
}

Test(array, serves_up_to_1_GiB, .init = start)
{
    cr_assert_eq(policy->largest, GiB(1));
    char *block = take(MiB(40));
    give(block);
    cr_assert_eq(take(MiB(40)), block);
    give(block);
    cr_assert(is_readable(block), "kept");
    check_consistent();
}

static bool child_takes_what_there_is(void)
{
    process_forked();
    for (unsigned i = 0; i < FULL + 1; i++)
        take(size);
    return policy->stored(class_of(size)) == 0 && counts_now(class_of(size)).hits == FULL + 1 && !settled_fault();
}

Test(array, child_inherits_the_partitions, .init = start)
{
    take_many(blocks, FULL + 1, size);
    give_many(blocks, FULL + 1);
    cr_assert_eq(in_child(child_takes_what_there_is), 0);
    cr_assert_eq(policy->stored(class_of(size)), FULL);
}

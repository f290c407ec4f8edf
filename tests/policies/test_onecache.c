/*
 * Policy `onecache`: one block per class for the whole process; who comes second goes to native, the loser is freed.
 */
#include "policy_test.h"

enum { THREADS = 4, ROUNDS = 5000 };

static const struct policy *policy;
static const size_t size = KiB(64);
static unsigned class;

static void start(void)
{
    start_core("POOL_POLICY=onecache", "POOL_NATIVE=mmap", "POOL_TRIM=off", NULL);
    policy = policy_named("onecache");
    class = class_of(size);
}

TestSuite(onecache, .init = start, .timeout = 60);

Test(onecache, block_comes_back)
{
    char *block = take(size);
    give(block);
    cr_assert_eq(policy->stored(class), 1);
    cr_assert_eq(page->total.stored.now, (int64_t)size);
    cr_assert(is_readable(block));
    cr_assert_eq(take(size), block);
    cr_assert_eq(policy->stored(class), 0);
    cr_assert_eq(page->total.stored.now, 0);
    cr_assert_eq(counts_now(class).hits, 1);
    cr_assert_eq(counts_now(class).misses, 1);
    check_consistent();
}

Test(onecache, second_caller_goes_to_native)
{
    give(take(size));
    take(size);
    take(size);
    cr_assert_eq(counts_now(class).hits, 1);
    cr_assert_eq(counts_now(class).misses, 2);
}

Test(onecache, loser_is_freed)
{
    char *one = take(size), *two = take(size), *three = take(size);
    give(one);
    give(two);
    cr_assert_not(is_readable(one), "the older one has lost");
    cr_assert(is_readable(two));
    give(three);
    cr_assert_not(is_readable(two));
    cr_assert_eq(counts_now(class).dropped, 2);
    cr_assert_eq(policy->stored(class), 1);
    cr_assert_eq(take(size), three);
    check_consistent();
}

Test(onecache, classes_are_apart_and_of_any_size)
{
    for (unsigned each = CLASS_FIRST; class_size(each) <= MiB(100); each++) {
        void *block = take(class_size(each));
        cr_assert_null(unit_span(block), "native's");
        give(block);
        cr_assert_eq(policy->stored(each), 1);
        cr_assert_eq(bin_count_most(self_now(), each), 0);
    }
    check_consistent();
}

Test(onecache, idle_block_is_trimmed_at_the_second_look)
{
    char *block = take(size);
    give(block);
    cr_assert_eq(trim_idle(policy, class), 0);
    cr_assert_eq(take(size), block);
    give(block);
    cr_assert_eq(trim_idle(policy, class), 0, "used since");
    cr_assert_eq(trim_idle(policy, class), size);
    cr_assert_not(is_readable(block));
    cr_assert_eq(policy->stored(class), 0);
    cr_assert_eq(trim_idle(policy, class), 0);
    cr_assert_eq(counts_now(class).trimmed, 1);
    check_consistent();
}

/* ---- a race ---- */

static _Atomic unsigned shared;

static void *take_and_give(void *number)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        _Atomic uintptr_t *block = take(size);
        atomic_store(block, (uintptr_t)number);
        if (i % 64 == 0)
            sched_yield();
        if (atomic_load(block) != (uintptr_t)number)
            atomic_fetch_add(&shared, 1);
        give((void *)block);
    }
    return NULL;
}

Test(onecache, nobody_shares_a_block)
{
    pthread_t threads[THREADS];
    for (uintptr_t i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, take_and_give, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(shared, 0);
    struct class_counts counts = counts_now(class);
    cr_assert_eq(counts.hits + counts.misses, (uint64_t)THREADS * ROUNDS);
    cr_assert_eq(counts.frees, (uint64_t)THREADS * ROUNDS);
    cr_assert_eq(counts.dropped + counts.hits + policy->stored(class), counts.frees);
    check_consistent();
}

/*
 * The accounts: bytes now are exact at any moment, and the true peak lies between `peak` and `bound`.
 */
#include <criterion/criterion.h>

#include "started.h"

enum { LIVE = 3000, LOOK_FINE = 32 << 10, LOOK_SHIFT = 9 };

static void *blocks[LIVE];
static size_t sizes[LIVE];

static void start(void)
{
    start_core("POOL_POLICY=thread:1K,array:64K,native", "POOL_NATIVE=mmap", NULL);
}

TestSuite(account, .init = start, .timeout = 120);

/* One block more, or the one that is there less; returns by how much the allocated bytes change. */
static int64_t toggle(unsigned at, size_t size)
{
    int64_t bytes;
    if (blocks[at]) {
        bytes = -(int64_t)sizes[at];
        give(blocks[at]);
        blocks[at] = NULL;
    } else {
        blocks[at] = take(size);
        cr_assert_not_null(blocks[at]);
        bytes = (int64_t)(sizes[at] = slow_usable(blocks[at]));
    }
    return bytes;
}

static uint64_t allocated_now(void)
{
    uint64_t allocated, pooled;
    process_levels(&allocated, &pooled);
    return allocated;
}

/* Frees less hits, dropped and trimmed, over all classes. */
static uint64_t pooled_by_events(void)
{
    uint64_t bytes = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts counts = counts_now(class);
        bytes += (counts.frees - counts.hits - counts.dropped - counts.trimmed) * class_size(class);
    }
    return bytes;
}

Test(account, bytes_are_exact_at_any_moment)
{
    uint64_t state = 1, allocated, pooled;
    int64_t expected = 0;
    for (unsigned i = 0; i < 40000; i++) {
        size_t size = draw(&state) % (draw(&state) % 64 ? 2000 : KiB(200));
        expected += toggle((unsigned)(draw(&state) % LIVE), size);
        if (i % 64)
            continue;
        process_levels(&allocated, &pooled);
        cr_assert_eq((int64_t)allocated, expected, "after %u: %lu, should be %ld", i, allocated, expected);
        if (i % 4096 == 0)
            cr_assert_eq(pooled, pooled_by_events(), "after %u", i);
    }
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(account, true_peak_lies_between_peak_and_bound)
{
    uint64_t state = 2;
    int64_t now = 0, most = 0;
    for (unsigned i = 0; i < 60000; i++) {
        // up and down, each time higher
        bool up = i % 8000 < 5000;
        unsigned at = (unsigned)(draw(&state) % LIVE);
        if (up == !blocks[at])
            now += toggle(at, draw(&state) % 3000);
        most = now > most ? now : most;
    }
    process_settle();
    const struct level *held = &page->total.held;
    int64_t error = account_hidden() + most / (1 << LOOK_SHIFT) + LOOK_FINE + (int64_t)KiB(64);
    cr_assert_leq(held->peak, most);
    cr_assert_geq(held->bound, most);
    cr_assert_leq(held->bound - held->peak, error, "%ld..%ld, was %ld", held->peak, held->bound, most);
    cr_assert_gt(held->peak, 0);
}

Test(account, growth_alone_has_little_error)
{
    for (unsigned i = 0; i < LIVE; i++)
        blocks[i] = take(KiB(1));
    process_settle();
    cr_assert_eq(allocated_now(), LIVE * KiB(1));
    const struct level *of_class = &page->classes[class_of(KiB(1))].levels.held, *total = &page->total.held;
    cr_assert_eq(of_class->peak, (int64_t)(LIVE * KiB(1)), "settling sees the class");
    cr_assert_geq(total->bound, of_class->peak);
    cr_assert_eq(total->peak, of_class->peak, "settling sees the whole");
    cr_assert_leq(total->bound - total->peak, (int64_t)run_most(KiB(1)));
}

static void check_sums(void)
{
    int64_t held = 0, stored = 0, held_policies = 0, stored_policies = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        const struct level_pair *levels = &page->classes[class].levels;
        cr_assert_geq(levels->held.now, 0);
        cr_assert_geq(levels->stored.now, 0);
        cr_assert_geq(levels->held.bound, levels->held.now);
        cr_assert_geq(levels->stored.bound, levels->stored.now);
        held += levels->held.now;
        stored += levels->stored.now;
    }
    for (unsigned i = 0; i < page->policy_count; i++) {
        held_policies += page->policies[i].levels.held.now;
        stored_policies += page->policies[i].levels.stored.now;
    }
    cr_assert_eq(held, page->total.held.now);
    cr_assert_eq(stored, page->total.stored.now);
    cr_assert_eq(held_policies, page->total.held.now);
    cr_assert_eq(stored_policies, page->total.stored.now);
}

Test(account, classes_and_policies_add_up_to_the_whole)
{
    uint64_t state = 3;
    for (unsigned i = 0; i < 20000; i++) {
        toggle((unsigned)(draw(&state) % LIVE), draw(&state) % (draw(&state) % 32 ? 3000 : KiB(300)));
        if (i % 1000 == 0)
            check_sums();
    }
    check_sums();
}

static pthread_barrier_t barrier;

static void *fill_bins_and_wait(void *unused)
{
    void *mine[200];
    for (unsigned i = 0; i < ARRAY_LENGTH(mine); i++)
        mine[i] = take(i * 4);
    for (unsigned i = 0; i < ARRAY_LENGTH(mine); i++)
        give(mine[i]);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return unused;
}

Test(account, what_lies_in_other_threads_bins_is_not_allocated)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    pthread_create(&thread, NULL, fill_bins_and_wait, NULL);
    pthread_barrier_wait(&barrier);
    int64_t now = 0, before = (int64_t)allocated_now(), hidden = account_hidden();
    cr_assert_eq(before, 0);
    cr_assert_gt(hidden, 0);
    for (unsigned i = 0; i < LIVE; i++)
        now += toggle(i, KiB(1));
    process_settle();
    cr_assert_eq((int64_t)allocated_now(), now);
    cr_assert_leq(page->total.held.peak, now);
    cr_assert_geq(page->total.held.bound, now);
    cr_assert_geq(page->hidden, hidden);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
    cr_assert_eq((int64_t)allocated_now(), now);
    cr_assert_lt(account_hidden(), hidden + (int64_t)run_most(KiB(1)) + 1, "its bins are gone");
}

Test(account, hidden_bytes_follow_capacities_and_runs)
{
    struct thread *self = self_now();
    const unsigned class = class_of(64);
    account_capacity(self, class, 10);
    cr_assert_eq(account_hidden(), 640 * BIN_CHAINS);
    account_run(self, class, true);
    account_run(self, class, true);
    cr_assert_eq(account_hidden(), 640 * BIN_CHAINS + (int64_t)run_most(64));
    cr_assert_eq(self->hidden, 640 * BIN_CHAINS + run_most(64));
    cr_assert_eq(self->bin_bytes, 640 * BIN_CHAINS);
    cr_assert_eq(self->top_class, class);
    account_run(self, class, false);
    account_capacity(self, class, -10);
    cr_assert_eq(account_hidden(), 0);
    cr_assert_eq(self->hidden, 0);
}

Test(account, a_child_hides_only_what_it_has_itself)
{
    struct thread *self = self_now();
    give(take(64));
    uint64_t own = self->hidden;
    account_capacity(self, class_of(64), 0);
    struct thread other = {.shard = self->shard};
    account_capacity(&other, class_of(128), 100);
    cr_assert_eq(account_hidden(), (int64_t)own + 12800 * BIN_CHAINS);
    account_forked();
    cr_assert_eq(account_hidden(), (int64_t)own);
    cr_assert_eq(self->hidden, own);
}

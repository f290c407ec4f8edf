/*
 * Memory goes back: at once when asked, on a clock when idle, not at all when POOL_TRIM=off; and the time line.
 */
#include <criterion/criterion.h>

#include "interpose/os.h"
#include "interpose/span.h"
#include "interpose/trim.h"
#include "started.h"

enum { BLOCKS = 2000 };

static void *blocks[BLOCKS];

static void allocate_all(void)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < BLOCKS; i++) {
        size_t size = draw(&state) % (i % 50 ? 3000 : KiB(300));
        blocks[i] = take(size);
        memset(blocks[i], 1, size);
    }
}

static void free_all(void)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        give(blocks[i]);
}

static uint64_t pooled_now(void)
{
    uint64_t allocated, pooled;
    process_levels(&allocated, &pooled);
    return pooled;
}

static uint64_t trimmed_now(void)
{
    struct class_counts counts;
    report_counts(page, REPORT_ALL_POLICIES, &counts);
    return counts.trimmed;
}

/* Lets time pass, and the caller do a slow path now and then, until `done`; false if it does not come. */
static bool until(bool (*done)(void))
{
    for (unsigned i = 0; i < 1000; i++) {
        for (unsigned j = 0; j < 64; j++)
            trim_tick(self_now());
        if (done())
            return true;
        usleep(10000);
    }
    return false;
}

Test(trim, no_time_line_where_nobody_reads)
{
    start_core("POOL_TRIM=10ms", NULL);
    page->tick_period = 0; // as in a process without POOL_STATS and POOL_LIVE
    for (unsigned i = 0; i < 100000; i++)
        trim_tick(self_now());
    cr_assert_eq(page->tick_count, 0);
}

Test(trim, all_gives_back_everything)
{
    start_core("POOL_POLICY=thread:1K,array:64K,onecache", "POOL_NATIVE=mmap", "POOL_TRIM=off", NULL);
    allocate_all();
    void *kept = take(100);
    free_all();
    cr_assert_gt(pooled_now(), 0);
    size_t bytes = trim_all(self_now());
    cr_assert_gt(bytes, KiB(64));
    cr_assert_eq(pooled_now(), 0);
    cr_assert_eq(account_hidden(), 0);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        cr_assert_eq(dispatch_policies[class]->stored(class), 0);
        cr_assert_eq(heap_blocks_out(class), class == class_of(100) ? 1 : 0);
    }
    cr_assert_eq(unit_class(blocks[0]), blocks[0] == kept ? class_of(100) : CLASS_NONE);
    cr_assert_eq(trim_all(self_now()), 0, "nothing is left to give");
    give(kept);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

static bool nothing_pooled(void)
{
    return pooled_now() == 0;
}

Test(trim, what_is_idle_goes_on_the_clock, .timeout = 120)
{
    start_core("POOL_POLICY=thread:1K,array:64K,onecache", "POOL_NATIVE=mmap", "POOL_TRIM=20ms", NULL);
    allocate_all();
    free_all();
    cr_assert_gt(pooled_now(), 0);
    cr_assert(until(nothing_pooled), "%lu bytes are still pooled", pooled_now());
    cr_assert_eq(page->total.held.now, 0, "runs too");
    cr_assert_gt(trimmed_now(), 0);
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++)
        cr_assert_eq(heap_blocks_out(class), 0);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

static bool free_pages_are_gone(void)
{
    return chunk_purge(UINT64_MAX) == 0;
}

Test(trim, pages_go_too, .timeout = 120)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_TRIM=20ms", NULL);
    unsigned char *block = take(KiB(512));
    memset(block, 1, KiB(512));
    give(block);
    cr_assert(until(nothing_pooled));
    for (unsigned i = 0; i < 100; i++) { // the clock has purged them: nothing is left for us
        usleep(10000);
        for (unsigned j = 0; j < 64; j++)
            trim_tick(self_now());
    }
    cr_assert(free_pages_are_gone());
    cr_assert(is_filled(block, 0, KiB(512)));
}

Test(trim, off_keeps_all)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_TRIM=off", NULL);
    allocate_all();
    free_all();
    uint64_t pooled = pooled_now(), trimmed = trimmed_now();
    for (unsigned i = 0; i < 20; i++) {
        for (unsigned j = 0; j < 64; j++)
            trim_tick(self_now());
        usleep(5000);
    }
    cr_assert_eq(pooled_now(), pooled);
    cr_assert_eq(trimmed_now(), trimmed);
}

Test(trim, bin_in_use_is_not_emptied, .timeout = 60)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_TRIM=20ms", NULL);
    struct thread *self = self_now();
    give(take(100));
    for (unsigned i = 0; i < 50; i++) {
        give(take(100));
        for (unsigned j = 0; j < 64; j++)
            trim_tick(self);
        cr_assert_geq(bin_count(self, class_of(100)), 1);
        usleep(5000);
    }
}

static bool timeline_was_full(void)
{
    return page->tick_period > 1;
}

Test(trim, timeline_rises_and_is_thinned_when_full, .timeout = 120)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", NULL);
    page->tick_period = 1;
    void *block = take(5000);
    cr_assert(until(timeline_was_full));
    cr_assert_eq(page->tick_period, 2);
    cr_assert_geq(page->tick_count, PAGE_TIMELINE / 2);
    cr_assert_leq(page->tick_count, PAGE_TIMELINE);
    uint64_t before = 0;
    for (unsigned i = 0; i < page->tick_count; i++) {
        cr_assert(i == 0 || page->timeline[i].at > before, "point %u", i);
        before = page->timeline[i].at;
        cr_assert_eq(page->timeline[i].allocated, (int64_t)class_size(class_of(5000)));
        cr_assert_eq(page->timeline[i].pooled, 0);
        if (__libc_single_threaded)
            cr_assert_gt(page->timeline[i].resident, (int64_t)KiB(100));
    }
    cr_assert_leq(page->updated, counters_clock());
    give(block);
    trim_forked();
    cr_assert_eq(page->tick_count, 0);
}

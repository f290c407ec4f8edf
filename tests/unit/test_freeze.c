/*
 * Freezing: a copy with the same numbers, which agree with each other where they were read while they changed, and are
 * left as they are where nothing was in flight.
 */
#include <criterion/criterion.h>

#include "interpose/freeze.h"
#include "started.h"

static void *nothing(void *unused)
{
    return unused;
}

static void start(void)
{
    in_thread(nothing, NULL); // else there is nothing to be frozen
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_TRIM=off", NULL);
    for (unsigned i = 0; i < 500; i++)
        give(take(i));
    take(100);
    process_settle();
}

TestSuite(freeze, .init = start);

Test(freeze, copy_has_the_same_numbers)
{
    page->end = END_EXIT;
    const struct page *copy = page_freeze();
    cr_assert_neq(copy, page);
    cr_assert_eq(copy->shards_used, 1);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts own, copied;
        counters_sum(page, class, &own);
        counters_sum(copy, class, &copied);
        cr_assert_eq(memcmp(&own, &copied, sizeof(own)), 0, "class %u", class);
        cr_assert_eq(memcmp(&page->classes[class], &copy->classes[class], sizeof(copy->classes[0])), 0);
    }
    cr_assert_eq(memcmp(&page->total, &copy->total, sizeof(page->total)), 0);
    cr_assert_eq(copy->unsettled, 0);
    cr_assert_eq(copy->threads_now, 1);
    char text[200];
    cr_assert_null(report_inconsistency(copy, text, sizeof(text)), "%s", text);
}

Test(freeze, copy_stays)
{
    const struct page *copy = page_freeze();
    int64_t held = page->total.held.now;
    take(KiB(20));
    cr_assert_eq(copy->total.held.now, held);
    cr_assert_gt(page->total.held.now, held);
}

/* A page whose counts of one class contradict each other. */
static struct class_counts *contradiction(enum page_end end, uint32_t threads)
{
    struct class_counts *counts = &self_now()->shard->classes[class_of(KiB(4))];
    *counts = (struct class_counts){.hits = 9, .misses = 1, .frees = 12, .dropped = 3, .trimmed = 2};
    page->end = end;
    page->threads_now = threads;
    page->classes[class_of(KiB(4))].levels.held.bound = 1;
    return counts;
}

Test(freeze, counts_in_flight_are_made_to_agree)
{
    contradiction(END_SNAPSHOT, 3);
    const struct page *copy = page_freeze();
    struct class_counts counts;
    counters_sum(copy, class_of(KiB(4)), &counts);
    cr_assert_eq(counts.hits + counts.misses, 10, "allocations are what they were");
    cr_assert_leq(counts.frees, 10);
    cr_assert_leq(counts.hits + counts.dropped + counts.trimmed, counts.frees);
    cr_assert_eq(copy->unsettled, 1);
}

Test(freeze, wrong_counts_stay_wrong_where_nothing_was_in_flight)
{
    char text[200];
    contradiction(END_EXIT, 1);
    cr_assert_not_null(report_inconsistency(page_freeze(), text, sizeof(text)));
    cr_assert_eq(strncmp(text, "frees <= allocs", 15), 0, "%s", text);
}

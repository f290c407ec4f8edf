/*
 * Units: every address leads to its span and class, runs are joined and used again, free memory goes back.
 */
#include <criterion/criterion.h>

#include "interpose/chunk.h"
#include "interpose/os.h"
#include "started.h"

enum { CHUNK = TINY ? 64 : 1024 }; // units, as in chunk.c

static const unsigned class = CLASS_FIRST + 6;

static size_t mapped_now(void)
{
    size_t peak;
    uint64_t peak_at;
    return os_mapped(&peak, &peak_at);
}

static void check_marks(const struct span *span, unsigned expected)
{
    for (size_t i = 0; i < span->units; i++)
        for (size_t offset = 0; offset < UNIT; offset += UNIT - 1) {
            const char *address = span->start + i * UNIT + offset;
            cr_assert_eq(unit_class(address), expected);
            cr_assert_eq(unit_bin(address), (size_t)expected << BIN_SHIFT);
            if (expected != CLASS_NONE)
                cr_assert_eq(unit_span(address), span);
        }
}

Test(chunk, foreign_addresses_are_nobodys)
{
    static int data;
    span_take(1, class); // so that there is a window
    const void *const foreign[] = {NULL, &data, &errno, malloc(1), (void *)1, (void *)(((uintptr_t)1 << 47) - 1)};
    for (unsigned i = 0; i < ARRAY_LENGTH(foreign); i++) {
        cr_assert_eq(unit_class(foreign[i]), CLASS_NONE);
        cr_assert_null(unit_span(foreign[i]));
        cr_assert_eq(unit_bin(foreign[i]), 0);
    }
    const void *const impossible[] = {(void *)((uintptr_t)1 << 47), (void *)UINTPTR_MAX};
    for (unsigned i = 0; i < ARRAY_LENGTH(impossible); i++) {
        cr_assert_eq(unit_class(impossible[i]), CLASS_NONE);
        cr_assert_null(unit_span(impossible[i]));
    }
}

Test(chunk, every_unit_of_a_run_is_marked)
{
    for (unsigned length = 1; length <= 40; length++) {
        struct span *span = span_take(length, class);
        cr_assert_not_null(span);
        cr_assert_eq(span->units, length);
        cr_assert_eq(span->class, class);
        cr_assert_eq((uintptr_t)span->start % UNIT, 0);
        cr_assert_not(span_lost(span));
        check_marks(span, class);
        if (span->clean)
            cr_assert(is_filled(span->start, 0, (size_t)length * UNIT));
        memset(span->start, 0xEE, (size_t)length * UNIT);
        if (length % 2) {
            char *start = span->start;
            span_give(span, 1);
            cr_assert_eq(unit_class(start), CLASS_NONE);
            cr_assert_not_null(unit_span(start), "still ours");
        }
    }
}

Test(chunk, neighbours_are_joined)
{
    enum { RUNS = 32 };
    struct span *spans[RUNS];
    for (unsigned round = 0; round < 4; round++) {
        for (unsigned i = 0; i < RUNS; i++)
            spans[i] = span_take(1, class);
        size_t mapped = mapped_now();
        for (unsigned i = 0; i < RUNS; i++) // an order in which runs are joined before, behind and on both sides
            span_give(spans[i * 13 % RUNS], 1);
        struct span *joined = span_take(RUNS, class + 1);
        cr_assert_eq(joined->units, RUNS);
        cr_assert_eq(mapped_now(), mapped, "no new memory for it");
        check_marks(joined, class + 1);
        span_give(joined, 1);
    }
}

Test(chunk, shortest_run_that_fits_is_taken)
{
    struct span *five = span_take(5, class), *wall = span_take(1, class), *three = span_take(3, class);
    struct span *last = span_take(1, class);
    char *start = three->start;
    cr_assert_eq(wall->start, five->start + 5 * UNIT, "one behind the other");
    span_give(five, 1);
    span_give(three, 1);
    cr_assert_eq(span_take(3, class)->start, start);
    cr_assert_neq(last, wall);
}

Test(chunk, what_is_idle_is_purged_and_clean)
{
    struct span *young = span_take(2, class), *wall = span_take(1, class), *old = span_take(3, class);
    struct span *end = span_take(1, class);
    char *start = old->start;
    cr_assert(wall && end);
    memset(old->start, 1, 3 * UNIT);
    memset(young->start, 1, 2 * UNIT);
    span_give(young, 2000);
    span_give(old, 1000);
    cr_assert_eq(chunk_purge(999), 0);
    cr_assert_eq(chunk_purge(1000), 3 * UNIT);
    cr_assert_eq(chunk_purge(1000), 0, "only once");
    cr_assert(is_filled(start, 0, 3 * UNIT));
    struct span *again = span_take(3, class);
    cr_assert_eq(again->start, start);
    cr_assert(again->clean);
    cr_assert_eq(chunk_purge(UINT64_MAX), 2 * UNIT);
}

Test(chunk, joined_runs_are_as_young_as_the_younger_and_as_dirty_as_the_dirtier)
{
    struct span *one = span_take(1, class), *two = span_take(1, class), *wall = span_take(1, class);
    cr_assert_eq(two->start, one->start + UNIT);
    span_give(one, 1000);
    cr_assert_eq(chunk_purge(1000), UNIT);
    memset(two->start, 1, UNIT);
    span_give(two, 3000);
    cr_assert_eq(chunk_purge(2999), 0);
    struct span *both = span_take(2, class);
    cr_assert_not(both->clean, "half of it is dirty");
    cr_assert_neq(both, wall);
}

Test(chunk, whole_free_chunks_go_back)
{
    enum { RUN = 32, RUNS = CHUNK * 3 / RUN };
    static struct span *spans[RUNS];
    for (unsigned i = 0; i < RUNS; i++)
        cr_assert_not_null(spans[i] = span_take(RUN, class));
    char *first = spans[0]->start, *last = spans[RUNS - 1]->start;
    size_t mapped = mapped_now();
    for (unsigned i = 0; i < RUNS; i++)
        span_give(spans[i], 1);
    cr_assert_eq(chunk_purge(UINT64_MAX), (size_t)RUNS * RUN * UNIT);
    cr_assert_leq(mapped_now(), mapped - (size_t)CHUNK * 2 * UNIT);
    cr_assert_null(unit_span(first), "no longer ours");
    cr_assert_not(is_readable(first));
    cr_assert_not_null(unit_span(last), "the growing chunk stays");
    for (unsigned i = 0; i < RUNS; i++) {
        cr_assert_not_null(spans[i] = span_take(RUN, class), "and all can be had again");
        memset(spans[i]->start, 1, (size_t)RUN * UNIT);
    }
}

Test(chunk, longer_than_a_chunk_and_longer_than_the_address_space)
{
    struct span *span = span_take(CHUNK * 2, class);
    cr_assert_eq(span->units, CHUNK * 2);
    check_marks(span, class);
    cr_assert_null(span_take(1u << 31, class));
    cr_assert_not_null(span_take(1, class), "a refusal harms nobody");
}

Test(chunk, meta_memory_is_zeroed_aligned_and_apart)
{
    uint64_t state = 1;
    for (unsigned i = 0; i < 3000; i++) {
        size_t bytes = draw(&state) % (i % 100 ? 700 : MiB(1)) + 1;
        char *start = meta_alloc(bytes);
        cr_assert_eq((uintptr_t)start % CACHE_LINE, 0);
        cr_assert(is_filled(start, 0, bytes), "nobody else has written to it");
        memset(start, 0xFF, bytes);
        cr_assert_null(unit_span(start), "no block of anybody's");
    }
    cr_assert_null(meta_alloc((size_t)1 << 48));
    cr_assert_not_null(meta_alloc(64));
}

static struct span *inherited;

static bool child_goes_on(void)
{
    uint32_t before = chunk_epoch();
    chunk_forked();
    bool kept = chunk_epoch() == before + 1 && !span_lost(inherited); // nobody held the lock
    struct span *own = span_take(3, class);
    span_give(inherited, 1);
    return kept && own && own->epoch == before + 1;
}

Test(chunk, a_child_keeps_what_was_sound)
{
    inherited = span_take(3, class);
    cr_assert_eq(in_child(child_goes_on), 0);
    check_marks(inherited, class);
}

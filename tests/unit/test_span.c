/*
 * The heap of a class: blocks are apart, in their class's span, come home, and broken ones are noticed.
 */
#include <criterion/criterion.h>

#include <signal.h>

#include "interpose/span.h"
#include "started.h"

static void *next_block(unsigned class, struct run *run)
{
    bool clean;
    void *block = run_next(run, class_size(class), &clean);
    if (block && clean)
        cr_assert(is_filled(block, 0, min_size(class_size(class), 4096)), "said to be clean");
    return block;
}

static void return_one(unsigned class, void *block)
{
    *(void **)block = NULL;
    cr_assert_eq(heap_return(class, &block, 1, 1), 1);
    cr_assert_null(block);
}

Test(span, every_class_gives_sound_blocks_and_takes_them_home)
{
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++) {
        struct run run = {0};
        size_t size = class_size(class);
        unsigned count = heap_fetch(class, &run);
        cr_assert_geq(count, 1);
        cr_assert_leq(count * size, run_most(size));
        cr_assert_eq(run_blocks(&run, size), count);
        cr_assert_eq(heap_blocks_out(class), count);
        char *list = NULL, *block;
        for (unsigned i = 0; i < count; i++) {
            cr_assert_not_null(block = next_block(class, &run));
            cr_assert_eq(run_blocks(&run, size), count - i - 1);
            cr_assert_eq(unit_class(block), class);
            cr_assert_eq(unit_class(block + size - 1), class);
            cr_assert(block_is_sound(block));
            cr_assert_not(block_is_sound(block + 1));
            cr_assert_not(block_is_sound(block + size - 1));
            memset(block, 0xA5, size);
            *(void **)block = list;
            list = block;
        }
        cr_assert_null(next_block(class, &run));
        block = list;
        void *chain = list;
        cr_assert_eq(heap_return(class, &chain, count, 1), count);
        cr_assert_null(chain);
        cr_assert_eq(heap_blocks_out(class), 0);
        cr_assert_eq(unit_class(block), CLASS_NONE, "the empty span has gone back");
        cr_assert(span_check(class));
    }
}

Test(span, random_fetches_and_returns_keep_the_books)
{
    enum { MOST = 512 };
    static char *blocks[MOST];
    const unsigned class = class_of(160);
    const size_t size = class_size(class);
    struct run run = {0};
    uint64_t state = 3;
    unsigned live = 0;
    for (unsigned i = 0; i < 50000; i++) {
        if (live < MOST && draw(&state) % (i / 1000 % 2 ? 3 : 8) != 0) {
            char *block = next_block(class, &run);
            if (!block && heap_fetch(class, &run))
                block = next_block(class, &run);
            memset(block, (int)(live & 0xFF), size);
            blocks[live++] = block;
        } else if (live) {
            unsigned victim = (unsigned)(draw(&state) % live--);
            cr_assert(is_filled(blocks[live], (unsigned char)live, size));
            cr_assert(is_filled(blocks[victim], (unsigned char)victim, size));
            return_one(class, blocks[victim]);
            if (victim != live)
                memset(blocks[victim] = blocks[live], (int)(victim & 0xFF), size);
        }
        cr_assert_eq(heap_blocks_out(class), live + run_blocks(&run, size));
        if (i % 100 == 0)
            cr_assert(span_check(class));
    }
    while (live)
        return_one(class, blocks[--live]);
    heap_unfetch(class, &run, 1);
    cr_assert_eq(heap_blocks_out(class), 0);
}

/* One block of its own span. */
static char *alone(size_t size)
{
    struct run run = {0};
    cr_assert_eq(heap_fetch(class_of(size), &run), 1);
    return next_block(class_of(size), &run);
}

Test(span, a_block_alone_grows_and_shrinks_where_it_lies)
{
    const unsigned small = class_of(KiB(256)), large = class_of(KiB(448));
    char *block = alone(KiB(256)), *behind = alone(KiB(256));
    memset(block, 1, KiB(256));
    cr_assert_not(heap_resize(block, large, 1), "there is a block behind it");
    cr_assert_eq(unit_class(block), small);
    return_one(small, behind);
    cr_assert(heap_resize(block, large, 1));
    cr_assert(is_filled(block, 1, KiB(256)));
    for (size_t at = 0; at < KiB(448); at += UNIT)
        cr_assert_eq(unit_class(block + at), large);
    cr_assert_eq(unit_class(block + KiB(448)), CLASS_NONE);
    cr_assert(block_is_sound(block));
    cr_assert_not(block_is_sound(block + KiB(256)));
    cr_assert_eq(heap_blocks_out(small), 0);
    cr_assert_eq(heap_blocks_out(large), 1);
    memset(block, 2, KiB(448));
    cr_assert(heap_resize(block, small, 1));
    cr_assert(is_filled(block, 2, KiB(256)));
    cr_assert_eq(unit_class(block + KiB(256)), CLASS_NONE, "the rest is free");
    cr_assert_eq(alone(KiB(192)), block + KiB(256), "and is used again");
    return_one(small, block);
    cr_assert_eq(heap_blocks_out(small), 0);
}

Test(span, a_block_among_others_does_not_grow)
{
    struct run run = {0};
    const unsigned class = class_of(KiB(1));
    heap_fetch(class, &run);
    char *block = next_block(class, &run);
    cr_assert_not(heap_resize(block, class_of(KiB(256)), 1));
    char *large = alone(KiB(256));
    cr_assert_not(heap_resize(large, class, 1), "it would have others beside it");
    cr_assert_not(heap_resize(large, class_of(MiB(2)), 1), "no heap block is so large");
    cr_assert_eq(unit_class(large), class_of(KiB(256)));
}

Test(span, a_block_at_the_end_of_the_chunk_grows_with_it)
{
    char *block = alone(KiB(128));
    for (size_t size = KiB(160); size <= MiB(1); size = class_size(class_of(size + 1)))
        if (class_size(class_of(size)) % UNIT == 0)
            cr_assert(heap_resize(block, class_of(size), 1), "%zu", size);
    memset(block, 1, MiB(1));
    return_one(CLASS_OF_1M, block);
}

Test(span, a_bundle_that_was_written_to_is_noticed, .signal = SIGABRT)
{
    const unsigned class = class_of(64);
    struct run run = {0};
    unsigned count = heap_fetch(class, &run);
    char *block = next_block(class, &run);
    next_block(class, &run); // keeps the span
    return_one(class, block);
    memset(block, 0x41, 64); // after free
    for (unsigned i = 0; i <= count; i++)
        heap_fetch(class, &(struct run){0});
}

Test(span, little_of_a_span_is_left_over)
{
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++) {
        struct run run = {0};
        heap_fetch(class, &run);
        const struct span *span = unit_span(run.next);
        size_t bytes = (size_t)span->units * UNIT, used = span->capacity * class_size(class);
        cr_assert_leq(used, bytes);
        if (!TINY && class_size(class) <= MiB(1) / 2)
            cr_assert_leq(bytes - used, bytes / 8, "class %u", class);
    }
}

Test(span, what_is_left_of_a_run_is_fresh_again)
{
    const unsigned class = CLASS_FIRST;
    const size_t size = class_size(class);
    struct run run = {0};
    unsigned count = heap_fetch(class, &run);
    char *first = next_block(class, &run), *second = run.next;
    cr_assert_eq(heap_unfetch(class, &run, 1), count - 1);
    cr_assert_eq(run_blocks(&run, size), 0);
    cr_assert_eq(heap_blocks_out(class), 1);
    cr_assert(span_check(class));
    heap_fetch(class, &run);
    cr_assert_eq(run.next, second, "the same range");
    cr_assert(run.clean, "still untouched");
    return_one(class, first);
    heap_unfetch(class, &run, 1);
    cr_assert_eq(heap_blocks_out(class), 0);
    cr_assert_eq(unit_class(first), CLASS_NONE);
    cr_assert_eq(heap_unfetch(class, &run, 1), 0, "of nothing: nothing");
}

Test(span, a_range_that_is_no_longer_the_last_comes_home_block_by_block)
{
    const unsigned class = class_of(48);
    struct run one = {0}, two = {0};
    unsigned count = heap_fetch(class, &one), more = heap_fetch(class, &two);
    cr_assert_eq(heap_unfetch(class, &one, 1), count);
    cr_assert_eq(heap_blocks_out(class), more);
    cr_assert(span_check(class));
    cr_assert_eq(heap_fetch(class, &one), count, "those are taken before fresh ones");
    cr_assert_eq(one.listed, count);
    cr_assert_eq(heap_unfetch(class, &one, 1) + heap_unfetch(class, &two, 1), count + more);
    cr_assert_eq(heap_blocks_out(class), 0);
}

Test(span, returning_stops_at_what_is_not_the_heaps)
{
    const unsigned class = class_of(64);
    struct run run = {0};
    void *foreign[8] = {NULL};
    heap_fetch(class, &run);
    void **one = next_block(class, &run), **two = next_block(class, &run);
    *one = two;
    *two = foreign;
    void *list = one;
    cr_assert_eq(heap_return(class, &list, 3, 1), 2);
    cr_assert_eq(list, (void *)foreign);
    cr_assert_eq(heap_return(class, &list, 1, 1), 0);
}

/* ---- broken heaps ---- */

static void *two_out(unsigned class)
{
    struct run run = {0};
    message_start();
    heap_fetch(class, &run);
    next_block(class, &run);
    return next_block(class, &run);
}

Test(span, pointer_into_a_block_is_noticed, .signal = SIGABRT)
{
    return_one(class_of(64), (char *)two_out(class_of(64)) + 16);
}

Test(span, block_of_another_class_is_noticed, .signal = SIGABRT)
{
    return_one(class_of(128), two_out(class_of(64)));
}

Test(span, block_of_a_span_that_has_gone_is_noticed, .signal = SIGABRT)
{
    const unsigned class = class_of(MiB(1));
    struct run run = {0};
    message_start();
    heap_fetch(class, &run);
    void *block = next_block(class, &run);
    while (next_block(class, &run))
        cr_assert_fail("spans of this class hold one block");
    return_one(class, block);
    return_one(class, block);
}

Test(span, check_finds_a_broken_list)
{
    const unsigned class = class_of(64);
    struct run run = {0};
    heap_fetch(class, &run);
    void **one = next_block(class, &run), **two = next_block(class, &run);
    return_one(class, one);
    cr_assert(span_check(class));
    void *right = *one;
    void *const wrong[] = {(char *)two + 16, one, &run};
    for (unsigned i = 0; i < ARRAY_LENGTH(wrong); i++) {
        *one = wrong[i];
        cr_assert_not(span_check(class), "link %u", i);
    }
    *one = right;
    cr_assert(span_check(class));
}

static void **inherited;

static bool child_goes_on(void)
{
    const unsigned class = class_of(64);
    struct run run = {0};
    heap_forked();
    return_one(class, inherited);
    return heap_fetch(class, &run) > 0 && span_check(class);
}

Test(span, a_child_goes_on)
{
    inherited = two_out(class_of(64));
    cr_assert_eq(in_child(child_goes_on), 0);
    heap_set_blocks_out(class_of(64), 77);
    cr_assert_eq(heap_blocks_out(class_of(64)), 77);
    cr_assert_eq(heap_blocks_out(CLASS_COUNT), 0);
}

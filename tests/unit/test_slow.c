/*
 * The slow halves of malloc and friends keep libc's contracts, on each route's kind of block and in each state.
 */
#include <criterion/criterion.h>

#include <signal.h>

#include "interpose/elf.h"
#include "interpose/mapping.h"
#include "interpose/trim.h"
#include "started.h"

static void start(void)
{
    start_core("POOL_POLICY=thread:32K,array:1M,native", "POOL_NATIVE=mmap", NULL);
}

TestSuite(slow, .init = start, .timeout = 60);

static const size_t sizes[] = {0,    1,     15,    16,    17,    100,     128,     129,     1000,    4095,
                               4096, 32767, 32768, 32769, 65536, 1000000, 1 << 20, 1048577, 5000000, 1 << 25};

Test(slow, blocks_are_aligned_apart_and_large_enough)
{
    unsigned char *blocks[ARRAY_LENGTH(sizes)];
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
        cr_assert_not_null(blocks[i] = slow_malloc(sizes[i]));
        cr_assert_eq((uintptr_t)blocks[i] % MALLOC_ALIGN, 0);
        cr_assert_eq(slow_usable(blocks[i]), class_size(dispatch_class(sizes[i])));
        memset(blocks[i], (int)i, slow_usable(blocks[i]));
    }
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
        cr_assert(is_filled(blocks[i], (unsigned char)i, slow_usable(blocks[i])), "%zu bytes", sizes[i]);
        slow_free(blocks[i]);
    }
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(slow, too_much_is_null_and_ENOMEM)
{
    static const size_t most[] = {PTRDIFF_MAX, (size_t)PTRDIFF_MAX + 1, SIZE_MAX, (size_t)1 << 47, (size_t)1 << 48};
    char *block = slow_malloc(100);
    memset(block, 9, 100);
    for (unsigned i = 0; i < ARRAY_LENGTH(most); i++) {
        errno = 0;
        cr_assert_null(slow_malloc(most[i]));
        cr_assert_eq(errno, ENOMEM);
        errno = 0;
        cr_assert_null(slow_calloc(most[i]));
        cr_assert_eq(errno, ENOMEM);
        errno = 0;
        cr_assert_null(slow_realloc(block, most[i]));
        cr_assert_eq(errno, ENOMEM);
        errno = 0;
        cr_assert_null(slow_aligned(64, most[i]));
        cr_assert_eq(errno, ENOMEM);
        cr_assert(is_filled(block, 9, 100), "kept");
    }
    cr_assert_not_null(slow_malloc(100));
}

Test(slow, calloc_is_zero_though_memory_was_used)
{
    for (unsigned round = 0; round < 3; round++)
        for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
            void *block = slow_calloc(sizes[i]);
            cr_assert(is_filled(block, 0, sizes[i]), "%zu bytes, round %u", sizes[i], round);
            memset(block, 0xFF, slow_usable(block));
            slow_free(block);
        }
}

Test(slow, realloc_keeps_the_content)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++)
        for (unsigned j = 1; j < ARRAY_LENGTH(sizes); j++) {
            unsigned char *block = slow_malloc(sizes[i]);
            memset(block, 0x3C, sizes[i]);
            block = slow_realloc(block, sizes[j]);
            cr_assert_not_null(block);
            cr_assert(is_filled(block, 0x3C, min_size(sizes[i], sizes[j])), "%zu to %zu", sizes[i], sizes[j]);
            cr_assert_geq(slow_usable(block), sizes[j]);
            memset(block, 0x11, slow_usable(block));
            slow_free(block);
        }
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        cr_assert_eq(live_now(class), 0, "class %u", class);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(slow, realloc_stays_in_place_where_it_fits_and_wastes_no_more_than_half)
{
    void *block = slow_malloc(1000);
    cr_assert_eq(slow_realloc(block, 1024), block);
    cr_assert_eq(slow_realloc(block, 600), block);
    cr_assert_neq(slow_realloc(block, 100), block);
    void *large = slow_malloc(MiB(40));
    void *moved = slow_realloc(large, MiB(30));
    cr_assert_eq(slow_usable(moved), MiB(40));
    moved = slow_realloc(moved, MiB(8));
    cr_assert_eq(slow_usable(moved), MiB(8));
}

Test(slow, aligned)
{
    for (size_t align = 32; align <= MiB(4); align *= 2)
        for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
            errno = 4242;
            void *block = slow_aligned(align, sizes[i]);
            cr_assert_not_null(block, "%zu bytes, align %zu", sizes[i], align);
            cr_assert_eq((uintptr_t)block % align, 0, "%p, %zu bytes, align %zu", block, sizes[i], align);
            cr_assert_geq(slow_usable(block), sizes[i]);
            memset(block, 1, sizes[i]);
            slow_free(block);
            cr_assert_eq(errno, 4242);
        }
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(slow, aligned_of_what_a_pool_has_kept)
{
    // native blocks of a small class, aligned to a page, come into its pool; a larger alignment must not get them
    void *blocks[8];
    for (unsigned i = 0; i < ARRAY_LENGTH(blocks); i++)
        blocks[i] = slow_aligned(KiB(128), 200);
    for (unsigned i = 0; i < ARRAY_LENGTH(blocks); i++)
        slow_free(blocks[i]);
    for (size_t align = 32; align <= MiB(1); align *= 2)
        for (unsigned i = 0; i < ARRAY_LENGTH(blocks); i++)
            cr_assert_eq((uintptr_t)slow_aligned(align, 200) % align, 0);
}

Test(slow, free_keeps_errno_and_takes_NULL)
{
    errno = 4242;
    slow_free(NULL);
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++)
        slow_free(slow_malloc(sizes[i]));
    cr_assert_eq(errno, 4242);
}

Test(slow, foreign_blocks_go_to_libc)
{
    void *symbol = elf_symbol("libc.so.", "malloc");
    void *(*libc_malloc)(size_t);
    memcpy(&libc_malloc, &symbol, sizeof(symbol));
    unsigned char *block = libc_malloc(100);
    memset(block, 5, 100);
    cr_assert_geq(slow_usable(block), 100);
    block = slow_realloc(block, 5000);
    cr_assert(is_filled(block, 5, 100));
    cr_assert_null(unit_span(block), "still libc's");
    hot_free(block);
    cr_assert_eq(counts_now(class_of(5000)).frees, 0);
}

Test(slow, no_class_of_the_fast_path_for_large_ones)
{
    for (unsigned i = 0; i < 5; i++) {
        void *block = hot_malloc(KiB(33));
        cr_assert_eq(unit_class(block), class_of(KiB(33)));
        hot_free(block);
    }
    cr_assert_eq(counts_now(class_of(KiB(33))).hits, 4, "pools have it all the same");
}

Test(slow, requests_are_sampled_where_they_leave_the_fast_path)
{
    slow_malloc(70);
    struct class_counts counts = counts_now(class_of(70));
    cr_assert_eq(counts.samples, 1);
    cr_assert_eq(counts.requested, 70);
    slow_malloc(MiB(3));
    slow_malloc(MiB(3) - 1000);
    counts = counts_now(class_of(MiB(3)));
    cr_assert_eq(counts.samples, 2, "of large ones all are");
    cr_assert_eq(counts.requested, MiB(6) - 1000);
}

/* ---- in every state ---- */

Test(slow_early, before_the_start)
{
    void *small = take(100), *large = take(MiB(3)), *aligned = slow_aligned(4096, 100);
    unsigned char *zero = slow_calloc(5000);
    cr_assert(small && large && aligned && is_filled(zero, 0, 5000));
    small = slow_realloc(small, 10000);
    cr_assert_geq(slow_usable(small), 10000);
    give(large);
    start();
    give(small);
    give(aligned);
    give(zero);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        cr_assert_eq(live_now(class), 0);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(slow, in_a_handler_that_interrupts_a_slow_path)
{
    void *before = take(100);
    struct thread *self = thread_enter();
    void *block = slow_malloc(100), *zero = slow_calloc(100), *large = slow_malloc(MiB(3));
    cr_assert_eq(unit_class(block), class_of(100));
    cr_assert(is_filled(zero, 0, 100));
    slow_free(zero);
    slow_free(before);
    slow_free(large);
    block = slow_realloc(block, 9000);
    thread_leave(self);
    cr_assert_eq(live_now(class_of(100)), 0);
    cr_assert_eq(live_now(class_of(9000)), 1);
    slow_free(block);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

static const size_t emergency_sizes[] = {0, 10, 16, 100, 5000, MiB(3) + 5};
static unsigned char *emergency_blocks[ARRAY_LENGTH(emergency_sizes)];

/* Blocks for a handler that interrupts even the guest's slow path. */
static void make_emergency_blocks(void)
{
    struct thread *self = thread_enter(), *guest = thread_enter();
    cr_assert(thread_is_guest(guest));
    cr_assert(is_filled(slow_calloc(5000), 0, 5000));
    cr_assert_eq((uintptr_t)slow_aligned(MiB(1), 10) % MiB(1), 0);
    for (unsigned i = 0; i < ARRAY_LENGTH(emergency_sizes); i++) {
        emergency_blocks[i] = slow_malloc(emergency_sizes[i]);
        cr_assert_not_null(emergency_blocks[i]);
        memset(emergency_blocks[i], (int)i, emergency_sizes[i]);
    }
    slow_free(slow_malloc(100));
    thread_leave(guest);
    thread_leave(self);
}

Test(slow, blocks_of_an_emergency_are_as_large_as_asked)
{
    make_emergency_blocks();
    for (unsigned i = 0; i < ARRAY_LENGTH(emergency_sizes); i++) {
        cr_assert_geq(slow_usable(emergency_blocks[i]), emergency_sizes[i]);
        emergency_blocks[i] = slow_realloc(emergency_blocks[i], emergency_sizes[i] * 3 + 1);
        cr_assert(is_filled(emergency_blocks[i], (unsigned char)i, emergency_sizes[i]), "%zu", emergency_sizes[i]);
    }
}

Test(slow, blocks_of_an_emergency_come_home)
{
    make_emergency_blocks();
    for (unsigned i = 0; i < ARRAY_LENGTH(emergency_sizes); i++)
        slow_free(emergency_blocks[i]);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

/* ---- a program's mistakes ---- */

Test(slow, double_free_in_a_row, .signal = SIGABRT)
{
    void *block = take(100);
    give(block);
    give(block);
}

Test(slow, pointer_into_a_large_block, .signal = SIGABRT)
{
    char *block = take(KiB(512));
    give(block + 64);
    trim_all(thread_self);
}

Test(slow, address_in_no_block, .signal = SIGABRT)
{
    char *block = take(KiB(512));
    give(block);
    trim_all(thread_self);
    give(block + 64);
}

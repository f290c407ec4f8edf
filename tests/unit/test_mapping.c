/*
 * Mappings: the table knows each block and no other address, whatever came and went; kept ones are used again.
 */
#include <criterion/criterion.h>

#include "interpose/mapping.h"
#include "interpose/os.h"
#include "started.h"

static size_t mapped_now(void)
{
    size_t peak;
    uint64_t peak_at;
    return os_mapped(&peak, &peak_at);
}

static char *map_block(size_t size)
{
    bool clean;
    char *block = mapping_alloc(size, OS_PAGE, &clean);
    cr_assert_not_null(block);
    if (clean)
        cr_assert(is_filled(block, 0, min_size(size, OS_PAGE)));
    return block;
}

Test(mapping, knows_its_blocks_and_nothing_else)
{
    static int local;
    cr_assert_eq(mapping_size(&local), 0, "before there is a table");
    char *block = map_block(5000);
    cr_assert_eq(mapping_size(block), 5000);
    cr_assert_eq(mapping_size(block + 16), 0);
    cr_assert_eq(mapping_size(block + OS_PAGE), 0);
    cr_assert_eq(mapping_size(NULL), 0);
    cr_assert_eq(mapping_size(&local), 0);
    memset(block, 1, 2 * OS_PAGE);
    mapping_free(block);
    cr_assert_eq(mapping_size(block), 0);
    cr_assert_not(is_readable(block));
}

Test(mapping, aligns)
{
    bool clean;
    for (size_t align = OS_PAGE; align <= MiB(256); align *= 4) {
        char *block = mapping_alloc(100, align, &clean);
        cr_assert_eq((uintptr_t)block % align, 0);
        cr_assert(clean);
        block[99] = 1;
        cr_assert_eq(mapping_size(block), 100);
        mapping_free(block);
    }
    errno = 4242;
    cr_assert_null(mapping_alloc((size_t)1 << 47, OS_PAGE, &clean));
    cr_assert_null(mapping_alloc(OS_PAGE, (size_t)1 << 47, &clean));
    cr_assert_eq(errno, 4242);
}

Test(mapping, random_life_of_many)
{
    enum { MOST = 700 };
    static struct {
        char *block;
        size_t size;
    } live[MOST];
    uint64_t state = 5;
    for (unsigned i = 0; i < 20000; i++) {
        unsigned at = (unsigned)(draw(&state) % (i < 10000 ? MOST : 40));
        size_t size = draw(&state) % (8 * OS_PAGE) + 1;
        if (live[at].block) {
            cr_assert_eq(mapping_size(live[at].block), live[at].size);
            cr_assert_eq(live[at].block[live[at].size - 1], (char)at);
            mapping_free(live[at].block);
            cr_assert_eq(mapping_size(live[at].block), 0);
            live[at].block = NULL;
        } else {
            live[at].block = map_block(size);
            live[at].size = size;
            live[at].block[size - 1] = (char)at;
        }
    }
    for (unsigned at = 0; at < MOST; at++)
        if (live[at].block)
            cr_assert_eq(mapping_size(live[at].block), live[at].size);
}

Test(mapping, churn_does_not_grow_the_table)
{
    for (unsigned i = 0; i < 3; i++)
        mapping_free(map_block(OS_PAGE));
    char *stays = map_block(OS_PAGE);
    size_t mapped = mapped_now();
    for (unsigned i = 0; i < 20000; i++)
        mapping_free(map_block(OS_PAGE * (i % 3 + 1)));
    // some tables may have followed each other, but none for each hundred
    cr_assert_leq(mapped_now(), mapped + 16 * OS_PAGE);
    cr_assert_eq(mapping_size(stays), OS_PAGE);
}

Test(mapping, resize_moves_the_content_and_the_entry)
{
    char *block = map_block(3 * OS_PAGE), *wall = map_block(OS_PAGE);
    memset(block, 7, 3 * OS_PAGE);
    for (unsigned i = 1; i < 12; i++) {
        size_t size = (size_t)OS_PAGE << i;
        char *moved = mapping_resize(block, size - 5);
        cr_assert_not_null(moved);
        cr_assert_eq(mapping_size(moved), size - 5);
        if (moved != block)
            cr_assert_eq(mapping_size(block), 0);
        cr_assert(is_filled(moved, 7, min_size(3 * OS_PAGE, 2 * OS_PAGE)));
        block = moved;
    }
    cr_assert_null(mapping_resize(block, (size_t)1 << 48));
    cr_assert_eq(mapping_size(block), ((size_t)OS_PAGE << 11) - 5, "unchanged");
    cr_assert_null(mapping_resize(block + OS_PAGE, OS_PAGE), "no block");
    block = mapping_resize(block, 10);
    cr_assert_eq(mapping_size(block), 10);
    cr_assert(is_filled(block, 7, OS_PAGE));
    cr_assert_eq(mapping_size(wall), OS_PAGE);
    mapping_free(block);
}

/* ---- kept mappings ---- */

Test(mapping, kept_block_is_used_again)
{
    bool clean;
    mapping_keep();
    char *block = map_block(MiB(1));
    memset(block, 3, MiB(1));
    mapping_free(block);
    cr_assert_eq(mapping_size(block), 0, "no longer a block");
    cr_assert(is_readable(block));
    size_t mapped = mapped_now();
    char *again = mapping_alloc(MiB(1), OS_PAGE, &clean);
    cr_assert_eq(again, block);
    cr_assert_not(clean);
    cr_assert_eq(mapped_now(), mapped);
    mapping_free(again);
    char *larger = mapping_alloc(MiB(2), OS_PAGE, &clean);
    cr_assert_not(clean, "within a factor of two");
    memset(larger, 4, MiB(2));
    cr_assert_eq(mapping_size(larger), MiB(2));
    mapping_free(larger);
    cr_assert_not_null(mapping_alloc(MiB(5), OS_PAGE, &clean));
    cr_assert(clean, "more than a factor of two: a new one");
    cr_assert_not_null(mapping_alloc(KiB(900), OS_PAGE, &clean));
    cr_assert(clean, "less than half");
}

Test(mapping, nearest_in_size_is_taken)
{
    mapping_keep();
    char *small = map_block(MiB(2)), *middle = map_block(MiB(3)), *large = map_block(MiB(4));
    mapping_free(small);
    mapping_free(large);
    cr_assert_eq(map_block(MiB(4) - OS_PAGE), large);
    mapping_free(middle);
    if (!TINY)
        cr_assert_eq(map_block(MiB(2)), small);
}

Test(mapping, purge_gives_back_what_has_been_idle)
{
    mapping_keep();
    char *block = map_block(MiB(1));
    uint64_t before = os_clock_coarse();
    mapping_free(block);
    cr_assert_eq(mapping_purge(before - 1), 0);
    cr_assert(is_readable(block));
    cr_assert_eq(mapping_purge(os_clock_coarse()), MiB(1));
    cr_assert_not(is_readable(block));
    cr_assert_eq(mapping_purge(UINT64_MAX), 0);
}

Test(mapping, what_is_kept_is_bounded)
{
    enum { BLOCKS = 40 };
    char *blocks[BLOCKS];
    mapping_keep();
    mapping_free(map_block(MiB(33)));
    cr_assert_eq(mapping_purge(UINT64_MAX), 0, "more than may be kept when little is live");
    for (unsigned i = 0; i < BLOCKS; i++)
        blocks[i] = map_block(MiB(1));
    for (unsigned i = 0; i < BLOCKS; i++)
        mapping_free(blocks[i]);
    size_t kept = mapping_purge(UINT64_MAX);
    cr_assert_eq(kept, TINY ? MiB(2) : MiB(16), "the last ones");
    for (unsigned i = 0; i < BLOCKS; i++)
        cr_assert_not(is_readable(blocks[i]));
}

Test(mapping, aligned_blocks_are_not_taken_from_the_kept)
{
    bool clean;
    mapping_keep();
    mapping_free(map_block(MiB(1)));
    char *block = mapping_alloc(MiB(1), MiB(1), &clean);
    cr_assert(clean);
    cr_assert_eq((uintptr_t)block % MiB(1), 0);
    mapping_free(block);
    cr_assert_eq(mapping_purge(UINT64_MAX), MiB(2));
}

static char *inherited;

static bool child_goes_on(void)
{
    mapping_forked();
    bool known = mapping_size(inherited) == 5000;
    mapping_free(inherited);
    return known && mapping_size(inherited) == 0 && mapping_size(map_block(77)) == 77;
}

Test(mapping, a_child_knows_its_parents_blocks)
{
    inherited = map_block(5000);
    cr_assert_eq(in_child(child_goes_on), 0);
    cr_assert_eq(mapping_size(inherited), 5000);
}

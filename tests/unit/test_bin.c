/*
 * Bins on slow paths: chains go in and out whole, and the books tell what the fast path did.
 */
#include <criterion/criterion.h>

#include "interpose/span.h"
#include "started.h"

static struct thread *self;
static unsigned class;
static size_t size;

static void start(void)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", NULL);
    self = self_now();
    class = class_of(64);
    size = class_size(class);
}

TestSuite(bin, .init = start);

/* Fresh blocks into the bin, which is adapted to hold them; returns how many. */
static unsigned fill_bin(unsigned most)
{
    unsigned count = 0;
    bin_adapt(self, class);
    while (count < most && bin_push(self, class, heap_alloc(self, class)))
        count++;
    return count;
}

Test(bin, without_capacity_holds_nothing)
{
    void *block = heap_alloc(self, class);
    cr_assert_not(bin_push(self, class, block));
    cr_assert_null(bin_pop(self, class));
    cr_assert_eq(bin_count(self, class), 0);
    cr_assert_eq(bin_count_most(self, class), 0);
}

Test(bin, last_in_is_first_out)
{
    bin_adapt(self, class);
    unsigned most = bin_count_most(self, class);
    cr_assert_geq(most, 2);
    void *blocks[256];
    for (unsigned i = 0; i < most; i++) {
        blocks[i] = heap_alloc(self, class);
        cr_assert(bin_push(self, class, blocks[i]));
        cr_assert_eq(bin_count(self, class), i + 1);
    }
    cr_assert(bin_check(self, class));
    cr_assert_not(bin_push(self, class, heap_alloc(self, class)), "full");
    for (unsigned i = most; i-- > 0;)
        cr_assert_eq(bin_pop(self, class), blocks[i]);
    cr_assert_null(bin_pop(self, class));
    cr_assert_eq(bin_count(self, class), 0);
}

Test(bin, books_follow_the_fast_path)
{
    unsigned level = fill_bin(2);
    struct class_counts *counts = &self->shard->classes[class];
    counts->frees += level; // they came by hand
    void *one = hot_take(64), *two = hot_take(64);
    cr_assert(one && two && !hot_take(64));
    hot_free(one);
    cr_assert_eq(counts->hits, 0, "not seen yet");
    cr_assert_eq(counts_now(class).hits, 2, "but counted in a dump");
    bin_sync(self, class);
    cr_assert_eq(counts->hits, 2);
    cr_assert_eq(counts->frees, level + 1);
    bin_sync(self, class);
    cr_assert_eq(counts->hits, 2, "once");
    cr_assert_eq(hot_take(64), one);
    hot_free(one);
    hot_free(two);
    bin_sync(self, class);
    cr_assert_eq(counts->hits, 3);
    cr_assert_eq(counts->frees, level + 3);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(bin, grows_by_doubling_up_to_its_policys_bound)
{
    unsigned before = 0, steps = 0;
    for (;; steps++) {
        bin_adapt(self, class);
        unsigned now = bin_count_most(self, class);
        if (now == before)
            break;
        cr_assert(!before || now == before * 2);
        cr_assert_eq((size_t)self->bins[class].room, now);
        cr_assert_eq(self->bin_bytes, now * BIN_CHAINS * size);
        cr_assert_eq(account_hidden(), (int64_t)(now * BIN_CHAINS * size));
        before = now;
    }
    cr_assert_geq(before, 2);
    cr_assert_leq(before * size, KiB(64));
    cr_assert_geq(steps, TINY ? 1 : 3);
}

Test(bin, spare_is_exchanged_whole_and_counts_as_part_of_the_bin)
{
    unsigned level = fill_bin(2);
    void *head = self->bins[class].head;
    int64_t held = page->total.held.now;
    uint64_t in_bins = bins_level_bytes(self);
    bin_swap_spare(self, class);
    cr_assert_eq(bin_count(self, class), 0);
    cr_assert_eq(bin_spare_count(self, class), level);
    cr_assert_eq(bins_level_bytes(self), in_bins);
    cr_assert_eq(page->total.stored.now, 0);
    cr_assert_eq(page->total.held.now, held);
    cr_assert(bin_check(self, class));
    bin_swap_spare(self, class);
    cr_assert_eq(self->bins[class].head, head);
    cr_assert_eq(bin_count(self, class), level);
    cr_assert_eq(page->total.stored.now, 0);
    bin_swap_spare(self, class);
    struct chain chain = bin_take_spare(self, class);
    cr_assert_eq(chain.head, head);
    cr_assert_eq(chain.count, level);
    cr_assert_eq(page->total.stored.now, 0, "in the caller's hand");
    cr_assert_eq(page->total.held.now, held);
    cr_assert_eq(bin_take_spare(self, class).count, 0);
}

Test(bin, spare_as_a_slot)
{
    const unsigned large = class_of(KiB(256));
    void *one = heap_alloc(self, large), *two = heap_alloc(self, large);
    cr_assert(spare_push(self, large, one, 1));
    cr_assert_not(spare_push(self, large, two, 1));
    cr_assert(spare_push(self, large, two, 2));
    cr_assert_eq(page->total.stored.now, 2 * (int64_t)KiB(256));
    cr_assert_eq(self->top_class, large, "found when the thread ends");
    cr_assert_eq(spare_pop(self, large), two);
    cr_assert_eq(spare_pop(self, large), one);
    cr_assert_null(spare_pop(self, large));
    cr_assert_eq(page->total.stored.now, 0);
}

Test(bin, chain_goes_in_only_whole)
{
    unsigned level = fill_bin(UINT32_MAX);
    struct chain chain = bin_take(self, class);
    cr_assert_eq(chain.count, level);
    cr_assert_eq(bin_count(self, class), 0);
    void *extra = heap_alloc(self, class);
    *(void **)extra = chain.head;
    cr_assert_not(bin_put(self, class, (struct chain){extra, level + 1}), "too long");
    cr_assert(bin_put(self, class, chain));
    cr_assert_eq(bin_count(self, class), level);
    *(void **)extra = NULL;
    cr_assert_not(bin_put(self, class, (struct chain){extra, 1}), "not empty");
    cr_assert_eq(self->bins[class].head, chain.head);
    cr_assert(bin_check(self, class));
}

Test(bin, empty_leaves_nothing)
{
    void *block = take(64);
    give(block);
    void *other = take(1000);
    cr_assert_gt(account_hidden(), 0);
    for (unsigned i = CLASS_FIRST; i <= self->top_class; i++)
        bin_empty(self, i);
    cr_assert_eq(account_hidden(), 0);
    cr_assert_eq(self->bin_bytes, 0);
    cr_assert_eq(self->hidden, 0);
    cr_assert_eq(bins_hidden_now(self), 0);
    cr_assert_eq(self->bins[class].capacity, 0);
    cr_assert_eq(self->bins[class].room, 0);
    cr_assert_eq(page->total.held.now, (int64_t)class_size(class_of(1000)), "what the program holds");
    cr_assert_not_null(other);
}

Test(bin, check_finds_what_is_wrong)
{
    unsigned level = fill_bin(2);
    void **head = self->bins[class].head, *next = *head;
    void *other = heap_alloc(self, class_of(1000));
    cr_assert_eq(level, 2);
    cr_assert(bin_check(self, class));
    void *const wrong[] = {NULL, (char *)next + 16, (char *)next + 1, other, head};
    for (unsigned i = 0; i < ARRAY_LENGTH(wrong); i++) {
        *head = wrong[i];
        cr_assert_not(bin_check(self, class), "link %u", i);
    }
    *head = next;
    self->bins[class].room++;
    cr_assert_not(bin_check(self, class), "shorter than its count");
    self->bins[class].room--;
    cr_assert(bin_check(self, class));
}

/* ---- whose blocks ---- */

enum { BLOCKS = 500 };
static void *blocks[BLOCKS];

static void *allocate_all(void *unused)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        blocks[i] = take(64);
    return unused;
}

static void *free_all(void *unused)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        give(blocks[i]);
    bin_sync(thread_self, class);
    return unused;
}

Test(bin, frees_of_others_blocks_are_counted)
{
    allocate_all(NULL);
    free_all(NULL);
    cr_assert_eq(counts_now(class).cross_thread_frees, 0, "one's own");
    in_thread(allocate_all, NULL);
    free_all(NULL);
    cr_assert_eq(counts_now(class).cross_thread_frees, BLOCKS);
    allocate_all(NULL);
    in_thread(free_all, NULL);
    cr_assert_eq(counts_now(class).cross_thread_frees, 2 * BLOCKS, "though the thread has its predecessor's shard");
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

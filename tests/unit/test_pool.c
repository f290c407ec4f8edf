/*
 * What policies call: fresh blocks are misses, each free block goes back to its origin, budgets and knobs are settings.
 */
#include <criterion/criterion.h>

#include <signal.h>

#include "interpose/mapping.h"
#include "interpose/span.h"
#include "started.h"

static struct thread *self;
static const unsigned small = CLASS_FIRST + 3, large = CLASS_OF_1M + 9;

static void start(void)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_POOL_BYTES=1M", "POOL_THREAD_BYTES=64K",
               "POOL_ARRAY_DEPTH=77", NULL);
    self = self_now();
}

TestSuite(pool, .init = start);

Test(pool, heap_gives_up_to_1_MiB_and_native_the_rest)
{
    for (unsigned class = CLASS_FIRST; class <= large; class ++) {
        void *block = heap_alloc(self, class);
        cr_assert_not_null(block);
        cr_assert_eq(unit_class(block), class < HEAP_CLASSES ? class : CLASS_NONE);
        cr_assert_eq(mapping_size(block), class < HEAP_CLASSES ? 0 : class_size(class));
        cr_assert_eq(self->shard->classes[class].misses, 1);
        cr_assert_eq(page->classes[class].native_blocks, class < HEAP_CLASSES ? 0 : 1);
        block_drop(self, class, block);
        cr_assert_eq(self->shard->classes[class].dropped, 1);
        cr_assert_eq(page->classes[class].native_blocks, 0);
        cr_assert_eq(heap_blocks_out(class), run_blocks(&self->books[class].run, class_size(class)));
    }
}

Test(pool, native_serves_any_class)
{
    void *block = native_alloc(self, small);
    cr_assert_null(unit_span(block));
    cr_assert_eq(native_usable(block), class_size(small));
    cr_assert_eq(page->classes[small].native_blocks, 1);
    block_drop(self, small, block);
    cr_assert_eq(mapping_size(block), 0);
    errno = 0;
    cr_assert_null(native_alloc(self, CLASS_COUNT - 1), "refused");
    cr_assert_eq(self->shard->classes[CLASS_COUNT - 1].misses, 0);
    cr_assert_eq(page->classes[CLASS_COUNT - 1].native_blocks, 0);
}

Test(pool, native_heeds_alignment_and_zeros)
{
    self->want_align = MiB(1);
    self->want_zero = true;
    char *block = native_alloc(self, small);
    cr_assert_eq((uintptr_t)block % MiB(1), 0);
    cr_assert(self->is_clean && is_filled(block, 0, class_size(small)));
}

/* A chain of alternately heap's and native's blocks. */
static struct chain mixed_chain(unsigned count)
{
    struct chain chain = {NULL, count};
    for (unsigned i = 0; i < count; i++) {
        void *block = i % 3 ? heap_alloc(self, small) : native_alloc(self, small);
        *(void **)block = chain.head;
        chain.head = block;
    }
    self->shard->classes[small].frees += count;
    return chain;
}

static unsigned in_run(void)
{
    return run_blocks(&self->books[small].run, class_size(small));
}

Test(pool, each_block_of_a_chain_goes_to_its_origin)
{
    chain_drop(self, small, mixed_chain(20));
    cr_assert_eq(self->shard->classes[small].dropped, 20);
    cr_assert_eq(page->classes[small].native_blocks, 0);
    cr_assert_eq(heap_blocks_out(small), in_run());
    chain_trim(self, small, mixed_chain(1));
    chain_trim(self, small, mixed_chain(30));
    cr_assert_eq(self->shard->classes[small].trimmed, 31);
    cr_assert_eq(page->classes[small].native_blocks, 0);
    cr_assert_eq(heap_blocks_out(small), in_run());
    cr_assert_eq(page->total.held.now, (int64_t)(in_run() * class_size(small)));
    chain_drop(self, small, (struct chain){0});
    chain_trim(self, small, (struct chain){0});
    cr_assert(span_check(small));
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(pool, overwritten_link_is_noticed, .signal = SIGABRT)
{
    static char nobodys[64];
    struct chain chain = mixed_chain(5);
    *(void **)chain.head = nobodys;
    chain_drop(self, small, chain);
}

Test(pool, hit_is_counted_and_never_clean)
{
    void *block = heap_alloc(self, small);
    self->is_clean = true;
    cr_assert_eq(count_hit(self, small, block), block);
    cr_assert_eq(self->shard->classes[small].hits, 1);
    cr_assert_not(self->is_clean);
}

Test(pool, stored_blocks_are_not_held)
{
    int64_t bytes = 3 * (int64_t)class_size(small);
    for (unsigned i = 0; i < 5; i++)
        heap_alloc(self, small);
    int64_t held = page->total.held.now;
    count_stored(self, small, 3);
    cr_assert_eq(page->total.stored.now, bytes);
    cr_assert_eq(page->total.held.now, held - bytes);
    cr_assert_geq(page->total.stored.peak, bytes);
    count_stored(self, small, -3);
    cr_assert_eq(page->total.stored.now, 0);
    cr_assert_eq(page->total.held.now, held);
    cr_assert_geq(page->total.stored.bound, bytes);
}

Test(pool, budgets)
{
    size_t size = class_size(small);
    cr_assert(pools_have_room(small, MiB(1) / size));
    cr_assert_not(pools_have_room(small, MiB(1) / size + 1));
    page->total.stored.now = MiB(1) - (int64_t)size;
    cr_assert(pools_have_room(small, 1));
    cr_assert_not(pools_have_room(small, 2));
    cr_assert(bins_have_room(self, small, KiB(64) / BIN_CHAINS / size), "and as much in the spare");
    cr_assert_not(bins_have_room(self, small, KiB(64) / BIN_CHAINS / size + 1));
    self->bin_bytes = KiB(64);
    cr_assert_not(bins_have_room(self, small, 1));
    self->bin_bytes = 0;
}

Test(pool, automatic_budget_is_a_sixteenth_of_the_peak_and_at_least_4_MiB)
{
    option_values[OPTION_POOL_POOL_BYTES].number = 0;
    page->total.held.bound = 0;
    cr_assert(pools_have_room(CLASS_OF_1M, 4));
    cr_assert_not(pools_have_room(CLASS_OF_1M, 5));
    page->total.held.bound = (int64_t)MiB(160);
    cr_assert(pools_have_room(CLASS_OF_1M, 10));
    cr_assert_not(pools_have_room(CLASS_OF_1M, 11));
}

Test(pool, knobs_are_settings)
{
    cr_assert_eq(knob("POOL_ARRAY_DEPTH"), 77);
    cr_assert_eq(knob("POOL_THREAD_BYTES"), KiB(64));
    cr_assert_eq(knob("POOL_NO_SUCH"), 0);
}

Test(pool, named_defaults)
{
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        size_t size = class_size(class);
        cr_assert_eq(policy_class_size(size), size);
        cr_assert_eq(policy_class_size(size - 1), size);
        cr_assert_eq(native_block_size(size), class_size(native_class(class)));
        cr_assert_eq(policy_no_bin(self, class), 0);
        cr_assert_eq(policy_nothing_to_trim(self, class, 0, PRESSURE_FULL), 0);
        cr_assert_eq(policy_nothing_stored(class), 0);
    }
}

static struct lock lock;

static void *wait_for_it(void *unused)
{
    struct thread *own = self_now();
    pool_lock(own, small, &lock);
    lock_release(&lock, RANK_POOL);
    return unused;
}

Test(pool, sleeping_for_a_lock_is_counted, .timeout = 60)
{
    pthread_t thread;
    uint64_t *waits = &page->policies[page->class_policy[small]].lock_waits;
    pool_lock(self, small, &lock);
    cr_assert_eq(*waits, 0, "nobody slept");
    uint32_t alone = atomic_load(&lock.word);
    pthread_create(&thread, NULL, wait_for_it, NULL);
    while (atomic_load(&lock.word) == alone)
        usleep(100);
    lock_release(&lock, RANK_POOL);
    pthread_join(thread, NULL);
    cr_assert_eq(*waits, 1);
}

/*
 * What policies call: fresh blocks, and the way back to a block's origin.
 *
 * The origin is told by the address alone (units are the heap's, all else is native's), so a pool may hold blocks of
 * both kinds, and a route can change at any time.
 */
#include "bin.h"
#include "chunk.h"
#include "dispatch.h"
#include "message.h"
#include "native.h"
#include "options.h"

enum { BUDGET_SHIFT = 4, BUDGET_LEAST = 4 << 20 };

void native_count(unsigned class, int64_t n)
{
    if (__libc_single_threaded)
        page->classes[class].native_blocks += (uint64_t)n;
    else
        __atomic_fetch_add(&page->classes[class].native_blocks, (uint64_t)n, __ATOMIC_RELAXED);
}

/* Whether the class's blocks come from native and go there without any pool. */
static bool is_direct(const struct thread *self, unsigned class)
{
    const struct policy *policy = dispatch_policies[class];
    return policy && policy->refill == native_alloc && policy->spill == block_drop && native_is_quick(class) &&
           !self->shares_shard && !thread_is_guest(self);
}

static void credit_move(struct thread *self, unsigned class, int blocks)
{
    native_count(class, blocks);
    account_move(self, class, blocks, 0);
}

void native_comes(struct thread *self, unsigned class)
{
    struct books *books = &self->books[class];
    if (!books->credit_most && is_direct(self, class)) {
        owner_set(books->credit_most, (uint8_t)min_size(run_most(class_size(class)) / class_size(class), UINT8_MAX));
        account_run(self, class, true);
    }
    if (books->credit) {
        owner_add(books->credit, -1);
        return;
    }
    unsigned more = books->credit_most / 2;
    owner_set(books->credit, (uint8_t)more);
    credit_move(self, class, (int)more + 1);
}

void native_goes(struct thread *self, unsigned class)
{
    struct books *books = &self->books[class];
    if (books->credit < books->credit_most) {
        owner_add(books->credit, 1);
        return;
    }
    unsigned less = books->credit_most / 2;
    owner_add(books->credit, (uint8_t)-less);
    credit_move(self, class, -(int)less - 1);
}

static void *from_native(struct thread *self, unsigned class)
{
    void *block = native_take(class, self->want_align, self->want_zero, &self->is_clean, &class);
    if (!block)
        return NULL;
    count_miss(self, class);
    native_comes(self, class);
    return block;
}

static void *from_heap(struct thread *self, unsigned class)
{
    struct run *run = &self->books[class].run;
    size_t size = class_size(class);
    void *block = run_next(run, size, &self->is_clean);
    if (!block) {
        unsigned fetched = heap_fetch(class, run);
        if (!fetched)
            return NULL;
        block = run_next(run, size, &self->is_clean); // first: it is the program's, not hidden in the run
        account_run(self, class, true);
        account_move(self, class, fetched, 0);
    }
    count_miss(self, class);
    return block;
}

void *heap_alloc(struct thread *self, unsigned class)
{
    void *block = class < HEAP_CLASSES ? from_heap(self, class) : NULL;
    return block ? block : from_native(self, class);
}

void *native_alloc(struct thread *self, unsigned class)
{
    void *block = from_native(self, class);
    if (block || class >= HEAP_CLASSES || self->want_align > UNIT || class_size(class) % self->want_align)
        return block;
    // mimalloc needs 32 MiB of address space for its first block, and aligns by size only: where that will not do, ours
    return from_heap(self, class);
}

/* Each block to its origin; stretches of heap blocks go in one call. */
static void give_chain(unsigned class, struct chain chain, uint64_t idle_since)
{
    while (chain.count) {
        unsigned done = class < HEAP_CLASSES ? heap_return(class, &chain.head, chain.count, idle_since) : 0;
        chain.count -= done;
        if (!chain.count)
            break;
        void *block = chain.head;
        if (!native_usable(block))
            message_broken_heap("a link in freed memory was overwritten", block);
        chain.head = *(void **)block;
        chain.count--;
        native_count(class, -1);
        native_give(block);
    }
}

void block_drop(struct thread *self, unsigned class, void *block)
{
    count(self, class, dropped, 1);
    if (unit_span(block)) {
        account_move(self, class, -1, 0);
        *(void **)block = NULL;
        heap_return(class, &block, 1, self->now);
    } else {
        native_goes(self, class);
        native_give(block);
    }
}

void chain_drop(struct thread *self, unsigned class, struct chain chain)
{
    count(self, class, dropped, chain.count);
    account_move(self, class, -(long)chain.count, 0);
    give_chain(class, chain, self->now);
}

void chain_trim(struct thread *self, unsigned class, struct chain chain)
{
    count(self, class, trimmed, chain.count);
    account_move(self, class, -(long)chain.count, 0);
    give_chain(class, chain, 0); // idle already: its pages may go at the next chance
}

void pool_lock(struct thread *self, unsigned class, struct lock *lock)
{
    (void)self;
    if (lock_acquire(lock, RANK_POOL))
        __atomic_fetch_add(&page->policies[page->class_policy[class]].lock_waits, 1, __ATOMIC_RELAXED);
}

bool pools_have_room(unsigned class, size_t blocks)
{
    uint64_t budget = option_values[OPTION_POOL_POOL_BYTES].number;
    if (!budget)
        budget = max_size((size_t)hint_get(page->total.held.bound) >> BUDGET_SHIFT, BUDGET_LEAST);
    return (uint64_t)hint_get(page->total.stored.now) + blocks * class_size(class) <= budget;
}

bool bins_have_room(const struct thread *self, unsigned class, size_t blocks)
{
    return self->bin_bytes + blocks * BIN_CHAINS * class_size(class) <= option_values[OPTION_POOL_THREAD_BYTES].number;
}

void block_freed_twice(const void *block)
{
    message_broken_heap("a block was freed twice in a row", block);
}

uint64_t knob(const char *name)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++)
        if (strcmp(options[i].name, name) == 0)
            return option_values[i].number;
    return 0;
}

size_t native_block_size(size_t size)
{
    return class_size(native_class(class_of(size)));
}

size_t policy_class_size(size_t size)
{
    return class_size(class_of(size));
}

unsigned policy_no_bin(struct thread *self, unsigned class)
{
    (void)self, (void)class;
    return 0;
}

void policy_nothing_to_start(void)
{
}

void policy_nothing_to_leave(struct thread *self, unsigned class)
{
    (void)self, (void)class;
}

size_t policy_nothing_to_trim(struct thread *self, unsigned class, uint64_t now, enum pressure pressure)
{
    (void)self, (void)class, (void)now, (void)pressure;
    return 0;
}

size_t policy_nothing_stored(unsigned class)
{
    (void)class;
    return 0;
}

void policy_nothing_to_fork(void)
{
}

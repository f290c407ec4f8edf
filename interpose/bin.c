/*
 * Bins on slow paths: chains go in and out whole, and the books follow.
 *
 * A bin and its spare are the two magazines of Bonwick and Adams, "Magazines and Vmem" (USENIX 2001): with one chain
 * in hand and one spare, a thread that goes up and down around a boundary touches the shared store at most once per
 * chain. The chains are linked through the free blocks themselves, so an exchange is a pointer and a count.
 */
#include "bin.h"

#include "chunk.h"
#include "dispatch.h"
#include "message.h"

static unsigned level(const struct bin *bin)
{
    return (unsigned)(bin->capacity - bin->room);
}

/* The mechanism has changed the bin's content: the books start from what it is now. */
static void level_set(struct thread *self, unsigned class, unsigned blocks)
{
    struct bin *bin = &self->bins[class];
    owner_set(bin->room, (int32_t)(bin->capacity - blocks));
    owner_set(self->books[class].level, (int32_t)blocks);
}

static struct class_counts *counts(struct thread *self, unsigned class)
{
    return &self->shard->classes[class];
}

/* A thread that has freed more blocks than it took has freed others'. The maximum never falls: a proven least. */
static void look_at_net(struct thread *self, unsigned class)
{
    if (self->shares_shard)
        return; // its counts are not the thread's alone: nothing is known
    struct books *books = &self->books[class];
    const struct class_counts *now = counts(self, class);
    int64_t net = (int64_t)(now->frees - now->hits - now->misses - books->net_before);
    if (net > books->net_peak) {
        count(self, class, cross_thread_frees, (uint64_t)(net - books->net_peak));
        books->net_peak = net;
    }
}

void books_begin(struct thread *self, unsigned class)
{
    const struct class_counts *now = counts(self, class);
    self->books[class].net_before = now->frees - now->hits - now->misses;
    self->books[class].net_peak = 0;
}

void bin_sync(struct thread *self, unsigned class)
{
    const struct bin *bin = &self->bins[class];
    struct books *books = &self->books[class];
    uint64_t pops = hint_get(bin->pops) - books->pops;
    int32_t now = (int32_t)level(bin);
    int64_t pushes = now - books->level + (int64_t)pops;
    if (!pops && !pushes)
        return;
    owner_add(books->pops, pops);
    owner_set(books->level, now);
    count(self, class, hits, pops);
    count(self, class, frees, (uint64_t)pushes);
    if (pushes > (int64_t)pops)
        look_at_net(self, class);
}

void bin_adapt(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    if (class_sizes[class] > CLASS_TABLE_MAX || !dispatch_policies[class] || thread_is_guest(self))
        return; // malloc's fast path looks into no bin of such large blocks
    unsigned (*asked)(struct thread *, unsigned) = dispatch_policies[class]->bin_capacity;
    if (asked == policy_no_bin)
        return;
    unsigned capacity = asked(self, class);
    unsigned blocks = level(bin);
    if (capacity <= bin->capacity) // it shrinks only when idle, in bin_empty
        return;
    long more = (long)capacity - bin->capacity;
    owner_set(bin->capacity, (uint16_t)capacity);
    owner_set(bin->room, (int32_t)(capacity - blocks));
    account_capacity(self, class, more);
}

void count_free(struct thread *self, unsigned class)
{
    count(self, class, frees, 1);
    look_at_net(self, class);
}

void count_miss(struct thread *self, unsigned class)
{
    count(self, class, misses, 1);
}

void *count_hit(struct thread *self, unsigned class, void *block)
{
    count(self, class, hits, 1);
    self->is_clean = false;
    return block;
}

void count_odd(unsigned class)
{
    hint_set(page->classes[class].odd, 1);
}

void count_request(struct thread *self, unsigned class, size_t size)
{
    if (unlikely(size <= class_sizes[class - 1] && size))
        count_odd(class);
    count(self, class, requested, size);
    count(self, class, samples, 1);
}

void count_stored(struct thread *self, unsigned class, long blocks)
{
    account_move(self, class, -blocks, blocks);
}

void *bin_pop(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    void *block = bin->head;
    if (block) {
        owner_set(bin->head, *(void **)block);
        level_set(self, class, level(bin) - 1);
    }
    return block;
}

bool bin_push(struct thread *self, unsigned class, void *block)
{
    struct bin *bin = &self->bins[class];
    if (bin->room <= 0)
        return false;
    *(void **)block = bin->head;
    owner_set(bin->head, block);
    level_set(self, class, level(bin) + 1);
    return true;
}

unsigned bin_count(const struct thread *self, unsigned class)
{
    return level(&self->bins[class]);
}

unsigned bin_spare_count(const struct thread *self, unsigned class)
{
    return self->bins[class].spare_count;
}

void bin_swap_spare(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    void *head = bin->head;
    unsigned in_bin = level(bin);
    unsigned in_spare = bin->spare_count;
    owner_set(bin->head, bin->spare);
    level_set(self, class, in_spare);
    bin->spare = head;
    owner_set(bin->spare_count, (uint16_t)in_bin);
}

void *spare_pop(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    void *block = bin->spare;
    if (block) {
        bin->spare = *(void **)block;
        owner_add(bin->spare_count, (uint16_t)-1);
        count_stored(self, class, -1);
    }
    return block;
}

bool spare_push(struct thread *self, unsigned class, void *block, unsigned most)
{
    struct bin *bin = &self->bins[class];
    if (unlikely(bin->spare == block))
        block_freed_twice(block);
    if (bin->spare_count >= most)
        return false;
    *(void **)block = bin->spare;
    bin->spare = block;
    owner_add(bin->spare_count, 1);
    if (class > self->top_class)
        owner_set(self->top_class, (uint16_t) class);
    count_stored(self, class, 1);
    return true;
}

struct chain bin_take(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    struct chain chain = {bin->head, level(bin)};
    owner_set(bin->head, NULL);
    level_set(self, class, 0);
    return chain;
}

struct chain bin_take_spare(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    struct chain chain = {bin->spare, bin->spare_count};
    bin->spare = NULL;
    owner_set(bin->spare_count, 0);
    if (!bin_hides_spare(bin))
        count_stored(self, class, -(long)chain.count);
    return chain;
}

bool bin_put(struct thread *self, unsigned class, struct chain chain)
{
    struct bin *bin = &self->bins[class];
    if (bin->head || chain.count > bin->capacity)
        return false;
    owner_set(bin->head, chain.head);
    level_set(self, class, chain.count);
    return true;
}

unsigned bin_count_most(const struct thread *self, unsigned class)
{
    return self->bins[class].capacity;
}

void bin_empty(struct thread *self, unsigned class)
{
    struct books *books = &self->books[class];
    size_t size = class_size(class);
    bin_sync(self, class);
    if (dispatch_policies[class])
        dispatch_policies[class]->leave(self, class);
    if (run_bytes(&books->run, size))
        account_move(self, class, -(long)heap_unfetch(class, &books->run, os_clock_coarse()), 0);
    if (books->credit) {
        native_count(class, -(int64_t)books->credit);
        account_move(self, class, -(long)books->credit, 0);
        owner_set(books->credit, 0);
    }
    owner_set(books->credit_most, 0);
    account_run(self, class, false);
    struct bin *bin = &self->bins[class];
    if (bin->capacity && !bin->head) {
        account_capacity(self, class, -(long)bin->capacity);
        owner_set(bin->capacity, 0);
        owner_set(bin->room, 0);
    }
}

static bool chain_check(const void *head, unsigned count, unsigned class)
{
    const void *block = head;
    for (unsigned i = 0; i < count; i++) {
        if (!block || (uintptr_t)block % MALLOC_ALIGN)
            return false;
        unsigned is = unit_class(block); // without a span: a native block
        if (is != CLASS_NONE && (is != class || (unit_span(block) && !block_is_sound(block))))
            return false;
        if (is == CLASS_NONE && dispatch_policies[class] && unit_span(block))
            return false;
        block = *(void *const *)block;
    }
    return block == NULL;
}

bool bin_check(const struct thread *self, unsigned class)
{
    const struct bin *bin = &self->bins[class];
    return chain_check(bin->head, level(bin), class) && chain_check(bin->spare, bin->spare_count, class);
}

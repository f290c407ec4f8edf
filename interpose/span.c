/*
 * The heap: for each class a list of spans that have blocks to give, under one lock per class.
 *
 * Threads take runs of some 4 KiB and bring back whole lists, so the lock is taken once per many blocks. What comes home
 * is kept in bundles as long as a run, so that a thread takes one without walking it, which would wait for memory once
 * per block. Blocks are never linked before they are needed: a fresh range is two pointers, and its pages stay untouched. The price of one
 * lock per class is paid when many threads allocate the same size and free none of it; pools are there for the rest.
 *
 * The checks here cost nothing that shows (a multiplication per block that comes home) and notice by default what a
 * silent preload would hide: a pointer into the middle of a block, a block of another class, a link overwritten after
 * free.
 */
#include "span.h"

#include "bundle.h"
#include "lock.h"
#include "message.h"

enum {
    WASTE_SHIFT = 3, // at most an eighth of a span may be left over
    UNITS_MOST = 16, // units of a span, unless one block needs more
};

struct heap {
    struct lock lock;
    uint32_t lost;        // lock: class: the last fork in which its data were lost
    struct span *partial; // lock: class
    uint64_t out;         // lock: class: blocks that are out
    char padding[CACHE_LINE - 24];
};

static struct heap heaps[HEAP_CLASSES] __attribute__((aligned(CACHE_LINE)));

/* The fewest units in which blocks of this size leave little over. */
static unsigned span_units(size_t size)
{
    for (unsigned n = (unsigned)((size + UNIT - 1) / UNIT); n < UNITS_MOST; n++) {
        size_t bytes = (size_t)n * UNIT;
        if (bytes % size <= bytes >> WASTE_SHIFT)
            return n;
    }
    return (unsigned)max_size(UNITS_MOST, (size + UNIT - 1) / UNIT);
}

static uint64_t reciprocal_of(size_t size)
{
    return (((uint64_t)1 << RECIPROCAL_SHIFT) + size - 1) / size;
}

static void list_insert(struct heap *heap, struct span *span)
{
    span->prev = NULL;
    span->next = heap->partial;
    if (heap->partial)
        heap->partial->prev = span;
    heap->partial = span;
}

static void list_remove(struct heap *heap, struct span *span)
{
    if (span->prev)
        span->prev->next = span->next;
    else
        heap->partial = span->next;
    if (span->next)
        span->next->prev = span->prev;
}

/* Cuts a new span for the class; called with the lock held. */
static struct span *cut_locked(struct heap *heap, unsigned class)
{
    size_t size = class_size(class);
    struct span *span = span_take(span_units(size), class);
    if (!span)
        return NULL;
    span->capacity = (uint32_t)((size_t)span->units * UNIT / size);
    if (TINY)
        span->capacity = (uint32_t)min_size(span->capacity, 6);
    span->reciprocal = reciprocal_of(size);
    span->used = span->fresh = 0;
    span->home = NULL;
    list_insert(heap, span);
    return span;
}

/* A list of `count` sound blocks from `first` to `last` comes home: to the bundle that is first if it has room. */
static void put_home(struct span *span, void *first, void *last, unsigned count, unsigned most)
{
    void *home = span->home;
    *(void **)last = NULL;
    if (home && bundle_count(home) + count <= most) {
        *(void **)last = home;
        count += bundle_count(home);
        home = bundle_next(home);
    }
    bundle_set(first, count, home);
    span->home = first;
}

/* The first bundle. The program may have written to it after free: 0 if it does not read as it was left. */
static unsigned take_home(struct span *span, unsigned most, struct run *run)
{
    void *first = span->home, *next = bundle_next(first);
    unsigned count = bundle_count(first);
    if (unlikely(count == 0 || count > most || (next && !span_has(span, next))))
        return 0;
    owner_set(run->list, first);
    owner_set(run->listed, count);
    span->home = next;
    return count;
}

static unsigned take_fresh(struct span *span, unsigned most, size_t size, struct run *run)
{
    unsigned count = (unsigned)min_size(most, span->capacity - span->fresh);
    owner_set(run->next, span->start + (size_t)span->fresh * size);
    owner_set(run->end, run->next + (size_t)count * size);
    run->clean = span->clean;
    span->fresh += count;
    return count;
}

static unsigned run_blocks_most(size_t size)
{
    return (unsigned)max_size(RUN_BYTES / size, 1);
}

unsigned heap_fetch(unsigned class, struct run *run)
{
    struct heap *heap = &heaps[class];
    size_t size = class_size(class);
    unsigned most = run_blocks_most(size);
    lock_acquire(&heap->lock, RANK_CLASS);
    struct span *span = heap->partial ? heap->partial : cut_locked(heap, class);
    unsigned count = 0;
    if (span) {
        count = span->home ? take_home(span, most, run) : take_fresh(span, most, size, run);
        if (unlikely(count == 0)) {
            lock_release(&heap->lock, RANK_CLASS);
            message_broken_heap("a link in freed memory was overwritten", span->home);
        }
        span->used += count;
        owner_add(heap->out, count);
        if (span->used == span->capacity)
            list_remove(heap, span);
    }
    lock_release(&heap->lock, RANK_CLASS);
    return count;
}

size_t run_most(size_t size)
{
    return run_blocks_most(size) * size;
}

size_t run_bytes(const struct run *run, size_t size)
{
    // a dump looks at other threads' runs, which may move: never more than there can be
    size_t fresh = (size_t)(hint_get(run->end) - hint_get(run->next));
    return hint_get(run->listed) * size + (fresh <= max_size(RUN_BYTES, size) ? fresh : 0);
}

/* A span that a fork has orphaned keeps its blocks for good: its lists may be half-changed. */
static bool is_orphan(const struct heap *heap, const struct span *span)
{
    return span->epoch < heap->lost || span_lost(span);
}

static const char *fault_of(const struct span *span, unsigned class, const void *block)
{
    if (span->state != SPAN_CUT)
        return "a link in freed memory was overwritten";
    if (span->class != class)
        return "a freed block was changed or freed twice";
    if (!span_has(span, block))
        return "free of a pointer inside a block";
    return span->used == 0 ? "a block was freed twice" : NULL;
}

/*
 * Takes home the first blocks of a list, as far as they lie in one span and make one bundle; returns how many. The first
 * is known to be sound. The loop is what a program pays that frees more than its pools keep, so all that is the span's
 * is read before it. It stops at whatever is no block of this span, and looks no further into what that is.
 */
static unsigned return_to_span(struct heap *heap, struct span *span, void **list, unsigned count)
{
    const char *start = span->start;
    size_t size = class_sizes[span->class], end = span->capacity * size;
    uint64_t reciprocal = span->reciprocal;
    unsigned bundle = run_blocks_most(size), done = 0;
    unsigned most = (unsigned)min_size(min_size(count, bundle), span->used);
    void *first = *list, *block = first, *last = first;
    for (; done < most; done++) {
        size_t offset = (size_t)((const char *)block - start);
        if (unlikely(offset >= end || (offset * reciprocal >> RECIPROCAL_SHIFT) * size != offset))
            break;
        last = block;
        block = *(void **)block;
    }
    bool was_full = span->used == span->capacity;
    put_home(span, first, last, done, bundle);
    span->used -= done;
    owner_add(heap->out, -(uint64_t)done);
    if (was_full)
        list_insert(heap, span);
    *list = block;
    return done;
}

unsigned heap_return(unsigned class, void **list, unsigned count, uint64_t idle_since)
{
    struct heap *heap = &heaps[class];
    unsigned done = 0;
    lock_acquire(&heap->lock, RANK_CLASS);
    while (done < count) {
        struct span *span = unit_span(*list);
        if (!span)
            break; // native's, or a broken link: the caller finds out
        const char *fault = fault_of(span, class, *list);
        if (unlikely(fault)) {
            lock_release(&heap->lock, RANK_CLASS);
            message_broken_heap(fault, *list);
        }
        if (unlikely(is_orphan(heap, span))) { // one block, which is lost
            *list = *(void **)*list;
            owner_add(heap->out, -(uint64_t)1);
            done++;
            continue;
        }
        done += return_to_span(heap, span, list, count - done);
        if (span->used == 0) {
            list_remove(heap, span);
            span_give(span, idle_since);
        }
    }
    lock_release(&heap->lock, RANK_CLASS);
    return done;
}

static void add_out(unsigned class, uint64_t blocks)
{
    lock_acquire(&heaps[class].lock, RANK_CLASS);
    owner_add(heaps[class].out, blocks);
    lock_release(&heaps[class].lock, RANK_CLASS);
}

bool heap_resize(void *block, unsigned to, uint64_t idle_since)
{
    struct span *span = unit_span(block);
    if (to >= HEAP_CLASSES || span->capacity != 1)
        return false;
    size_t size = class_size(to);
    unsigned from = span->class, length = span_units(size);
    // the block is the caller's, and so is its span: no other thread has anything to do with it
    if ((size_t)length * UNIT / size != 1 || is_orphan(&heaps[from], span) ||
        !span_resize(span, length, to, idle_since))
        return false;
    span->reciprocal = reciprocal_of(size);
    add_out(from, -(uint64_t)1);
    add_out(to, 1);
    return true;
}

unsigned heap_unfetch(unsigned class, struct run *run, uint64_t idle_since)
{
    size_t size = class_size(class);
    unsigned fresh = run->next == run->end ? 0 : (unsigned)((size_t)(run->end - run->next) / size);
    unsigned listed = run->listed;
    if (listed)
        heap_return(class, &run->list, listed, idle_since);
    if (fresh) {
        struct heap *heap = &heaps[class];
        struct span *span = unit_span(run->next);
        lock_acquire(&heap->lock, RANK_CLASS);
        bool last =
            !is_orphan(heap, span) && span->start + (size_t)span->fresh * size == run->end && span->used > fresh;
        if (last) { // nobody has taken more since: the range is fresh again, its pages untouched
            if (span->used == span->capacity)
                list_insert(heap, span);
            span->fresh -= fresh;
            span->used -= fresh;
            owner_add(heap->out, -(uint64_t)fresh);
        }
        lock_release(&heap->lock, RANK_CLASS);
        for (char *block = run->next; !last && block < run->end; block += size) {
            void *one = block;
            *(void **)block = NULL;
            heap_return(class, &one, 1, idle_since);
        }
    }
    owner_set(run->list, NULL);
    owner_set(run->listed, 0);
    owner_set(run->next, run->end);
    return listed + fresh;
}

uint64_t heap_blocks_out(unsigned class)
{
    return class < HEAP_CLASSES ? hint_get(heaps[class].out) : 0;
}

void heap_set_blocks_out(unsigned class, uint64_t blocks)
{
    if (class < HEAP_CLASSES)
        heaps[class].out = blocks;
}

void heap_forked(void)
{
    chunk_forked();
    for (unsigned class = 0; class < HEAP_CLASSES; class ++) {
        if (lock_survived(&heaps[class].lock))
            continue;
        heaps[class].partial = NULL;
        heaps[class].lost = chunk_epoch(); // spans of before are orphans
    }
}

bool span_check(unsigned class)
{
    struct heap *heap = &heaps[class];
    bool good = true;
    lock_acquire(&heap->lock, RANK_CLASS);
    for (struct span *span = heap->partial; span && good; span = span->next) {
        unsigned home = 0;
        for (void *first = span->home; first && good; first = bundle_next(first)) {
            unsigned count = 0;
            for (void *block = first; block && good; block = *(void **)block) {
                good = unit_span(block) == span && span_has(span, block) && home < span->capacity;
                home++;
                count++;
            }
            good = good && count == bundle_count(first);
        }
        good = good && span->state == SPAN_CUT && span->class == class && span->used < span->capacity &&
               span->used + home == span->fresh && span->fresh <= span->capacity;
    }
    lock_release(&heap->lock, RANK_CLASS);
    return good;
}

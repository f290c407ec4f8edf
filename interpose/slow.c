/*
 * The slow path of each entry point: find the class, ask its policy, count, and now and then trim.
 */
#include "slow.h"

#include "bin.h"
#include "chunk.h"
#include "dispatch.h"
#include "mapping.h"
#include "message.h"
#include "native.h"
#include "trim.h"

#define PURGE_TO_ZERO MiB(8)

/*
 * A handler that interrupted the guest's own slow path: served by a mapping. The guest's counts are added to in between
 * its own additions, each of which is one instruction.
 */
COLD static void *emergency(unsigned class, size_t align, bool zero)
{
    bool clean;
    void *block = mapping_alloc(class_sizes[class], align, &clean);
    if (!block)
        return NULL;
    count_miss(thread_guest(), class);
    native_count(class, 1);
    account_move(thread_guest(), class, 1, 0);
    return zero && !clean ? memset(block, 0, class_sizes[class]) : block;
}

/* Such a handler frees: mappings go, all else is kept for good, since its origin may be locked by what was interrupted. */
COLD static void emergency_release(unsigned class, void *block)
{
    if (!mapping_size(block))
        return;
    count_free(thread_guest(), class);
    count(thread_guest(), class, dropped, 1);
    native_count(class, -1);
    account_move(thread_guest(), class, -1, 0);
    mapping_free(block);
}

static void *ask_policy(struct thread *self, unsigned class)
{
    const struct policy *policy = thread_is_guest(self) ? NULL : dispatch_policies[class];
    bin_adapt(self, class);
    return policy ? policy->refill(self, class) : heap_alloc(self, class);
}

/* One block of the class for the program, with the guard held. */
static void *take(struct thread *self, unsigned class)
{
    struct bin *bin = &self->bins[class];
    bin_sync(self, class);
    if (bin->head) // an aligned or a grown block: those do not try the fast path
        return count_hit(self, class, bin_pop(self, class));
    void *block = ask_policy(self, class);
    if (likely(block))
        return block;
    trim_all(self);
    return ask_policy(self, class);
}

/*
 * A large block of which the program may touch little is better zeroed by the kernel, page by page as it is touched: all
 * allocators take large blocks from private anonymous memory.
 */
static void fill_zero(char *block, size_t size)
{
    char *first = (char *)align_up((uintptr_t)block, OS_PAGE);
    char *end = (char *)align_down((uintptr_t)block + size, OS_PAGE);
    if (size < PURGE_TO_ZERO || !os_purge(first, (size_t)(end - first))) {
        memset(block, 0, size);
        return;
    }
    memset(block, 0, (size_t)(first - block));
    memset(end, 0, (size_t)(block + size - end));
}

static void *alloc(size_t size, size_t align, unsigned class, bool zero)
{
    struct thread *self = thread_enter();
    if (unlikely(!self))
        return emergency(class, align, zero);
    self->want_zero = zero;
    self->want_align = align;
    self->is_clean = false;
    void *block = take(self, class);
    if (likely(block)) {
        count_request(self, class, size);
        if (zero && !self->is_clean)
            fill_zero(block, size);
    }
    self->want_align = MALLOC_ALIGN;
    trim_tick(self);
    thread_leave(self);
    return block;
}

static void *alloc_or_enomem(size_t size, size_t align, unsigned class, bool zero)
{
    void *block = class == CLASS_NONE || size > PTRDIFF_MAX ? NULL : alloc(size, align, class, zero);
    if (unlikely(!block))
        errno = ENOMEM;
    return block;
}

/* A block from native on credit: no account moves. */
static NOINLINE void *malloc_on_credit(struct thread *self, size_t class, size_t size)
{
    self->busy = true; // from here on no signal handler comes between; one may have used the credit up
    void *block = self->books[class].credit ? native_quick_take(class) : NULL;
    if (likely(block)) {
        owner_add(self->books[class].credit, -1);
        owner_add(self->shard->classes[class].misses, 1);
    }
    self->busy = false;
    return likely(block) ? block : alloc_or_enomem(size, MALLOC_ALIGN, (unsigned)class, false);
}

/* The bin is empty and has a spare: no policy needs to be asked. NULL if a signal handler came between. */
static NOINLINE void *from_spare(struct thread *self, size_t class)
{
    self->busy = true;
    bin_sync(self, (unsigned)class);
    if (!self->bins[class].head)
        bin_swap_spare(self, (unsigned)class);
    void *block = bin_pop(self, (unsigned)class);
    if (likely(block))
        count_hit(self, (unsigned)class, block);
    trim_tick(self);
    self->busy = false;
    return block;
}

/*
 * A block that the thread has in its run or its spare; NULL if there is none. The run is the commonest reason to be here: a
 * program that grows takes fresh blocks, which never pass through a bin, so that each is counted as the miss that it is.
 * *ret_clean: it reads as zeros.
 */
static ALWAYS_INLINE void *from_own(struct thread *self, size_t class, bool *ret_clean)
{
    const struct bin *bin = &self->bins[class];
    *ret_clean = false;
    if (bin->spare)
        return bin_hides_spare(bin) ? from_spare(self, class) : NULL;
    void *block = run_next(&self->books[class].run, class_sizes[class], ret_clean);
    if (likely(block))
        owner_add(self->shard->classes[class].misses, 1);
    return block;
}

/* Whether the caller may look for a block without its guard. thread_none, which is everybody's, has nothing: it is not
 * written to. */
static ALWAYS_INLINE bool is_quick(const struct thread *self, size_t size)
{
    return likely(size <= CLASS_TABLE_MAX && !self->busy && !self->shares_shard && !thread_fork_unseen());
}

void *slow_malloc(size_t size)
{
    struct thread *self = thread_self;
    if (is_quick(self, size)) {
        size_t class = hint_get(dispatch_bins[(size + 15) / 16]) >> BIN_SHIFT;
        if (self->books[class].credit)
            return malloc_on_credit(self, class, size);
        bool clean;
        void *block = from_own(self, class, &clean);
        if (likely(block))
            return block;
    }
    return alloc_or_enomem(size, MALLOC_ALIGN, dispatch_class(size), false);
}

void *slow_calloc(size_t size)
{
    struct thread *self = thread_self;
    if (is_quick(self, size)) {
        size_t class = hint_get(dispatch_bins[(size + 15) / 16]) >> BIN_SHIFT;
        bool clean;
        void *block = from_own(self, class, &clean);
        if (likely(block))
            return clean ? block : memset(block, 0, size);
    }
    return alloc_or_enomem(size, MALLOC_ALIGN, dispatch_class(size), true);
}

/*
 * The class of a block: of its unit, which must have a block at this address, or by its size if it is native's;
 * CLASS_NONE if it is foreign.
 */
static unsigned block_class(const void *block)
{
    const struct span *span = unit_span(block);
    if (likely(span)) {
        if (unlikely(span->state != SPAN_CUT || !span_has(span, block)))
            message_broken_heap("an address inside a block was freed, resized or measured", block);
        return span->class;
    }
    unsigned class = unit_class(block);
    if (class != CLASS_NONE)
        return class;
    size_t usable = native_usable(block);
    return usable ? class_floor(usable) : CLASS_NONE;
}

/* A free block of the class to wherever it belongs, with the guard held. */
static void put(struct thread *self, unsigned class, void *block)
{
    bin_sync(self, class);
    count_free(self, class);
    const struct policy *policy = thread_is_guest(self) ? NULL : dispatch_policies[class];
    if (!policy) {
        block_drop(self, class, block);
        return;
    }
    bin_adapt(self, class);
    if (!bin_push(self, class, block))
        policy->spill(self, class, block);
}

static void release(unsigned class, void *block)
{
    struct thread *self = thread_enter();
    if (unlikely(!self)) {
        emergency_release(class, block);
        return;
    }
    put(self, class, block);
    trim_tick(self);
    thread_leave(self);
}

/* A native block of a class that keeps a credit goes straight back. */
static NOINLINE void free_on_credit(struct thread *self, unsigned class, void *block)
{
    struct books *books = &self->books[class];
    self->busy = true; // from here on no signal handler comes between; one may have filled the credit up
    bool room = books->credit < books->credit_most;
    if (likely(room)) {
        native_quick_give(block);
        owner_add(books->credit, 1);
        owner_add(self->shard->classes[class].frees, 1);
        owner_add(self->shard->classes[class].dropped, 1);
    }
    self->busy = false;
    if (unlikely(!room))
        release(class, block);
}

void slow_free(void *block)
{
    unsigned class = (unsigned)(unit_bin(block) >> BIN_SHIFT); // as hot_free found it
    struct thread *self = thread_self;
    struct bin *bin = &self->bins[class];
    if (owner_get(bin->room) < 0)
        owner_set(bin->room, 0);
    else if (block && class != CLASS_NONE && bin->head == block)
        message_broken_heap("a block was freed twice in a row", block);
    const struct books *books = &self->books[class];
    if (books->credit < books->credit_most && !self->busy && !thread_fork_unseen() && !unit_span_known(block)) {
        free_on_credit(self, class, block);
        return;
    }
    if (!block)
        return;
    class = block_class(block);
    if (unlikely(class == CLASS_NONE))
        foreign_free(block);
    else
        release(class, block);
}

size_t slow_usable(void *block)
{
    unsigned class = block_class(block);
    return class == CLASS_NONE ? foreign_usable(block) : class_size(class);
}

/* A block that was resized where it lies or by the kernel: in the books a free and an allocation. */
static void count_resized(struct thread *self, unsigned from, unsigned to, size_t size)
{
    bin_sync(self, from);
    count_free(self, from);
    count(self, from, dropped, 1);
    bin_sync(self, to);
    count_miss(self, to);
    count_request(self, to, size);
}

/* A native block that moves without being copied. */
static void *resize_native(void *block, unsigned from, unsigned to, size_t size)
{
    struct thread *self = class_size(to) > CLASS_TABLE_MAX ? thread_enter() : NULL;
    if (!self)
        return NULL;
    void *moved = native_resize(block, to);
    if (moved) {
        to = block_class(moved);
        count_resized(self, from, to, size);
        native_goes(self, from);
        native_comes(self, to);
    }
    thread_leave(self);
    return moved;
}

/* A heap block that stays where it is: large ones often have room behind them. */
static void *resize_heap(void *block, unsigned from, unsigned to, size_t size)
{
    if (class_size(from) < UNIT / 2 || !dispatch_policies[to] || dispatch_policies[to]->on_native)
        return NULL;
    struct thread *self = thread_enter();
    if (!self)
        return NULL;
    bool done = heap_resize(block, to, self->now);
    if (done) {
        count_resized(self, from, to, size);
        account_move(self, from, -1, 0);
        account_move(self, to, 1, 0);
    }
    thread_leave(self);
    return done ? block : NULL;
}

void *slow_realloc(void *block, size_t size)
{
    unsigned from = block_class(block);
    if (from == CLASS_NONE)
        return foreign_realloc(block, size);
    unsigned to = size > PTRDIFF_MAX ? CLASS_NONE : dispatch_class(size);
    if (to == CLASS_NONE) {
        errno = ENOMEM;
        return NULL;
    }
    // in place if it fits and wastes no more than half
    if (to == from)
        return block;
    if (to < from && class_size(to) * 2 >= class_size(from)) {
        count_odd(from);
        return block;
    }
    void *moved = unit_span(block) ? resize_heap(block, from, to, size) : resize_native(block, from, to, size);
    if (moved)
        return moved;
    moved = slow_malloc(size);
    if (moved) {
        memcpy(moved, block, min_size(class_size(from), size));
        release(from, block);
    }
    return moved;
}

/* The smallest class for `size` whose heap blocks all lie on multiples of `align`. */
static unsigned aligned_class(size_t align, size_t size)
{
    unsigned class = dispatch_class(size);
    while (class != CLASS_NONE && class < HEAP_CLASSES && align <= UNIT &&
           (class_size(class) % align || dispatch_class(class_size(class)) != class))
        class ++;
    return class;
}

/* From the native allocator at once, whatever the policy: pools know nothing of alignment. */
COLD static void *aligned_from_native(size_t align, size_t size, unsigned class)
{
    struct thread *self = thread_enter();
    if (!self)
        return emergency(class, align, false);
    self->want_align = align;
    self->want_zero = false;
    void *block = native_alloc(self, class);
    self->want_align = MALLOC_ALIGN;
    if (block)
        count_request(self, class, size);
    thread_leave(self);
    return block;
}

void *slow_aligned(size_t align, size_t size)
{
    unsigned class = size > PTRDIFF_MAX ? CLASS_NONE : aligned_class(align, size);
    void *block = NULL;
    if (class != CLASS_NONE && align <= UNIT)
        block = alloc(size, align, class, false);
    if (block && (uintptr_t)block % align) {
        // a native block that a pool had kept; it goes back, and counts as allocated and freed
        release(block_class(block), block);
        block = NULL;
    }
    if (!block && class != CLASS_NONE)
        block = aligned_from_native(align, size, class);
    if (!block)
        errno = ENOMEM;
    return block;
}

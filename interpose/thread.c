/*
 * Threads come, hold a block, and go.
 *
 * A block is made at a thread's first slow path and left in its last round of TLS destructors: glibc runs at most
 * PTHREAD_DESTRUCTOR_ITERATIONS of them, and ours asks to be called again until the last, so that other destructors
 * still find their bins. A free after that goes through the guest block and leaves nothing behind. Blocks are used
 * again by later threads and never freed.
 */
#include "thread.h"

#include "bin.h"
#include "chunk.h"
#include "os.h"

#include <limits.h>
#include <pthread.h>

enum presence { NEVER_HERE, HERE, GONE };

struct thread thread_none;
__thread struct thread *thread_self = &thread_none;

static __thread enum presence presence;
static struct thread guest;
static struct lock guest_lock;

static const unsigned char never_forked = 1;
const unsigned char *thread_fork_mark = &never_forked;

static struct {
    struct lock lock;
    struct thread *all;   // any thread; written under the lock
    struct thread *idle;  // lock: threads
    pthread_key_t key;    // fixed after start
    bool started;         // fixed after start
    void (*forked)(void); // fixed after start
} threads;

/* With the list locked. */
static void count_threads(int change)
{
    uint32_t now = page->threads_now + (uint32_t)change;
    hint_set(page->threads_now, now);
    if (now > page->threads_peak)
        hint_set(page->threads_peak, now);
    if (change < 0)
        hint_set(page->threads_ended, page->threads_ended + 1);
}

static void list_add(struct thread *thread)
{
    thread->next = threads.all;
    __atomic_store_n(&threads.all, thread, __ATOMIC_RELEASE);
}

static void leave(struct thread *self)
{
    self->busy = true;
    for (unsigned class = CLASS_FIRST; class <= self->top_class; class ++)
        bin_empty(self, class);
    self->busy = false;
    thread_self = &thread_none;
    presence = GONE;
    lock_acquire(&threads.lock, RANK_THREADS);
    self->alive = false;
    self->shard->alive--;
    self->next_idle = threads.idle;
    threads.idle = self;
    count_threads(-1);
    lock_release(&threads.lock, RANK_THREADS);
}

static void destructor(void *block)
{
    struct thread *self = block;
    if (!LEAVE_EARLY && ++self->rounds < PTHREAD_DESTRUCTOR_ITERATIONS && pthread_setspecific(threads.key, self) == 0)
        return;
    leave(self);
}

void thread_start(void (*forked)(void))
{
    const unsigned char *mark = os_fork_mark();
    if (mark)
        thread_fork_mark = mark;
    threads.forked = forked;
    threads.started = pthread_key_create(&threads.key, destructor) == 0;
    if (threads.started && presence == HERE)
        pthread_setspecific(threads.key, thread_self);
}

static struct thread *take_block(void)
{
    lock_acquire(&threads.lock, RANK_THREADS);
    struct thread *self = threads.idle;
    if (self) {
        threads.idle = self->next_idle;
    } else {
        self = meta_alloc(sizeof(*self));
        if (self)
            list_add(self);
    }
    if (self) {
        self->shard = counters_shard(&self->shares_shard);
        self->alive = true;
        count_threads(1);
    }
    lock_release(&threads.lock, RANK_THREADS);
    return self;
}

COLD static struct thread *arrive(void)
{
    struct thread *self = take_block();
    if (!self)
        return NULL;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT && self->shard->owners > 1; class ++)
        if (self->shard->classes[class].misses)
            books_begin(self, class);
    self->rounds = 0;
    self->want_align = MALLOC_ALIGN;
    self->busy = true; // pthread_setspecific may allocate: as a guest
    thread_self = self;
    presence = HERE;
    if (threads.started)
        pthread_setspecific(threads.key, self);
    return self;
}

/* Whether the calling thread may have a block: before start only the first that asks, which is the main thread. */
static bool may_arrive(void)
{
    if (threads.started || presence != NEVER_HERE)
        return threads.started && presence == NEVER_HERE;
    if (!page)
        counters_start();
    return !threads.all;
}

static void guest_begin(void)
{
    lock_acquire(&threads.lock, RANK_THREADS);
    guest.shard = counters_shard(&guest.shares_shard);
    guest.want_align = MALLOC_ALIGN;
    list_add(&guest);
    lock_release(&threads.lock, RANK_THREADS);
}

/* The guest's block with its lock held; NULL if the caller has it already. */
COLD static struct thread *enter_guest(void)
{
    if (lock_is_mine(&guest_lock))
        return NULL;
    lock_acquire(&guest_lock, RANK_GUEST);
    if (!guest.shard)
        guest_begin();
    return &guest;
}

struct thread *thread_enter(void)
{
    if (unlikely(thread_fork_unseen()))
        threads.forked();
    struct thread *self = thread_self;
    if (unlikely(self == &thread_none)) {
        if (may_arrive() && (self = arrive()))
            return self;
        return enter_guest();
    }
    if (unlikely(self->busy))
        return enter_guest();
    self->busy = true;
    return self;
}

void thread_leave(struct thread *self)
{
    if (unlikely(self == &guest))
        lock_release(&guest_lock, RANK_GUEST);
    else
        self->busy = false;
}

struct thread *thread_guest(void)
{
    return &guest;
}

bool thread_is_guest(const struct thread *self)
{
    return self == &guest;
}

void thread_each(void (*look)(struct thread *thread, void *context), void *context)
{
    struct thread *thread = __atomic_load_n(&threads.all, __ATOMIC_ACQUIRE); // pairs with list_add
    for (; thread; thread = thread->next)
        look(thread, context);
}

struct thread *thread_forked(void)
{
    if (thread_fork_mark != &never_forked)
        os_fork_mark_renew(thread_fork_mark);
    lock_survived(&guest_lock);
    bool sound = lock_survived(&threads.lock);
    struct thread *self = thread_self == &thread_none ? NULL : thread_self;
    if (!sound)
        threads.idle = NULL; // blocks in it are lost; `all` is changed by one store and is sound at any instruction
    for (struct thread *thread = threads.all; thread; thread = thread->next) {
        if (thread == self || thread == &guest || !thread->alive)
            continue;
        // what its bins held is lost to the child: a vanished thread may have been half-way through any of them
        for (unsigned class = CLASS_FIRST; class <= thread->top_class; class ++)
            page->classes[class].native_blocks -= thread->books[class].credit;
        memset(thread->bins, 0, sizeof(thread->bins));
        memset(thread->books, 0, sizeof(thread->books));
        thread->alive = thread->busy = false;
        thread->hidden = thread->bin_bytes = 0;
        thread->shard->alive--;
        thread->next_idle = threads.idle;
        threads.idle = thread;
    }
    page->threads_now = page->threads_peak = self ? 1 : 0;
    page->threads_ended = 0;
    if (!self && !guest.shard)
        guest_begin();
    return self ? self : &guest;
}

/*
 * Threads come, hold a block, and go: before the start, after the last destructor, inside themselves, after a fork.
 */
#include <criterion/criterion.h>

#include <limits.h>

#include "started.h"

static void start(void)
{
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", NULL);
}

static void count_one(struct thread *thread, void *context)
{
    (void)thread;
    ++*(unsigned *)context;
}

/* Blocks that there have ever been, with the guest's. */
static unsigned blocks_ever(void)
{
    unsigned count = 0;
    thread_each(count_one, &count);
    return count;
}

static void *enter_early(void *unused)
{
    (void)unused;
    struct thread *self = thread_enter();
    bool guest = thread_is_guest(self) && thread_enter() == NULL; // not inside itself
    thread_leave(self);
    return guest && thread_self == &thread_none ? self : NULL;
}

Test(thread, before_start_only_the_first_has_a_block)
{
    cr_assert_eq(thread_self, &thread_none);
    struct thread *self = thread_enter();
    cr_assert_not(thread_is_guest(self));
    cr_assert_not_null(page, "the page is made for it");
    thread_leave(self);
    cr_assert_not_null(in_thread(enter_early, NULL), "others are guests");
    start();
    cr_assert_eq(self_now(), self, "and it stays");
    cr_assert_eq(page->threads_now, 1);
}

Test(thread, has_a_block_from_its_first_slow_path, .init = start)
{
    struct thread *self = thread_enter();
    cr_assert_not(thread_is_guest(self));
    cr_assert_eq(thread_self, self);
    cr_assert(self->alive && self->busy);
    cr_assert_eq(self->shard->alive, 1);
    cr_assert_eq(blocks_ever(), 1);
    struct thread *inner = thread_enter();
    cr_assert(thread_is_guest(inner), "a handler that interrupts a slow path");
    cr_assert_null(thread_enter(), "and one that interrupts the guest's");
    thread_leave(inner);
    thread_leave(self);
    cr_assert_not(self->busy);
    cr_assert_eq(thread_enter(), self);
    thread_leave(self);
    cr_assert_eq(page->threads_now, 1);
    cr_assert_eq(page->threads_peak, 1);
    cr_assert_eq(blocks_ever(), 2, "the guest's is one");
}

Test(thread, none_takes_and_holds_nothing, .init = start)
{
    for (unsigned class = 0; class < CLASS_COUNT; class ++) {
        cr_assert_null(thread_none.bins[class].head);
        cr_assert_leq(thread_none.bins[class].room, 0);
    }
}

static void *live_shortly(void *unused)
{
    for (unsigned i = 0; i < 50; i++)
        give(take(i * 10));
    (void)unused;
    return thread_self;
}

Test(thread, block_and_shard_pass_on, .init = start)
{
    self_now();
    struct thread *first = in_thread(live_shortly, NULL);
    struct shard *shard = first->shard;
    uint64_t hits = counts_now(class_of(64)).hits + counts_now(class_of(64)).misses;
    cr_assert_not(first->alive);
    cr_assert_eq(shard->alive, 0);
    for (unsigned i = 0; i < 30; i++)
        cr_assert_eq(in_thread(live_shortly, NULL), first);
    cr_assert_eq(first->shard, shard);
    cr_assert_eq(shard->owners, 31);
    cr_assert_eq(page->threads_now, 1);
    cr_assert_eq(page->threads_peak, 2);
    cr_assert_eq(page->threads_ended, 31);
    cr_assert_eq(blocks_ever(), 2);
    cr_assert_eq(counts_now(class_of(64)).hits + counts_now(class_of(64)).misses, 31 * hits);
    cr_assert_eq(account_hidden(), 0, "nothing waits where a thread was");
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

enum { MANY = 40 };
static pthread_barrier_t barrier;

static void *live_together(void *unused)
{
    give(take(100));
    (void)unused;
    struct thread *self = thread_self;
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return self;
}

Test(thread, live_threads_have_blocks_of_their_own, .init = start)
{
    pthread_t threads[MANY];
    void *selves[MANY];
    pthread_barrier_init(&barrier, NULL, MANY + 1);
    for (unsigned i = 0; i < MANY; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, live_together, NULL), 0);
    pthread_barrier_wait(&barrier);
    cr_assert_eq(page->threads_now, MANY + 1);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < MANY; i++) {
        pthread_join(threads[i], &selves[i]);
        for (unsigned j = 0; j < i; j++)
            cr_assert_neq(selves[i], selves[j]);
    }
    cr_assert_eq(page->threads_now, 1);
    cr_assert_eq(page->threads_peak, MANY + 1);
    cr_assert_eq(blocks_ever(), MANY + 1);
}

/* ---- destructors ---- */

static pthread_key_t late_key;
static unsigned rounds, rounds_with_block;

static void late_destructor(void *block)
{
    give(block);
    rounds_with_block += thread_self != &thread_none;
    block = take(77);
    memset(block, 1, 77);
    if (++rounds == PTHREAD_DESTRUCTOR_ITERATIONS)
        give(block);
    else
        pthread_setspecific(late_key, block);
}

static void *leave_a_block_behind(void *unused)
{
    pthread_setspecific(late_key, take(77));
    return unused;
}

Test(thread, destructors_find_their_bins_and_may_come_after_them, .init = start)
{
    pthread_key_create(&late_key, late_destructor); // a later key than ours: runs after it in each round
    in_thread(leave_a_block_behind, NULL);
    cr_assert_eq(rounds, PTHREAD_DESTRUCTOR_ITERATIONS);
    cr_assert_eq(rounds_with_block, PTHREAD_DESTRUCTOR_ITERATIONS - 1);
    cr_assert_eq(page->threads_now, 1);
    cr_assert_eq(live_now(class_of(77)), 0);
    cr_assert_leq(account_hidden(), (int64_t)run_most(class_size(class_of(77))), "the guest's run");
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

/* ---- fork ---- */

static bool child_has_one_thread(void)
{
    bool unseen = thread_fork_unseen();
    struct thread *self = thread_forked();
    struct thread *new = in_thread(live_shortly, NULL);
    return unseen && !thread_fork_unseen() && self == thread_self && page->threads_ended == 1 &&
           page->threads_peak == 2 && page->threads_now == 1 && new != self &&blocks_ever() == MANY + 1;
}

static void *fork_without_block(void *unused)
{
    pid_t child = fork();
    if (child == 0)
        _exit(thread_is_guest(thread_forked()) && page->threads_now == 0 ? 0 : 1);
    (void)unused;
    int status = -1;
    waitpid(child, &status, 0);
    return status ? NULL : thread_self;
}

Test(thread, child_of_a_thread_without_a_block_is_the_guest, .init = start)
{
    cr_assert_eq(in_thread(fork_without_block, NULL), &thread_none);
}

Test(thread, child_uses_the_blocks_of_its_missing_threads_again, .init = start)
{
    pthread_t threads[MANY];
    self_now();
    pthread_barrier_init(&barrier, NULL, MANY + 1);
    for (unsigned i = 0; i < MANY; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, live_together, NULL), 0);
    pthread_barrier_wait(&barrier);
    cr_assert_eq(in_child(child_has_one_thread), 0);
    cr_assert_not(thread_fork_unseen());
    cr_assert_eq(page->threads_now, MANY + 1);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < MANY; i++)
        pthread_join(threads[i], NULL);
}

static bool child_allocates(void)
{
    pid_t parent = getppid();
    void *block = take(100); // no handler has run: the slow path notices
    return !thread_fork_unseen() && page->pid == (uint32_t)getpid() && page->pid != (uint32_t)parent && block;
}

Test(thread, slow_path_of_a_child_notices_the_fork, .init = start)
{
    give(take(5000));
    cr_assert_eq(in_child(child_allocates), 0);
}

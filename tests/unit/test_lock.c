/*
 * The lock: one holder at a time, sleepers are woken, and a forked child knows whose it was.
 */
#include <criterion/criterion.h>

#include <signal.h>

#include "interpose/lock.h"
#include "started.h"

#ifdef NDEBUG
enum { WITNESSED = 0 };
#else
enum { WITNESSED = 1 };
#endif

enum { THREADS = 4, ROUNDS = 20000 };

static struct lock lock;

static void *try_it(void *unused)
{
    (void)unused;
    bool mine = lock_is_mine(&lock);
    bool got = lock_try(&lock, RANK_POOL);
    if (got)
        lock_release(&lock, RANK_POOL);
    return (void *)(uintptr_t)(got | (mine ? 2 : 0));
}

Test(lock, has_one_holder)
{
    cr_assert_not(lock_is_mine(&lock));
    cr_assert_not(lock_acquire(&lock, RANK_POOL), "nothing to sleep for");
    cr_assert(lock_is_mine(&lock));
    cr_assert_eq((uintptr_t)in_thread(try_it, NULL), 0, "another thread neither has it nor gets it");
    lock_release(&lock, RANK_POOL);
    cr_assert_not(lock_is_mine(&lock));
    cr_assert_eq((uintptr_t)in_thread(try_it, NULL), 1);
    cr_assert(lock_try(&lock, RANK_POOL));
    cr_assert(lock_is_mine(&lock));
    cr_assert_not(lock_try(&lock, RANK_META), "not twice, even by its holder");
    lock_release(&lock, RANK_POOL);
    cr_assert_eq(atomic_load(&lock.word), 0);
}

static uint64_t counter; // lock: lock

static void *count_up(void *unused)
{
    for (unsigned i = 0; i < ROUNDS; i++) {
        if (i % 4 || !lock_try(&lock, RANK_UNITS))
            lock_acquire(&lock, RANK_UNITS);
        counter++;
        lock_release(&lock, RANK_UNITS);
    }
    return unused;
}

Test(lock, excludes_others, .timeout = 120)
{
    pthread_t threads[THREADS];
    for (unsigned i = 0; i < THREADS; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, count_up, NULL), 0);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(counter, (uint64_t)THREADS * ROUNDS);
    cr_assert_eq(atomic_load(&lock.word), 0);
}

static void *acquire_late(void *unused)
{
    (void)unused;
    bool slept = lock_acquire(&lock, RANK_POOL);
    lock_release(&lock, RANK_POOL);
    return (void *)(uintptr_t)slept;
}

Test(lock, says_whether_the_caller_slept, .timeout = 60)
{
    pthread_t thread;
    void *slept;
    lock_acquire(&lock, RANK_POOL);
    uint32_t alone = atomic_load(&lock.word);
    cr_assert_eq(pthread_create(&thread, NULL, acquire_late, NULL), 0);
    while (atomic_load(&lock.word) == alone) // until the word says that somebody may sleep
        usleep(100);
    cr_assert(lock_is_mine(&lock), "still");
    lock_release(&lock, RANK_POOL);
    pthread_join(thread, &slept);
    cr_assert(slept);
    cr_assert_eq(atomic_load(&lock.word), 0);
}

static struct lock free_lock, own_lock, lost_lock;
static pthread_barrier_t barrier;

static void *hold_until_the_end(void *unused)
{
    lock_acquire(&lost_lock, RANK_POOL);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    lock_release(&lost_lock, RANK_POOL);
    return unused;
}

static bool child_knows(void)
{
    bool own = lock_survived(&own_lock) && lock_is_mine(&own_lock);
    lock_release(&own_lock, RANK_POOL);
    bool lost = !lock_survived(&lost_lock) && lock_survived(&lost_lock) && lock_try(&lost_lock, RANK_POOL);
    return own && lost && lock_survived(&free_lock) && lock_try(&free_lock, RANK_CLASS);
}

Test(lock, a_child_knows_which_locks_its_missing_threads_held, .timeout = 60)
{
    pthread_t thread;
    pthread_barrier_init(&barrier, NULL, 2);
    cr_assert_eq(pthread_create(&thread, NULL, hold_until_the_end, NULL), 0);
    pthread_barrier_wait(&barrier);
    lock_acquire(&own_lock, RANK_POOL);
    cr_assert_eq(in_child(child_knows), 0);
    lock_release(&own_lock, RANK_POOL);
    pthread_barrier_wait(&barrier);
    pthread_join(thread, NULL);
}

static bool take_downwards(void)
{
    static struct lock low, high;
    lock_acquire(&high, RANK_UNITS);
    lock_acquire(&low, RANK_CLASS);
    return true;
}

static bool take_same_rank(void)
{
    static struct lock one, two;
    lock_acquire(&one, RANK_POOL);
    return lock_try(&two, RANK_POOL);
}

static bool take_upwards(void)
{
    static struct lock locks[RANK_MAPPING + 1];
    for (unsigned rank = RANK_GUEST; rank <= RANK_MAPPING; rank++)
        lock_acquire(&locks[rank], rank);
    for (unsigned rank = RANK_GUEST; rank <= RANK_MAPPING; rank++)
        lock_release(&locks[rank], rank);
    return true;
}

Test(lock, ranks_are_checked_where_asserts_are_on)
{
    cr_assert_eq(in_child(take_upwards), 0);
    int status = in_child(take_downwards), same = in_child(take_same_rank);
    cr_assert_eq(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, WITNESSED);
    cr_assert_eq(WIFSIGNALED(same) && WTERMSIG(same) == SIGABRT, WITNESSED);
}

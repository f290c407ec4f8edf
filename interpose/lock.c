/*
 * The futex lock of lock.h: three states in one word, as in "Futexes Are Tricky" (U. Drepper, 2011), with the
 * holder's id in place of a plain 1.
 *
 * The id is made of the address of a thread-local byte: unique among running threads, the same in the forked copy of a
 * thread, there before and after everything else of the thread, and free of system calls.
 */
#include "lock.h"

#include "os.h"

enum { LOCK_SPINS = 60 };
#define LOCK_CONTENDED 0x80000000u

static __thread char thread_mark;

static uint32_t own_id(void)
{
    uintptr_t address = (uintptr_t)&thread_mark;
    return ((uint32_t)(address >> 4 ^ address >> 35) & ~LOCK_CONTENDED) | 1;
}

#ifndef NDEBUG
static __thread unsigned held; // one bit per rank

static void witness_acquire(enum lock_rank rank)
{
    assert(held >> rank == 0); // only upwards, and no rank twice
    held |= 1u << rank;
}

static void witness_release(enum lock_rank rank)
{
    assert(held & 1u << rank);
    held &= ~(1u << rank);
}
#else
static void witness_acquire(enum lock_rank rank)
{
    (void)rank;
}

static void witness_release(enum lock_rank rank)
{
    (void)rank;
}
#endif

/* Returns whether it slept. */
COLD static bool wait_for(struct lock *lock, uint32_t id)
{
    for (unsigned spin = 0; spin < LOCK_SPINS; spin++) {
        uint32_t free = 0;
        __builtin_ia32_pause();
        if (atomic_compare_exchange_weak_explicit(&lock->word, &free, id, memory_order_acquire, memory_order_relaxed))
            return false;
    }
    for (bool slept = false;; slept = true) {
        uint32_t seen = atomic_load_explicit(&lock->word, memory_order_relaxed);
        // taken as contended, since others may be asleep behind us
        if (seen == 0 && atomic_compare_exchange_weak_explicit(&lock->word, &seen, id | LOCK_CONTENDED,
                                                               memory_order_acquire, memory_order_relaxed))
            return slept;
        if (seen == 0)
            continue;
        if (!(seen & LOCK_CONTENDED) &&
            !atomic_compare_exchange_weak_explicit(&lock->word, &seen, seen | LOCK_CONTENDED, memory_order_relaxed,
                                                   memory_order_relaxed))
            continue;
        os_futex_wait(&lock->word, seen | LOCK_CONTENDED);
    }
}

bool lock_acquire(struct lock *lock, enum lock_rank rank)
{
    uint32_t free = 0;
    uint32_t id = own_id();
    bool slept = false;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &free, id, memory_order_acquire, memory_order_relaxed))
        slept = wait_for(lock, id);
    witness_acquire(rank);
    return slept;
}

bool lock_try(struct lock *lock, enum lock_rank rank)
{
    uint32_t free = 0;
    if (!atomic_compare_exchange_strong_explicit(&lock->word, &free, own_id(), memory_order_acquire,
                                                 memory_order_relaxed))
        return false;
    witness_acquire(rank);
    return true;
}

void lock_release(struct lock *lock, enum lock_rank rank)
{
    witness_release(rank);
    // pairs with the acquire of whoever takes it next
    if (atomic_exchange_explicit(&lock->word, 0, memory_order_release) & LOCK_CONTENDED)
        os_futex_wake(&lock->word);
}

bool lock_is_mine(struct lock *lock)
{
    return (atomic_load_explicit(&lock->word, memory_order_relaxed) & ~LOCK_CONTENDED) == own_id();
}

bool lock_survived(struct lock *lock)
{
    uint32_t word = atomic_load_explicit(&lock->word, memory_order_relaxed);
    if (word == 0 || (word & ~LOCK_CONTENDED) == own_id())
        return true;
    atomic_store_explicit(&lock->word, 0, memory_order_relaxed);
    return false;
}

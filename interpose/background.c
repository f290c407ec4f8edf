/*
 * The idea: slow paths look at a clock and give idle memory back (trim.c), but a program that sleeps has no slow paths.
 * One thread per process does the same looks for it, twice per POOL_TRIM, and sleeps for good when nothing is left.
 *
 * It is a guest in the allocator (thread.h): it has no bins, is not counted, and allocates nothing. It takes no signal,
 * and its table of descriptors is its own and empty, so the program's are neither seen nor held open. It is started in
 * processes that have threads already (`auto`), since one more changes nothing there; in others a second thread would
 * end what the kernel and glibc allow to single-threaded processes (setns, unshare, plain instead of locked counters).
 *
 * The price: some 12 KiB of resident memory. What it does not reach: the bins of threads that sleep, which only their
 * owners may touch; they are bounded by POOL_THREAD_BYTES each. (Tried on paper and dropped: a flag that the owner reads
 * costs the fast path an instruction, membarrier a system call per look and thread, and either leaves the bins of a
 * thread that never wakes.)
 */
#include "background.h"

#include "chunk.h"
#include "mapping.h"
#include "memory_limit.h"
#include "options.h"
#include "os.h"
#include "trim.h"

#include <pthread.h>
#include <signal.h>
#include <sys/single_threaded.h>

enum { IDLE_LEAST = 4 << 20, STACK = 128 << 10, QUIET_LOOKS = 2 };

#define RETRY_AFTER 10000000000u // nanoseconds after a thread was refused

enum state { ABSENT, STARTING, WORKING, PARKED };
enum choice { CHOICE_AUTO, CHOICE_ON, CHOICE_OFF }; // in the order of options.def

static struct {
    _Atomic uint32_t state;    // any thread: enum state; the thread sleeps on it when it is PARKED
    _Atomic uint64_t retry_at; // any thread
    _Atomic bool forbidden;    // any thread
} background;

/* What could be given back: in pools, free units and kept mappings. A hint. */
static uint64_t idle_bytes(void)
{
    int64_t stored = hint_get(page->total.stored.now);
    return (uint64_t)(stored > 0 ? stored : 0) + chunk_idle() + mapping_idle();
}

static void park(void)
{
    uint32_t working = WORKING;
    if (atomic_compare_exchange_strong(&background.state, &working, PARKED))
        while (atomic_load(&background.state) == PARKED)
            os_futex_wait(&background.state, PARKED);
}

static void *run(void *unused)
{
    (void)unused;
    thread_stay_guest();
    os_name_thread("poolmark");
    bool limits = os_leave_files(); // else a limit's files would be seen among the program's
    for (unsigned quiet = 0;;) {
        os_sleep(option_values[OPTION_POOL_TRIM].number / TRIM_LOOKS);
        enum pressure pressure = limits && memory_limit_is_near() ? PRESSURE_FULL : PRESSURE_NONE;
        struct thread *guest = thread_enter();
        if (guest) {
            trim_shared(guest, os_clock_coarse(), pressure);
            thread_leave(guest);
        }
        quiet = idle_bytes() ? 0 : quiet + 1;
        if (quiet == QUIET_LOOKS) {
            park();
            quiet = 0;
        }
    }
    return NULL;
}

static bool create(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    sigset_t all, before;
    sigfillset(&all);
    if (pthread_attr_init(&attributes) != 0)
        return false;
    pthread_attr_setdetachstate(&attributes, PTHREAD_CREATE_DETACHED);
    pthread_attr_setstacksize(&attributes, STACK);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool created = pthread_create(&thread, &attributes, run, NULL) == 0;
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attributes);
    return created;
}

static void start(uint64_t now)
{
    uint32_t absent = ABSENT;
    if (now < atomic_load_explicit(&background.retry_at, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&background.state, &absent, STARTING))
        return;
    int saved = errno;
    atomic_store_explicit(&background.retry_at, now + RETRY_AFTER, memory_order_relaxed);
    atomic_store(&background.state, create() ? WORKING : ABSENT);
    errno = saved;
}

void background_look(struct thread *self, uint64_t now)
{
    enum choice choice = (enum choice)option_values[OPTION_POOL_BACKGROUND].number;
    uint32_t state = atomic_load_explicit(&background.state, memory_order_relaxed);
    if (choice == CHOICE_OFF || state == WORKING || state == STARTING || thread_is_guest(self))
        return;
    if ((choice == CHOICE_AUTO || state == PARKED) && idle_bytes() <= IDLE_LEAST)
        return;
    if (state == PARKED) {
        if (atomic_compare_exchange_strong(&background.state, &state, WORKING))
            os_futex_wake(&background.state);
        return;
    }
    if ((choice == CHOICE_AUTO && __libc_single_threaded) || atomic_load(&background.forbidden))
        return;
    start(now);
}

void background_forbid(void)
{
    atomic_store(&background.forbidden, true);
}

void background_forked(void)
{
    atomic_store(&background.state, ABSENT);
    atomic_store(&background.retry_at, 0);
}

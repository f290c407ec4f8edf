/*
 * forks: a process forks again and again while its threads are anywhere in the allocator.
 *
 * Each child has one thread, and locks, lists and bins as its missing threads left them. It must find all blocks that
 * were at rest as they were, allocate and free, and have numbers that fit; what it loses may only be memory.
 */
#include "interpose/base.h"
#include "stress.h"

#include <signal.h>

enum { SLOTS = 300, FORKS = TSAN ? 20 : 40, CHILD_STEPS = 1500, CHILD_SECONDS = 60 };

static _Atomic bool stop;
static struct slot at_rest[SLOTS]; // nobody touches these while children are made

static void *work(void *number)
{
    uint64_t state = stress_seed * 104729 + (uintptr_t)number;
    struct slot *slots = calloc(SLOTS, sizeof(*slots));
    const char *fault = NULL;
    while (!atomic_load_explicit(&stop, memory_order_relaxed) && !fault)
        fault = slot_step(&slots[draw(&state) % SLOTS], &state, KiB(100));
    for (unsigned i = 0; i < SLOTS && !fault; i++)
        fault = slot_release(&slots[i]);
    free(slots);
    return stress_fault(fault);
}

/* No stdio here: a missing thread may hold its lock. */
static void child_fails(const char *fault)
{
    if (write(STDOUT_FILENO, "child: ", 7) != 7 || write(STDOUT_FILENO, fault, strlen(fault)) < 0 ||
        write(STDOUT_FILENO, "\n", 1) != 1)
        _exit(3);
    _exit(2);
}

static void child(uint64_t seed, bool by_hand)
{
    alarm(CHILD_SECONDS); // a lock that nobody will release ends it
    if (by_hand)
        process_forked(); // as from the fork handler; else the first slow path notices
    const char *fault = NULL;
    for (unsigned i = 0; i < CHILD_STEPS && !fault; i++)
        fault = slot_step(&at_rest[draw(&seed) % SLOTS], &seed, KiB(100));
    for (unsigned i = 0; i < SLOTS && !fault; i++)
        fault = slot_release(&at_rest[i]);
    if (!fault)
        fault = settled_fault();
    if (!fault && page->pid != (uint32_t)getpid())
        fault = "the page is not its own";
    trim_all(self_now());
    if (!fault)
        fault = settled_fault();
    if (fault)
        child_fails(fault);
    _exit(0);
}

static const char *fork_once(uint64_t seed)
{
    int status = -1;
    pid_t pid = fork();
    if (pid < 0)
        return "fork failed";
    if (pid == 0)
        child(seed, seed % 2);
    waitpid(pid, &status, 0);
    if (WIFSIGNALED(status))
        return WTERMSIG(status) == SIGALRM ? "a child hangs" : "a child was killed by a signal";
    return status ? "a child failed" : NULL;
}

static const char *forks(const char *name)
{
    char route[128] = "POOL_POLICY=";
    pthread_t threads[STRESS_THREADS];
    const char *fault = NULL;
    strcat(route, name);
    start_core(route, "POOL_NATIVE=mmap", "POOL_TRIM=5ms", NULL);
    uint64_t state = stress_seed;
    for (unsigned i = 0; i < SLOTS * 3 && !fault; i++)
        fault = slot_step(&at_rest[i % SLOTS], &state, KiB(100));
    for (uintptr_t i = 0; i < STRESS_THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return "pthread_create failed";
    for (unsigned i = 0; i < FORKS * stress_scale && !fault; i++)
        fault = fork_once(stress_seed + i);
    atomic_store(&stop, true);
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        fault = result ? result : fault;
    }
    for (unsigned i = 0; i < SLOTS && !fault; i++)
        fault = slot_release(&at_rest[i]);
    return fault ? fault : stress_leftover();
}

int main(int argc, char **argv)
{
    static const struct stress_case cases[] = {
        {"thread", forks}, {"array", forks}, {"onecache", forks}, {"thread:1K,array:32K,onecache", forks}};
    return stress_main(argc, argv, cases, ARRAY_LENGTH(cases));
}

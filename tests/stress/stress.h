/*
 * Stress programs: `PROGRAM [SEED [SCALE]]` runs each case in a child of its own, so that each has a fresh core, and
 * ends with "N passed, N failed". SCALE multiplies the work; 1 takes some seconds.
 */
#ifndef POOLMARK_TEST_STRESS_H
#define POOLMARK_TEST_STRESS_H

#include "workload.h"

#include "interpose/span.h"
#include "interpose/trim.h"

enum { STRESS_THREADS = 4 };

static uint64_t stress_seed = 1;
static unsigned stress_scale = 1;

struct stress_case {
    const char *name;
    const char *(*run)(const char *name); // NULL, or what went wrong
};

static inline bool stress_passes(const struct stress_case *one)
{
    int status = -1;
    fflush(NULL);
    pid_t child = fork();
    if (child == 0) {
        const char *fault = one->run(one->name);
        if (fault)
            printf("%s: %s\n", one->name, fault);
        fflush(NULL);
        _exit(fault != NULL);
    }
    waitpid(child, &status, 0);
    printf("%s %s", status ? "FAIL" : "ok", one->name);
    printf(WIFSIGNALED(status) ? " (signal %d)\n"
           : status            ? " (status %d)\n"
                               : "\n",
           WIFSIGNALED(status) ? WTERMSIG(status) : WEXITSTATUS(status));
    return status == 0;
}

static inline int stress_main(int argc, char **argv, const struct stress_case *cases, unsigned count)
{
    unsigned passed = 0;
    if (argc > 1)
        stress_seed = strtoull(argv[1], NULL, 10);
    if (argc > 2)
        stress_scale = (unsigned)strtoul(argv[2], NULL, 10);
    printf("seed %lu, scale %u\n", stress_seed, stress_scale);
    for (unsigned i = 0; i < count; i++)
        passed += stress_passes(&cases[i]);
    printf("%u passed, %u failed\n", passed, count - passed);
    return passed == count ? 0 : 1;
}

/* Runs `act` in several threads, each with its number from 1; the first fault that one of them returns. */
static inline const char *stress_threads(void *(*act)(void *), uintptr_t first)
{
    pthread_t threads[STRESS_THREADS];
    const char *fault = NULL;
    for (uintptr_t i = 0; i < STRESS_THREADS; i++)
        if (pthread_create(&threads[i], NULL, act, (void *)(first + i)))
            return "pthread_create failed";
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        if (result)
            fault = result;
    }
    return fault;
}

static inline void *stress_fault(const char *fault)
{
    return (void *)(uintptr_t)fault;
}

/* Everything has been freed, and the caller is alone: nothing may be left anywhere. NULL, or what is. */
static inline const char *stress_leftover(void)
{
    const char *fault = settled_fault();
    uint64_t allocated, pooled;
    process_levels(&allocated, &pooled);
    if (fault || allocated)
        return fault ? fault : "bytes are allocated though all were freed";
    trim_all(self_now());
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        if (dispatch_policies[class]->stored(class))
            return "a pool keeps blocks though it was trimmed";
        if (heap_blocks_out(class) || page->classes[class].native_blocks)
            return "blocks are out though all were freed";
        if (class < HEAP_CLASSES && !span_check(class))
            return "a span is broken";
    }
    if (page->total.held.now || page->total.stored.now)
        return "levels are not zero";
    return settled_fault();
}

#endif

/*
 * observers: dumps, checks, trims and reads of the page from outside, while threads work.
 *
 * A dump of a running process may be some events off, but it must not call itself inconsistent, crash or disturb.
 */
#include "interpose/base.h"
#include "interpose/freeze.h"
#include "interpose/report.h"
#include "stress.h"

enum { SLOTS = 400, STEPS = 12000 };

static _Atomic unsigned working;

static void *work(void *number)
{
    uint64_t state = stress_seed * 7919 + (uintptr_t)number;
    struct slot *slots = calloc(SLOTS, sizeof(*slots));
    const char *fault = NULL;
    for (unsigned i = 0; i < STEPS * stress_scale && !fault; i++)
        fault = slot_step(&slots[draw(&state) % SLOTS], &state, KiB(100));
    for (unsigned i = 0; i < SLOTS && !fault; i++)
        fault = slot_release(&slots[i]);
    free(slots);
    atomic_fetch_sub(&working, 1);
    return stress_fault(fault);
}

static bool throw_away(struct report_out *out)
{
    return out->used <= out->size;
}

static const char *look_at_numbers(unsigned round)
{
    static char text[200], buffer[4096];
    uint64_t allocated, pooled;
    process_levels(&allocated, &pooled);
    process_settle();
    page->end = END_SNAPSHOT;
    const struct page *from = TSAN ? page : page_freeze(); // which copies it by memcpy: no race that matters, but one
    const char *fault = report_inconsistency(from, text, sizeof(text));
    struct report_out out = {.buffer = buffer, .size = sizeof(buffer), .flush = throw_away};
    if (!report_render(from, (enum report_format)(round % 3), &out))
        fault = "rendering failed";
    page->end = END_RUNNING;
    process_resume();
    return fault;
}

static const char *look_and_trim(unsigned round)
{
    struct thread *self = thread_enter();
    if (round % 2)
        trim_all(self);
    thread_leave(self);
    usleep(1000);
    return NULL;
}

static const char *observe(const char *name)
{
    bool trims = strcmp(name, "trims") == 0;
    pthread_t threads[STRESS_THREADS];
    const char *fault = NULL;
    start_core("POOL_POLICY=thread:1K,array:32K,onecache", "POOL_NATIVE=mmap", "POOL_TRIM=5ms", NULL);
    atomic_store(&working, STRESS_THREADS);
    for (uintptr_t i = 0; i < STRESS_THREADS; i++)
        if (pthread_create(&threads[i], NULL, work, (void *)i))
            return "pthread_create failed";
    for (unsigned round = 0; atomic_load(&working) && !fault; round++)
        fault = trims ? look_and_trim(round) : look_at_numbers(round);
    for (unsigned i = 0; i < STRESS_THREADS; i++) {
        void *result;
        pthread_join(threads[i], &result);
        fault = result ? result : fault;
    }
    return fault ? fault : stress_leftover();
}

int main(int argc, char **argv)
{
    static const struct stress_case cases[] = {{"dumps", observe}, {"trims", observe}};
    return stress_main(argc, argv, cases, ARRAY_LENGTH(cases));
}

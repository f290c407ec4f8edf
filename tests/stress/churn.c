/*
 * churn: threads allocate, grow and free each other's blocks under every policy and on mixed routes, die and are
 * followed by others, while one of them trims.
 *
 * A table of slots is shared; whoever holds a slot's flag has its block. Each block is verified before it changes
 * hands. At the end nothing may be left, and the numbers must be right to the block.
 */
#include "interpose/base.h"
#include "stress.h"

enum {
    SLOTS = 1500,
    LIVES = TSAN ? 4 : 6,
    STEPS = 4000,
    TRIM_EVERY = 1000, // steps of the one thread that trims
    CASES_MOST = 64,
};

static struct {
    atomic_flag taken;
    struct slot slot; // whoever holds `taken`
} shared[SLOTS];

/* As malloc_trim. */
static void trim_now(void)
{
    struct thread *self = thread_enter();
    trim_all(self);
    thread_leave(self);
}

static void *live(void *number)
{
    uint64_t state = stress_seed * 1000003 + (uintptr_t)number;
    const char *fault = NULL;
    for (unsigned i = 0; i < STEPS && !fault; i++) {
        unsigned at = (unsigned)(draw(&state) % SLOTS);
        if (atomic_flag_test_and_set_explicit(&shared[at].taken, memory_order_acquire))
            continue;
        fault = slot_step(&shared[at].slot, &state, KiB(200));
        atomic_flag_clear_explicit(&shared[at].taken, memory_order_release);
        if ((uintptr_t)number % STRESS_THREADS == 0 && i % TRIM_EVERY == 0)
            trim_now();
    }
    return stress_fault(fault);
}

/* Routes over the native allocator named behind a slash; POOL_TRIM so short that the clock trims all the time. */
static const char *churn(const char *name)
{
    char route[128] = "POOL_POLICY=", native[32] = "POOL_NATIVE=";
    const char *slash = strchr(name, '/'), *fault = NULL;
    strncat(route, name, (size_t)(slash - name));
    strcat(native, slash + 1);
    start_core(route, native, "POOL_TRIM=1ms", NULL);
    for (unsigned round = 0; round < LIVES * stress_scale && !fault; round++) {
        fault = stress_threads(live, round * STRESS_THREADS);
        fault = fault ? fault : settled_fault();
    }
    for (unsigned i = 0; i < SLOTS && !fault; i++)
        fault = slot_release(&shared[i].slot);
    return fault ? fault : stress_leftover();
}

/* Not under the thread sanitizer: it does not see how these hand a block from one thread to another. */
static const struct stress_case foreign[] = {
    {"onecache/libc", churn},
    {"native/libc", churn},
    {"native/mimalloc", churn},
    {"balanced/mimalloc", churn},
};

int main(int argc, char **argv)
{
    static char names[CASES_MOST][32];
    static struct stress_case cases[CASES_MOST] = {{"thread:1K,array:32K,onecache/mmap", churn},
                                                   {"balanced/mmap", churn}};
    unsigned count = 2;
    for (unsigned i = 0; policies[i] && count < CASES_MOST - ARRAY_LENGTH(foreign); i++) {
        snprintf(names[i], sizeof(names[i]), "%s/mmap", policies[i]->name);
        cases[count++] = (struct stress_case){names[i], churn};
    }
    if (!TSAN) {
        memcpy(&cases[count], foreign, sizeof(foreign));
        count += ARRAY_LENGTH(foreign);
    }
    return stress_main(argc, argv, cases, count);
}

/*
 * Every row of the table of policies under a random load: over each native allocator, in several threads, after a fork.
 * (conformance.c: the same promises one by one.) A new policy is tested here without an edit.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <ctype.h>

#include "interpose/policy.h"
#include "interpose/trim.h"
#include "tests/stress/workload.h"

enum { SLOTS = 600, STEPS = 12000, THREADS = 4 };

/* A policy, over one of the native allocators if it goes there. */
struct arm {
    unsigned policy;
    char native[12];
};

static struct criterion_test_params each_arm(void)
{
    static const char *const natives[] = {"mmap", "libc", "mimalloc"};
    static struct arm arms[PAGE_POLICIES * ARRAY_LENGTH(natives)];
    size_t count = 0;
    for (unsigned i = 0; policies[i]; i++)
        for (unsigned j = 0; j < (policies[i]->on_native ? ARRAY_LENGTH(natives) : 1); j++) {
            arms[count].policy = i;
            strcpy(arms[count++].native, natives[j]);
        }
    return cr_make_param_array(struct arm, arms, count);
}

#define EACH_POLICY(promise)                                                                                           \
    ParameterizedTestParameters(promises, promise)                                                                     \
    {                                                                                                                  \
        return each_arm();                                                                                             \
    }                                                                                                                  \
    ParameterizedTest(struct arm *arm, promises, promise, .timeout = 120)

static const struct policy *policy;
static struct slot slots[SLOTS];
static size_t most; // bytes of the workload's largest blocks

static void start(const struct arm *arm)
{
    char route[64], native[64];
    policy = policies[arm->policy];
    snprintf(route, sizeof(route), "POOL_POLICY=%s", policy->name);
    snprintf(native, sizeof(native), "POOL_NATIVE=%s", arm->native);
    start_core(route, native, "POOL_TRIM=off", NULL);
    most = min_size(policy->largest, KiB(300));
    fprintf(stderr, "%s, %s\n", route, native); // shown with a failure
}

static const char *steps(struct slot *table, unsigned count, uint64_t seed)
{
    const char *fault = NULL;
    for (unsigned i = 0; i < STEPS && !fault; i++)
        fault = slot_step(&table[draw(&seed) % count], &seed, most);
    return fault;
}

static const char *release_all(struct slot *table, unsigned count)
{
    const char *fault = NULL;
    for (unsigned i = 0; i < count && !fault; i++)
        fault = slot_release(&table[i]);
    return fault;
}

static uint64_t stored_in_all(void)
{
    uint64_t blocks = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        blocks += policy->stored(class);
    return blocks;
}

#define CHECK_CONSISTENT()                                                                                             \
    do {                                                                                                               \
        const char *fault = settled_fault();                                                                           \
        cr_assert_null(fault, "%s: %s", policy->name, fault);                                                          \
    } while (0)
#define CHECK_FAULTLESS(call)                                                                                          \
    do {                                                                                                               \
        const char *faultless_text = (call);                                                                           \
        cr_assert_null(faultless_text, "%s: %s", policy->name, faultless_text);                                        \
    } while (0)

Test(promises, every_slot_is_filled_and_every_name_is_its_own)
{
    for (unsigned i = 0; policies[i]; i++) {
        const struct policy *one = policies[i];
        struct route route;
        char why[200];
        cr_assert(one->name && one->summary && one->largest && one->block_size && one->bin_capacity && one->start &&
                  one->refill && one->spill && one->leave && one->trim && one->stored && one->forked);
        cr_assert_leq(strlen(one->name), sizeof(page->policies[0].name) - 1);
        for (const char *c = one->name; *c; c++)
            cr_assert(islower(*c) || *c == '-', "%s", one->name);
        cr_assert_geq(strlen(one->summary), 10);
        cr_assert(route_parse(one->name, &route, why, sizeof(why)), "%s", why);
        cr_assert_eq(route.rules[0].policy, one);
        for (unsigned j = 0; j < i; j++)
            cr_assert_str_neq(one->name, policies[j]->name);
        for (unsigned j = 0; route_presets[j].name; j++)
            cr_assert_str_neq(one->name, route_presets[j].name);
        cr_assert_lt(i, PAGE_POLICIES);
    }
}

EACH_POLICY(sizes_are_rounded_up_to_classes)
{
    start(arm);
    for (size_t size = 1; size <= min_size(policy->largest, MiB(64)); size += size / 37 + 1) {
        size_t block = policy->block_size(size);
        cr_assert_geq(block, size);
        cr_assert_eq(class_size(class_of(block)), block);
        cr_assert_eq(policy->block_size(block), block, "rounding is done once");
        cr_assert_eq(dispatch_policies[class_of(size)], policy);
    }
    if (policy->largest < CLASS_SIZE_MAX)
        cr_assert_str_eq(dispatch_policies[class_of(policy->largest + 1)]->name, "native");
}

EACH_POLICY(each_class_gives_distinct_aligned_blocks_of_its_size)
{
    enum { EACH = 12 };
    start(arm);
    for (unsigned class = CLASS_FIRST; class_size(class) <= min_size(policy->largest, MiB(2)); class ++) {
        size_t size = class_size(class), used = min_size(size, KiB(8));
        unsigned char *blocks[EACH];
        for (unsigned round = 0; round < 2; round++) {
            for (unsigned i = 0; i < EACH; i++) {
                cr_assert_not_null(blocks[i] = take(size - 7));
                cr_assert_eq((uintptr_t)blocks[i] % MALLOC_ALIGN, 0);
                cr_assert_geq(slow_usable(blocks[i]), policy->block_size(size));
                memset(blocks[i], (int)i + 1, used);
                blocks[i][size - 1] = (unsigned char)(i + 1);
            }
            for (unsigned i = 0; i < EACH; i++) {
                cr_assert(is_filled(blocks[i], (unsigned char)(i + 1), used) && blocks[i][size - 1] == i + 1,
                          "%s: class of %zu bytes", policy->name, size);
                give(blocks[i]);
            }
        }
    }
    CHECK_CONSISTENT();
}

EACH_POLICY(content_is_kept_and_numbers_are_right)
{
    uint64_t allocated, pooled, held = 0;
    start(arm);
    for (uint64_t seed = 1; seed < 4; seed++) {
        CHECK_FAULTLESS(steps(slots, SLOTS, seed));
        CHECK_CONSISTENT();
    }
    for (unsigned i = 0; i < SLOTS; i++)
        held += slots[i].block ? slow_usable(slots[i].block) : 0;
    process_levels(&allocated, &pooled);
    if (strcmp(arm->native, "libc") && strcmp(arm->native, "mimalloc")) // their blocks may have bytes beyond a class
        cr_assert_eq(allocated, held);
    CHECK_FAULTLESS(release_all(slots, SLOTS));
    process_levels(&allocated, &pooled);
    cr_assert_eq(allocated, 0);
    CHECK_CONSISTENT();
}

EACH_POLICY(bins_keep_their_bounds)
{
    start(arm);
    struct thread *self = self_now();
    for (uint64_t seed = 1; seed < 30; seed++) {
        for (unsigned i = 0; i < 400; i++)
            CHECK_FAULTLESS(slot_step(&slots[draw(&seed) % SLOTS], &seed, most));
        for (unsigned class = CLASS_FIRST; class <= self->top_class; class ++) {
            unsigned count = bin_count(self, class), capacity = bin_count_most(self, class);
            cr_assert(bin_check(self, class), "%s: class of %zu bytes", policy->name, class_size(class));
            cr_assert_leq(count, capacity);
            cr_assert_leq(bin_spare_count(self, class), max_size(capacity, 1));
            if (class_size(class) > CLASS_TABLE_MAX || dispatch_policies[class]->bin_capacity == policy_no_bin)
                cr_assert_eq(capacity, 0);
        }
    }
}

EACH_POLICY(leaving_empties_the_bins)
{
    start(arm);
    struct thread *self = self_now();
    CHECK_FAULTLESS(steps(slots, SLOTS, 5));
    for (unsigned class = CLASS_FIRST; class <= self->top_class; class ++) {
        bin_sync(self, class);
        dispatch_policies[class]->leave(self, class);
        cr_assert_eq(bin_count(self, class), 0);
        cr_assert_eq(bin_spare_count(self, class), 0);
        cr_assert_null(self->bins[class].head);
        cr_assert_eq(page->classes[class].levels.stored.now, (int64_t)(policy->stored(class) * class_size(class)));
    }
    CHECK_CONSISTENT();
    CHECK_FAULTLESS(steps(slots, SLOTS, 6));
    CHECK_CONSISTENT();
}

EACH_POLICY(trimming_under_pressure_gives_everything_back)
{
    start(arm);
    struct thread *self = self_now();
    for (unsigned round = 0; round < 2; round++) {
        CHECK_FAULTLESS(steps(slots, SLOTS, 7 + round));
        CHECK_FAULTLESS(release_all(slots, SLOTS));
        size_t bytes = 0, stored = 0;
        for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
            bin_empty(self, class);
            stored += policy->stored(class) * class_size(class);
            bytes += policy->trim(self, class, os_clock_coarse(), PRESSURE_FULL);
            cr_assert_eq(policy->stored(class), 0, "class of %zu bytes", class_size(class));
            cr_assert_eq(heap_blocks_out(class), 0, "class of %zu bytes", class_size(class));
            cr_assert_eq(page->classes[class].native_blocks, 0);
            cr_assert_eq(policy->trim(self, class, os_clock_coarse(), PRESSURE_FULL), 0, "nothing is left");
        }
        cr_assert_eq(bytes, stored, "it says what it gave");
        cr_assert_eq(page->total.held.now, 0);
        cr_assert_eq(page->total.stored.now, 0);
        CHECK_CONSISTENT();
    }
}

EACH_POLICY(no_function_changes_errno)
{
    start(arm);
    struct thread *self = self_now();
    errno = 4242;
    CHECK_FAULTLESS(steps(slots, SLOTS, 9));
    CHECK_FAULTLESS(release_all(slots, SLOTS));
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++) {
        policy->leave(self, class);
        policy->trim(self, class, os_clock_coarse(), PRESSURE_NONE);
        policy->trim(self, class, os_clock_coarse(), PRESSURE_FULL);
        policy->bin_capacity(self, class);
        policy->stored(class);
    }
    policy->forked();
    cr_assert_eq(errno, 4242);
}

/* ---- threads ---- */

static void *step_alone(void *number)
{
    static struct slot tables[THREADS][SLOTS];
    struct slot *table = tables[(uintptr_t)number];
    const char *fault = steps(table, SLOTS, (uintptr_t)number);
    return (void *)(uintptr_t)(fault ? fault : release_all(table, SLOTS));
}

EACH_POLICY(several_threads_at_once)
{
    pthread_t threads[THREADS];
    start(arm);
    for (unsigned round = 0; round < 2; round++) {
        for (uintptr_t i = 0; i < THREADS; i++)
            cr_assert_eq(pthread_create(&threads[i], NULL, step_alone, (void *)i), 0);
        for (unsigned i = 0; i < THREADS; i++) {
            void *fault;
            pthread_join(threads[i], &fault);
            CHECK_FAULTLESS((const char *)fault);
        }
        CHECK_CONSISTENT();
        cr_assert_eq(account_hidden(), 0, "the threads have left nothing in bins");
    }
    trim_all(self_now());
    cr_assert_eq(page->total.held.now, 0);
    cr_assert_eq(stored_in_all(), 0);
}

static void *free_them(void *unused)
{
    (void)unused;
    return (void *)(uintptr_t)release_all(slots, SLOTS);
}

EACH_POLICY(blocks_are_freed_on_another_thread)
{
    start(arm);
    for (uint64_t seed = 1; seed < 6; seed++) {
        CHECK_FAULTLESS(steps(slots, SLOTS, seed));
        CHECK_FAULTLESS((const char *)in_thread(free_them, NULL));
        CHECK_CONSISTENT();
    }
    struct class_counts counts;
    report_counts(page, REPORT_ALL_POLICIES, &counts);
    cr_assert_gt(counts.cross_thread_frees, 0);
}

/* ---- fork ---- */

static bool child_goes_on(void)
{
    process_forked();
    const char *fault = steps(slots, SLOTS, 11);
    fault = fault ? fault : release_all(slots, SLOTS);
    fault = fault ? fault : settled_fault();
    trim_all(self_now());
    fault = fault ? fault : settled_fault();
    if (fault)
        fprintf(stderr, "%s: child: %s\n", policy->name, fault);
    return !fault && stored_in_all() == 0 && page->total.held.now == 0;
}

EACH_POLICY(a_forked_child_goes_on)
{
    start(arm);
    CHECK_FAULTLESS(steps(slots, SLOTS, 10));
    in_thread(step_alone, NULL);
    cr_assert_eq(in_child(child_goes_on), 0);
    CHECK_FAULTLESS(steps(slots, SLOTS, 12));
    CHECK_CONSISTENT();
}

/*
 * Every row of policies.def keeps the same promises, whatever it decides. A policy that is added is tested here without a
 * line more.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include "../unit/started.h"
#include "interpose/mapping.h"
#include "interpose/span.h"
#include "interpose/trim.h"

enum { NAME = 32, LIVE = 300 };

struct row {
    char name[NAME];
};

static const size_t sizes[] = {1, 16, 100, 1000, 4096, 9000, 40000, 200000, 1 << 20, 3 << 20};

static struct row *rows(size_t *ret_count)
{
    size_t count = 0;
    while (policies[count])
        count++;
    struct row *all = cr_malloc(count * sizeof(*all));
    memset(all, 0, count * sizeof(*all));
    for (size_t i = 0; i < count; i++)
        strncpy(all[i].name, policies[i]->name, NAME - 1);
    *ret_count = count;
    return all;
}

static void free_rows(struct criterion_test_params *parameters)
{
    cr_free(parameters->params);
}

/* A parameterised test over the table. */
#define PER_POLICY(name)                                                                                               \
    ParameterizedTestParameters(conformance, name)                                                                     \
    {                                                                                                                  \
        size_t count;                                                                                                  \
        struct row *all = rows(&count);                                                                                \
        return cr_make_param_array(struct row, all, count, free_rows);                                                 \
    }                                                                                                                  \
    ParameterizedTest(struct row *row, conformance, name)

static const struct policy *start(const struct row *row)
{
    char setting[NAME + 16];
    snprintf(setting, sizeof(setting), "POOL_POLICY=%s", row->name);
    start_core(setting, NULL);
    return route_policy(&(struct route){.rules = {{dispatch_policies[CLASS_FIRST], SIZE_MAX}}, .count = 1}, 1);
}

PER_POLICY(fills_every_slot)
{
    const struct policy *policy = start(row);
    cr_assert_str_eq(policy->name, row->name);
    cr_assert_gt(strlen(policy->summary), 10);
    cr_assert_geq(policy->largest, OS_PAGE);
    cr_assert(policy->block_size && policy->bin_capacity && policy->start && policy->refill && policy->spill &&
              policy->leave && policy->trim && policy->stored && policy->forked);
    unsigned same = 0;
    for (unsigned i = 0; policies[i]; i++)
        same += strcmp(policies[i]->name, row->name) == 0;
    cr_assert_eq(same, 1, "the name is its own");
}

PER_POLICY(rounds_up_to_sizes_of_classes)
{
    const struct policy *policy = start(row);
    for (size_t size = 1; size <= policy->largest && size <= GiB(1); size = size * 5 / 4 + 1) {
        size_t rounded = policy->block_size(size);
        cr_assert_geq(rounded, size);
        cr_assert_eq(class_size(class_of(rounded)), rounded);
        cr_assert_eq(policy->block_size(rounded), rounded, "rounding is done once");
    }
}

PER_POLICY(gives_blocks_that_are_apart_aligned_and_large_enough)
{
    start(row);
    char *blocks[ARRAY_LENGTH(sizes)][8];
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++)
        for (unsigned k = 0; k < 8; k++) {
            blocks[i][k] = take(sizes[i]);
            cr_assert_not_null(blocks[i][k]);
            cr_assert_eq((uintptr_t)blocks[i][k] % MALLOC_ALIGN, 0);
            size_t usable = slow_usable(blocks[i][k]);
            cr_assert_geq(usable, sizes[i]);
            cr_assert_eq(class_size(class_of(usable)), usable, "usable is the size of a class");
            memset(blocks[i][k], (int)(i * 8 + k), usable);
        }
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++)
        for (unsigned k = 0; k < 8; k++) {
            cr_assert(is_filled(blocks[i][k], (unsigned char)(i * 8 + k), slow_usable(blocks[i][k])));
            give(blocks[i][k]);
        }
    cr_assert_null(settled_fault());
}

PER_POLICY(counts_each_allocation_and_free)
{
    start(row);
    void *blocks[LIVE];
    unsigned class = dispatch_class(1000);
    uint64_t before = live_now(class);
    for (unsigned turn = 0; turn < 5; turn++) {
        for (unsigned i = 0; i < LIVE; i++)
            blocks[i] = take(1000);
        cr_assert_eq(live_now(class) - before, LIVE);
        for (unsigned i = 0; i < LIVE; i++)
            give(blocks[i]);
        cr_assert_eq(live_now(class), before);
    }
    struct class_counts counts = counts_now(class);
    cr_assert_eq(counts.hits + counts.misses, counts.frees + before);
    cr_assert_null(settled_fault());
}

PER_POLICY(bins_stay_within_what_the_policy_allows)
{
    const struct policy *policy = start(row);
    struct thread *self = self_now();
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
        unsigned class = dispatch_class(sizes[i]);
        void *blocks[LIVE];
        unsigned many = sizes[i] > MiB(1) ? 4 : LIVE;
        for (unsigned k = 0; k < many; k++)
            blocks[k] = take(sizes[i]);
        for (unsigned k = 0; k < many; k++) {
            give(blocks[k]);
            cr_assert_leq(bin_count(self, class), bin_count_most(self, class));
            cr_assert_leq(bin_count_most(self, class), policy->bin_capacity(self, class) + 0u);
        }
        cr_assert(bin_check(self, class));
    }
}

PER_POLICY(keeps_nothing_after_a_full_trim)
{
    const struct policy *policy = start(row);
    void *blocks[LIVE];
    for (unsigned i = 0; i < LIVE; i++)
        blocks[i] = take(sizes[i % 9]);
    for (unsigned i = 0; i < LIVE; i++)
        give(blocks[i]);
    struct thread *self = thread_enter();
    trim_all(self);
    thread_leave(self);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        cr_assert_eq(policy->stored(class), 0);
        cr_assert_eq(bin_count(self, class) + bin_spare_count(self, class), 0);
        struct class_counts counts = counts_now(class);
        cr_assert_eq(counts.frees, counts.hits + counts.dropped + counts.trimmed);
    }
    cr_assert_eq(page->total.stored.now, 0);
    cr_assert_null(settled_fault());
}

static void *free_all(void *blocks)
{
    for (unsigned i = 0; i < LIVE; i++)
        give(((void **)blocks)[i]);
    return NULL;
}

PER_POLICY(takes_blocks_of_another_thread_and_counts_them)
{
    start(row);
    void *blocks[LIVE];
    for (unsigned i = 0; i < LIVE; i++)
        blocks[i] = take(500);
    in_thread(free_all, blocks);
    cr_assert_eq(counts_now(dispatch_class(500)).cross_thread_frees, LIVE);
    cr_assert_eq(live_now(dispatch_class(500)), 0);
    cr_assert_null(settled_fault());
}

static void *churn(void *argument)
{
    unsigned char *blocks[LIVE] = {NULL};
    uint64_t state = (uintptr_t)argument;
    for (unsigned i = 0; i < 20000; i++) {
        unsigned at = (unsigned)(draw(&state) % LIVE);
        size_t size = sizes[draw(&state) % 6];
        if (blocks[at] && blocks[at][0] != (unsigned char)at)
            return argument;
        give(blocks[at]);
        blocks[at] = take(size);
        blocks[at][0] = (unsigned char)at;
    }
    for (unsigned i = 0; i < LIVE; i++)
        give(blocks[i]);
    return NULL;
}

PER_POLICY(serves_several_threads_at_once)
{
    start(row);
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, churn, (void *)(i + 1)), 0);
    for (unsigned i = 0; i < 4; i++) {
        void *damaged;
        pthread_join(threads[i], &damaged);
        cr_assert_null(damaged);
    }
    for (unsigned i = 0; i < 6; i++)
        cr_assert_eq(live_now(dispatch_class(sizes[i])), 0);
    cr_assert_null(settled_fault());
}

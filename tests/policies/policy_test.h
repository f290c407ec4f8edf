/*
 * What the tests of single policies share: the policy by its name, blocks of one class by the dozen.
 */
#ifndef POOLMARK_POLICY_TEST_H
#define POOLMARK_POLICY_TEST_H

#include <criterion/criterion.h>

#include "tests/unit/started.h"

static inline const struct policy *policy_named(const char *name)
{
    for (unsigned i = 0; policies[i]; i++)
        if (strcmp(policies[i]->name, name) == 0)
            return policies[i];
    cr_assert_fail("no policy %s", name);
    return NULL;
}

static inline void take_many(void **blocks, unsigned count, size_t size)
{
    for (unsigned i = 0; i < count; i++)
        cr_assert_not_null(blocks[i] = take(size));
}

static inline void give_many(void **blocks, unsigned count)
{
    for (unsigned i = 0; i < count; i++)
        give(blocks[i]);
}

/* The rest of the caller's run goes to the program: what comes next is from pools, or new from the heap. */
static inline void use_up_run(size_t size)
{
    unsigned class = class_of(size);
    while (run_blocks(&self_now()->books[class].run, class_size(class)))
        cr_assert_not_null(take(size));
}

/* Looks at the class as the clock does. */
static inline size_t trim_idle(const struct policy *policy, unsigned class)
{
    return policy->trim(self_now(), class, os_clock_coarse(), PRESSURE_NONE);
}

static inline void check_consistent(void)
{
    const char *fault = settled_fault();
    cr_assert_null(fault, "%s", fault);
}

#endif

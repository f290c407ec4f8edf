/*
 * Filling the tables of dispatch.h. A policy may round requests further up than to the next class (block_size): the
 * class that results is what the block has from then on.
 */
#include "dispatch.h"

#include "chunk.h"
#include "counters.h"
#include "span.h"

uint16_t dispatch_bins[DISPATCH_SLOTS];
const struct policy *dispatch_policies[CLASS_COUNT];

static uint8_t rounded[CLASS_COUNT]; // fixed after start: class of a request's class

static unsigned policy_index(const struct policy *policy)
{
    unsigned index = 0;
    while (policies[index] != policy)
        index++;
    return index;
}

static void fill_policies(const struct route *route)
{
    for (unsigned i = 0; policies[i] && i < PAGE_POLICIES; i++) {
        strncpy(page->policies[i].name, policies[i]->name, sizeof(page->policies[i].name) - 1);
        page->policy_count = i + 1;
    }
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        const struct policy *policy = route_policy(route, class_size(class));
        dispatch_policies[class] = policy;
        page->class_policy[class] = (uint8_t)policy_index(policy);
        page->policies[page->class_policy[class]].asked++;
    }
}

/* What was allocated before there was a route belongs to the policies that now have its classes. */
static void assign_levels(void)
{
    for (unsigned i = 0; i < PAGE_POLICIES; i++)
        memset(&page->policies[i].levels, 0, sizeof(page->policies[i].levels));
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++) {
        const struct level *held = &page->classes[class].levels.held;
        struct level *of_policy = &page->policies[page->class_policy[class]].levels.held;
        of_policy->now += held->now;
        of_policy->bound += held->bound;
    }
}

void dispatch_start(const struct route *route)
{
    fill_policies(route);
    assign_levels();
    for (unsigned i = 0; policies[i]; i++)
        policies[i]->start();
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        rounded[class] = (uint8_t)class_of(dispatch_policies[class]->block_size(class_size(class)));
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        if (rounded[class] != class)
            hint_set(page->classes[rounded[class]].odd, 1);
    unsigned class = CLASS_FIRST;
    for (unsigned i = 0; i < DISPATCH_SLOTS; i++) {
        if ((size_t)i * 16 > class_size(class))
            class ++;
        hint_set(dispatch_bins[i], (uint16_t)(rounded[class] << BIN_SHIFT));
    }
}

unsigned dispatch_class_untabled(size_t size)
{
    unsigned class = class_of(size);
    return rounded[class] ? rounded[class] : class;
}

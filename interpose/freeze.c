/*
 * Freezing: one pass over a page that may be moving.
 *
 * A dump adds the same counts up several times, for classes, policies and the whole. Over a moving page the sums would
 * differ and the dump contradict itself; over a copy they cannot.
 */
#include "freeze.h"

static struct {
    struct page page;
    struct shard shard;
} frozen __attribute__((aligned(CACHE_LINE)));

/* Makes counts agree that were read while they changed: no more than what came before allows. */
static void settle(struct class_counts *counts)
{
    uint64_t allocs = counts->hits + counts->misses;
    if (counts->frees > allocs)
        counts->frees = allocs;
    uint64_t given_back = counts->dropped + counts->trimmed;
    if (given_back > counts->frees) {
        counts->dropped = counts->frees < counts->dropped ? counts->frees : counts->dropped;
        counts->trimmed = counts->frees - counts->dropped;
        given_back = counts->frees;
    }
    if (counts->hits > counts->frees - given_back) {
        uint64_t excess = counts->hits - (counts->frees - given_back);
        counts->hits -= excess;
        counts->misses += excess;
    }
}

/* Copies what is in use: the rest of a page is never touched, and a copy of it would be resident memory. */
static void copy_page(void)
{
    struct page *to = &frozen.page;
    memcpy(to, page, offsetof(struct page, policies));
    memcpy(to->policies, page->policies, to->policy_count * sizeof(to->policies[0]));
    memcpy(to->settings, page->settings, to->setting_count * sizeof(to->settings[0]));
    memcpy(to->warnings, page->warnings, to->warning_count * sizeof(to->warnings[0]));
    memcpy(to->timeline, page->timeline, to->tick_count * sizeof(to->timeline[0]));
}

static void copy_class(unsigned class)
{
    const struct page_class *from = &page->classes[class];
    struct class_counts counts;
    counters_sum(page, class, &counts);
    if (!counts.misses && !hint_get(from->levels.held.bound) && !hint_get(from->levels.stored.bound))
        return;
    frozen.shard.classes[class] = counts;
    frozen.page.classes[class] = *from;
}

const struct page *page_freeze(void)
{
    if (__libc_single_threaded)
        return page; // nobody moves it
    uint32_t threads = hint_get(page->threads_now);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        copy_class(class);
    copy_page();
    frozen.page.shard_offset = (size_t)((char *)&frozen.shard - (char *)&frozen.page);
    frozen.page.shard_count = frozen.page.shards_used = 1;
    frozen.page.unsettled |= threads > 1 || frozen.page.threads_now > 1;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT && frozen.page.unsettled; class ++)
        if (frozen.shard.classes[class].misses)
            settle(&frozen.shard.classes[class]);
    return &frozen.page;
}

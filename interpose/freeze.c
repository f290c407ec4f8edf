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

const struct page *page_freeze(void)
{
    uint32_t threads = hint_get(page->threads_now);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts *counts = &frozen.shard.classes[class];
        counters_sum(page, class, counts);
        settle(counts);
    }
    memcpy(&frozen.page, page, sizeof(frozen.page));
    frozen.page.shard_offset = (size_t)((char *)&frozen.shard - (char *)&frozen.page);
    frozen.page.shard_count = frozen.page.shards_used = 1;
    frozen.page.unsettled |= threads > 1 || frozen.page.threads_now > 1;
    return &frozen.page;
}

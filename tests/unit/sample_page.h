/*
 * A page with fixed numbers that fit together, for the tests of what renders pages.
 */
#ifndef POOLMARK_SAMPLE_PAGE_H
#define POOLMARK_SAMPLE_PAGE_H

#include "interpose/counters.h"

enum { SAMPLE_SHARDS = 2, SAMPLE_OFFSET = (sizeof(struct page) + 4095) / 4096 * 4096 };

struct sample_class {
    size_t size;
    unsigned policy;
    struct class_counts counts; // split over both shards
    int64_t bins, peak, bound, pooled_peak;
    uint64_t heap_blocks, native_blocks;
};

static const struct sample_class sample_classes[] = {
    {64, 0, {900, 100, 990, 30, 5, 5, 5000, 100}, 1024, 32000, 33024, 6400, 90, 0},
    {4096, 0, {5000000, 2000, 5001900, 0, 1000, 400, 7600000, 2000}, 8192, 4096000, 4128768, 2048000, 600, 0},
    {65536, 1, {0, 40, 39, 0, 39, 0, 2600000, 40}, 0, 524288, 524288, 0, 0, 1},
    {2097152, 2, {0, 3, 3, 0, 3, 0, 6000000, 3}, 0, 4194304, 4194304, 0, 0, 0},
};

static inline void sample_setting(struct page *page, const char *name, const char *value, enum setting_source source)
{
    struct page_setting *setting = &page->settings[page->setting_count++];
    strcpy(setting->name, name);
    strcpy(setting->value, value);
    setting->source = source;
}

static inline void sample_add_class(struct page *page, const struct sample_class *sample)
{
    unsigned class = class_of(sample->size);
    struct page_class *at = &page->classes[class];
    const struct class_counts *counts = &sample->counts;
    struct class_counts *first = &page_shard(page, 0)->classes[class], *second = &page_shard(page, 1)->classes[class];
    *first = *counts;
    first->hits -= second->hits = counts->hits / 3;
    first->frees -= second->frees = counts->frees / 2;
    int64_t live = (int64_t)(counts->hits + counts->misses - counts->frees) * (int64_t)sample->size;
    at->levels.held = (struct level){live + sample->bins, sample->peak, sample->bound, 2000000000};
    at->levels.stored = (struct level){0, sample->pooled_peak, sample->pooled_peak, 3000000000};
    at->heap_blocks = sample->heap_blocks;
    at->native_blocks = sample->native_blocks;
    page->total.held.now += live + sample->bins;
}

static inline void sample_add_policies(struct page *page)
{
    static const struct page_policy policies[] = {
        {"thread", {{0, 4128000, 4161792, 2000000000}, {0, 2054400, 2054400, 3000000000}}, 12, 40},
        {"array", {{0, 524288, 524288, 1500000000}, {0, 0, 0, 0}}, 0, 20},
        {"native", {{0, 4194304, 4194304, 1000000000}, {0, 0, 0, 0}}, 0, 148},
    };
    memcpy(page->policies, policies, sizeof(policies));
    page->policy_count = ARRAY_LENGTH(policies);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        page->class_policy[class] = class_size(class) <= KiB(32) ? 0 : class_size(class) <= MiB(1) ? 1 : 2;
    for (unsigned i = 0; i < ARRAY_LENGTH(sample_classes); i++)
        sample_add_class(page, &sample_classes[i]);
}

/* A fresh sample: static memory, overwritten by the next call. */
static inline struct page *sample_page(void)
{
    static char memory[SAMPLE_OFFSET + SAMPLE_SHARDS * sizeof(struct shard)] __attribute__((aligned(4096)));
    memset(memory, 0, sizeof(memory));
    struct page *page = (struct page *)memory;
    memcpy(page->magic, PAGE_MAGIC, sizeof(page->magic));
    page->layout = PAGE_LAYOUT;
    page->shard_count = page->shards_used = SAMPLE_SHARDS;
    page->shard_offset = SAMPLE_OFFSET;
    page->shard_size = sizeof(struct shard);
    page->pid = 4242;
    page->ppid = 4200;
    page->end = END_EXIT;
    page->end_detail = 3;
    page->start_real = 1796077768123456789;
    page->updated = 12345678901;
    strcpy(page->version, "0.1.0");
    strcpy(page->program, "sort");
    strcpy(page->host, "alder");
    strcpy(page->route, "thread:32K,array:1M,native");
    memcpy(page->argv, "sort\0-n\0big file.txt", 21);
    page->argc = 3;
    page->class_count = CLASS_COUNT;
    page->threads_now = 1;
    page->threads_peak = 4;
    page->threads_ended = 3;
    page->hidden = 65536;
    sample_add_policies(page);
    page->total.held.peak = 8232960;
    page->total.held.bound = 8300000;
    page->total.held.peak_at = 2000000000;
    page->total.stored = (struct level){0, 2054400, 2060000, 3000000000};
    page->mapped = (struct level){8388608, 12582912, 12582912, 2500000000};
    page->resident = (struct level){9437184, 11534336, 11534336, 0};
    sample_setting(page, "POOL_POLICY", "thread:32K,array:1M,native", SOURCE_ENV);
    sample_setting(page, "POOL_NATIVE", "mimalloc", SOURCE_DEFAULT);
    sample_setting(page, "POOL_TRIM", "5s", SOURCE_LIVE);
    strcpy(page->warnings[page->warning_count++], "POOL_DEPHT is no setting; did you mean POOL_ARRAY_DEPTH?");
    page->timeline[page->tick_count++] = (struct page_tick){1000000000, 4194304, 0, 8388608};
    page->timeline[page->tick_count++] = (struct page_tick){2000000000, 8000000, 2000000, -1};
    return page;
}

#endif

/*
 * The page: its fixed parts, shards that pass on with their numbers, levels, and its move into a file and back.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <sys/mman.h>

#include "interpose/counters.h"
#include "interpose/os.h"
#include "started.h"

TestSuite(counters, .init = counters_start);

Test(counters, page_says_what_it_is)
{
    cr_assert_eq(memcmp(page->magic, PAGE_MAGIC, sizeof(page->magic)), 0);
    cr_assert_eq(page->layout, PAGE_LAYOUT);
    cr_assert_eq(page->class_count, CLASS_COUNT);
    cr_assert_eq(page->shard_size, sizeof(struct shard));
    cr_assert_eq(page->shard_count, PAGE_SHARDS);
    cr_assert_eq(page->shards_used, 1);
    cr_assert_geq(page->shard_offset, sizeof(struct page));
    cr_assert_geq(counters_bytes(), page->shard_offset + page->shard_count * page->shard_size);
    cr_assert_str_eq(page->version, POOLMARK_VERSION);
    cr_assert_gt(page->start_clock, 0);
    cr_assert_gt(page->start_real, 0);
    cr_assert_lt(counters_clock(), 3600000000000u, "since the start");
}

Test(counters, layout_does_not_drift_unseen)
{
    // a reader of another build finds these by its own header: whoever moves them raises PAGE_LAYOUT
    cr_assert_eq(sizeof(struct class_counts), CACHE_LINE);
    cr_assert_eq(sizeof(struct shard), CACHE_LINE * (CLASS_COUNT + 1));
    cr_assert_eq(sizeof(struct level), 32);
    cr_assert_eq(offsetof(struct page, magic), 0);
    cr_assert_eq(offsetof(struct page, layout), 8);
}

static struct shard *take_shard(void)
{
    bool shared;
    return counters_shard(&shared);
}

Test(counters, shard_passes_on_with_its_numbers)
{
    bool shared = true;
    struct shard *one = counters_shard(&shared), *two = take_shard();
    cr_assert_not(shared);
    cr_assert_neq(one, two);
    cr_assert_neq(one, page_shard(page, 0), "the first is nobody's");
    one->classes[5].hits = 7;
    one->alive = 0;
    cr_assert_eq(take_shard(), one);
    cr_assert_eq(one->owners, 2);
    cr_assert_eq(one->classes[5].hits, 7);
    cr_assert_eq(page->shards_used, 3);
}

Test(counters, more_threads_than_shards_share_the_last)
{
    struct shard *last = page_shard(page, PAGE_SHARDS - 1);
    bool shared;
    for (unsigned i = 1; i < PAGE_SHARDS + 3; i++) {
        struct shard *shard = counters_shard(&shared);
        cr_assert_eq(shared, i >= PAGE_SHARDS - 1);
        cr_assert_eq(shard, shared ? last : page_shard(page, i));
        shard->classes[CLASS_COUNT - 1].frees++;
        if (shared)
            shard->alive--; // who shares it leaves it to the others
    }
    cr_assert_eq(page->shards_used, PAGE_SHARDS);
    struct class_counts sum;
    counters_sum(page, CLASS_COUNT - 1, &sum);
    cr_assert_eq(sum.frees, PAGE_SHARDS + 2);
    page_shard(page, 5)->alive = 0;
    cr_assert_eq(counters_shard(&shared), page_shard(page, 5), "one's own as soon as there is one");
    cr_assert_not(shared);
}

Test(counters, sum_is_over_all_shards_and_counters)
{
    uint64_t value = 1;
    for (unsigned i = 0; i < 3; i++) {
        struct class_counts *counts = &take_shard()->classes[9];
#define COUNTER(name, unit, meaning) counts->name = value++;
#include "interpose/counters.def"
#undef COUNTER
    }
    uint64_t names = (value - 1) / 3, expected = 3 * names + 3;
    struct class_counts sum = {.hits = 12345};
    counters_sum(page, 9, &sum);
#define COUNTER(name, unit, meaning)                                                                                   \
    cr_assert_eq(sum.name, expected, #name);                                                                           \
    expected += 3;
#include "interpose/counters.def"
#undef COUNTER
    counters_sum(page, 8, &sum);
    cr_assert_eq(sum.hits, 0, "of this class only");
}

Test(counters, peaks_only_rise_and_bound_is_never_below)
{
    struct level level = {0};
    level_peak(&level, 100, 120);
    cr_assert_eq(level.peak, 100);
    cr_assert_eq(level.bound, 120);
    level_peak(&level, 90, 110);
    cr_assert_eq(level.peak, 100);
    cr_assert_eq(level.bound, 120);
    level_peak(&level, 150, 140);
    cr_assert_eq(level.peak, 150);
    cr_assert_eq(level.bound, 150);
    level_add(&level, 5);
    level_add(&level, -7);
    cr_assert_eq(level.now, -2);
}

static struct level shared_level;

static void *add_many(void *number)
{
    for (int64_t i = 0; i < 50000; i++) {
        level_add(&shared_level, i % 2 ? -3 : 4);
        level_peak(&shared_level, i * 4 + (int64_t)(uintptr_t)number, 0);
    }
    return NULL;
}

Test(counters, levels_are_exact_under_threads)
{
    pthread_t threads[4];
    for (uintptr_t i = 0; i < 4; i++)
        cr_assert_eq(pthread_create(&threads[i], NULL, add_many, (void *)i), 0);
    for (unsigned i = 0; i < 4; i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(shared_level.now, 4 * 25000);
    cr_assert_eq(shared_level.peak, 49999 * 4 + 3);
    cr_assert_eq(shared_level.bound, shared_level.peak);
}

Test(counters, warnings_are_said_once_cut_and_bounded)
{
    char line[400], number[] = "warning A";
    memset(line, 'x', sizeof(line) - 1);
    line[sizeof(line) - 1] = '\0';
    counters_warn("one");
    counters_warn("one");
    counters_warn(line);
    counters_warn(line);
    cr_assert_eq(page->warning_count, 2);
    cr_assert_str_eq(page->warnings[0], "one");
    cr_assert_eq(strlen(page->warnings[1]), sizeof(page->warnings[0]) - 1);
    for (; number[8] <= 'Z'; number[8]++)
        counters_warn(number);
    cr_assert_eq(page->warning_count, PAGE_WARNINGS);
    cr_assert_str_eq(page->warnings[PAGE_WARNINGS - 1], "warning N");
}

/* ---- in a file ---- */

static int page_file(void)
{
    int fd = memfd_create("page", MFD_CLOEXEC);
    cr_assert_eq(ftruncate(fd, (off_t)counters_bytes()), 0);
    return fd;
}

static uint64_t hits_in_file(int fd, unsigned shard)
{
    uint64_t hits = 0;
    off_t at = (off_t)(page->shard_offset + shard * page->shard_size + offsetof(struct shard, classes[3].hits));
    cr_assert_eq(pread(fd, &hits, sizeof(hits), at), (ssize_t)sizeof(hits));
    return hits;
}

Test(counters, shared_page_keeps_address_and_content)
{
    struct page *before = page;
    struct shard *shard = take_shard();
    shard->classes[3].hits = 11;
    int fd = page_file();
    cr_assert(counters_share(fd));
    cr_assert_eq(page, before);
    cr_assert_eq(shard->classes[3].hits, 11);
    cr_assert_eq(hits_in_file(fd, 1), 11);
    shard->classes[3].hits = 12;
    cr_assert_eq(hits_in_file(fd, 1), 12, "the file follows");
    for (unsigned i = 2; i < 40; i++)
        take_shard()->classes[3].hits = i;
    cr_assert_eq(hits_in_file(fd, 39), 39, "shards made later too");
}

Test(counters, page_is_private_again)
{
    counters_unshare();
    struct shard *shard = take_shard();
    int fd = page_file();
    cr_assert(counters_share(fd));
    shard->classes[3].hits = 12;
    counters_unshare();
    cr_assert_eq(shard->classes[3].hits, 12);
    shard->classes[3].hits = 13;
    cr_assert_eq(hits_in_file(fd, 1), 12);
    take_shard()->classes[3].hits = 1;
    cr_assert_eq(page->shards_used, 3);
}

Test(counters, file_that_cannot_be_mapped_changes_nothing)
{
    char path[] = "/tmp/test-counters-XXXXXX";
    int fd = mkstemp(path), readable = open(path, O_RDONLY);
    unlink(path);
    cr_assert_eq(ftruncate(fd, (off_t)counters_bytes()), 0);
    take_shard()->classes[3].hits = 5;
    cr_assert_not(counters_share(readable));
    cr_assert_not(counters_share(-1));
    cr_assert_eq(page_shard(page, 1)->classes[3].hits, 5);
    cr_assert_eq(hits_in_file(fd, 1), 0);
}

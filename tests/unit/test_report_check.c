/*
 * What the dump says about itself: numbers that do not fit together are named, blocks in flight are not, and a pool
 * that never acted is warned of.
 */
#include "rendered.h"

static const char *inconsistency(const struct page *page)
{
    static char buffer[128];
    return report_inconsistency(page, buffer, sizeof(buffer));
}

Test(report_check, sample_is_consistent)
{
    cr_assert_null(inconsistency(sample_page()));
}

Test(report_check, broken_numbers_are_named)
{
    struct page *page = sample_page();
    sample_counts(page, 64)->frees += 11;
    cr_assert_str_eq(inconsistency(page), "frees <= allocs in class 64");
    page = sample_page();
    sample_counts(page, 64)->dropped += 81;
    cr_assert_str_eq(inconsistency(page), "hits + dropped + trimmed <= frees in class 64");
    page = sample_page();
    page->classes[class_of(4096)].heap_blocks--;
    cr_assert_str_eq(inconsistency(page), "heap + native blocks = allocated + pooled blocks in class 4096");
    page = sample_page();
    page->classes[class_of(65536)].levels.stored.peak = 1;
    cr_assert_str_eq(inconsistency(page), "pooled peak <= its bound in class 65536");
    page = sample_page();
    page->policies[1].levels.held.bound = 1;
    cr_assert_str_eq(inconsistency(page), "allocated peak <= its bound");
    page = sample_page();
    page->total.held.now += 16;
    cr_assert_str_eq(inconsistency(page), "bytes held in all = sum over classes");
    page = sample_page();
    page->broken = 3;
    cr_assert_str_eq(inconsistency(page), "a check of the heap failed in the process, number 3");
}

Test(report_check, inconsistent_dump_says_so_everywhere)
{
    struct page *page = sample_page();
    sample_counts(page, 64)->frees += 11;
    cr_assert(strstr(render(page, REPORT_JSON), "\"consistent\": false,\n"
                                                "  \"inconsistency\": \"frees <= allocs in class 64\",\n"));
    cr_assert(strstr(render(page, REPORT_TEXT), "INCONSISTENT"));
    cr_assert(strstr(render(page, REPORT_PROM), "poolmark_consistent{program=\"sort\",pid=\"4242\"} 0\n"));
}

Test(report_check, blocks_in_flight_are_allowed_for)
{
    static const enum page_end ends[] = {END_RUNNING, END_SNAPSHOT, END_SIGNAL, END_EXIT};
    for (unsigned i = 0; i < ARRAY_LENGTH(ends); i++) {
        struct page *page = sample_page();
        page->end = ends[i];
        page->threads_now = ends[i] == END_EXIT ? 2 : 1;
        page->classes[class_of(4096)].heap_blocks--;
        page->total.held.now += 16;
        sample_counts(page, 64)->frees += 11; // one block more than was allocated
        cr_assert_null(inconsistency(page));
        sample_counts(page, 64)->frees += 65536 / 64; // but not more than bins can hide
        cr_assert_not_null(inconsistency(page));
    }
}

static void add_warning(void *context, const char *warning)
{
    strcat(strcat(context, warning), "|");
}

static const char *warnings_of(const struct page *page)
{
    static char text[8192];
    text[0] = 0;
    report_warnings(page, add_warning, text);
    return text;
}

Test(report_check, pool_without_a_hit_is_warned_of)
{
    struct page *page = sample_page();
    cr_assert_str_eq(warnings_of(page), "POOL_DEPHT is no setting; did you mean POOL_ARRAY_DEPTH?|"
                                        "pool `array` was asked for 20 classes and had no hit in 40 allocations|");
    sample_counts(page, 65536)->hits = 1;
    page->warning_count = 0;
    cr_assert_str_eq(warnings_of(page), "");
}

Test(report_check, blocks_of_the_parent_are_no_allocations)
{
    struct page *page = sample_page();
    page->warning_count = 0;
    page->inherited = 1;
    page->inherited_blocks = 40;
    cr_assert_str_eq(warnings_of(page), "");
    page->inherited_blocks = 39;
    cr_assert_str_eq(warnings_of(page), "pool `array` was asked for 20 classes and had no hit in 1 allocation|");
}

Test(report_check, unused_pool_is_warned_of_if_the_user_named_it)
{
    struct page *page = sample_page();
    page->warning_count = 0;
    memset(sample_counts(page, 65536), 0, sizeof(struct class_counts));
    memset(&page_shard(page, 1)->classes[class_of(65536)], 0, sizeof(struct class_counts));
    cr_assert_str_eq(warnings_of(page), "pool `array` was asked for 20 classes and was never used|");
    page->settings[0].source = SOURCE_DEFAULT;
    cr_assert_str_eq(warnings_of(page), "");
    page->settings[0].source = SOURCE_ENV;
    strcpy(page->settings[0].value, "thread:32K,array-classic,native");
    cr_assert_str_eq(warnings_of(page), "");
}

Test(report_check, killed_process_is_warned_of)
{
    struct page *page = sample_page();
    page->warning_count = 0;
    page->end = END_RUNNING;
    cr_assert(strstr(warnings_of(page), "as of each thread's last slow path"));
}

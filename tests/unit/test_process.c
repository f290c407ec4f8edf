/*
 * The process in its page: who it is, what bins have not yet told, how it ends, and what a forked child starts from.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <sys/utsname.h>

#include "interpose/dump.h"
#include "interpose/mapping.h"
#include "interpose/span.h"
#include "started.h"

enum { BLOCKS = 1200, THREADS = 3 };

static unsigned char *blocks[BLOCKS];
static size_t sizes[BLOCKS];

static void start(void)
{
    start_core("POOL_POLICY=thread:1K,array:64K,onecache", "POOL_NATIVE=mmap", "POOL_TRIM=off", NULL);
}

TestSuite(process, .init = start, .timeout = 120);

/* Allocates, and frees some of it, so that bins, runs, spares and stores all hold something. */
static void mix(uint64_t seed)
{
    for (unsigned i = 0; i < 20000; i++) {
        unsigned at = (unsigned)(draw(&seed) % BLOCKS);
        if (blocks[at]) {
            give(blocks[at]);
            blocks[at] = NULL;
        } else {
            sizes[at] = draw(&seed) % (draw(&seed) % 40 ? 1500 : KiB(100)) + 1;
            blocks[at] = take(sizes[at]);
            memset(blocks[at], (int)at, sizes[at]);
        }
    }
}

static bool contents_are_kept(void)
{
    for (unsigned i = 0; i < BLOCKS; i++)
        if (blocks[i] && !is_filled(blocks[i], (unsigned char)i, sizes[i]))
            return false;
    return true;
}

static uint64_t blocks_live(uint64_t *ret_bytes)
{
    uint64_t count = 0;
    *ret_bytes = 0;
    for (unsigned i = 0; i < BLOCKS; i++)
        if (blocks[i]) {
            count++;
            *ret_bytes += slow_usable(blocks[i]);
        }
    return count;
}

static void free_all(void)
{
    for (unsigned i = 0; i < BLOCKS; i++) {
        give(blocks[i]);
        blocks[i] = NULL;
    }
}

Test(process_at_start, says_who_it_is)
{
    char *arguments[] = {(char *)"/some/folder/program", (char *)"", (char *)"an argument", NULL};
    struct utsname host;
    start();
    page->argc = 0; // start_core has told already
    process_identify(3, arguments);
    uname(&host);
    cr_assert_eq(page->pid, (uint32_t)getpid());
    cr_assert_eq(page->ppid, (uint32_t)getppid());
    cr_assert_str_eq(page->program, "program");
    cr_assert_str_eq(page->host, host.nodename);
    cr_assert_eq(page->argc, 3);
    cr_assert_eq(memcmp(page->argv, "/some/folder/program\0\0an argument", 34), 0);
    cr_assert_eq(page->argv_cut, 0);
    cr_assert_gt(page->start_ticks, 0);
    cr_assert_eq(page->setting_count, OPTION_COUNT);
    cr_assert_str_eq(page->settings[OPTION_POOL_NATIVE].name, "POOL_NATIVE");
    cr_assert_str_eq(page->settings[OPTION_POOL_NATIVE].value, "mmap");
    cr_assert_eq(page->settings[OPTION_POOL_NATIVE].source, SOURCE_ENV);
    cr_assert_eq(page->settings[OPTION_POOL_LIVE].source, SOURCE_DEFAULT);
}

Test(process, arguments_that_do_not_fit_are_cut)
{
    static char long_one[PAGE_ARGV];
    memset(long_one, 'x', PAGE_ARGV - 10);
    char *arguments[] = {(char *)"dir/", long_one, (char *)"tail", NULL};
    page->argc = 0;
    process_identify(3, arguments);
    cr_assert_eq(page->argc, 2);
    cr_assert_eq(page->argv_cut, 1);
    cr_assert_str_eq(page->program, "dir/", "no name behind the last slash");
    page->argc = 0;
    process_identify(0, arguments + 3);
    cr_assert_str_eq(page->program, "unknown");
}

Test(process, settling_adds_what_bins_have_not_told_and_resuming_takes_it_back)
{
    const unsigned class = class_of(100);
    struct class_counts before, settled, after;
    give(take(100));
    counters_sum(page, class, &before);
    for (unsigned i = 0; i < 10; i++)
        give(take(100));
    process_settle();
    process_settle();
    counters_sum(page, class, &settled);
    process_resume();
    counters_sum(page, class, &after);
    cr_assert_eq(settled.hits, before.hits + 10);
    cr_assert_eq(settled.frees, 11);
    cr_assert_eq(memcmp(&before, &after, sizeof(after)), 0);
    cr_assert_eq(page->end, END_RUNNING);
}

Test(process_at_start, settling_changes_no_number_of_threads)
{
    start(); // the main thread has no block yet
    process_settle();
    process_resume();
    give(take(100));
    process_settle();
    cr_assert_eq(page->threads_now, 1);
    cr_assert_eq(page->threads_peak, 1);
}

Test(process, numbers_are_consistent_whatever_happened)
{
    uint64_t bytes, allocated, pooled;
    for (unsigned round = 0; round < 5; round++) {
        mix(round);
        cr_assert_null(settled_fault(), "round %u: %s", round, settled_fault());
        blocks_live(&bytes);
        process_levels(&allocated, &pooled);
        cr_assert_eq(allocated, bytes);
        cr_assert_gt(page->mapped.now, 0);
        cr_assert_gt(page->resident.peak, 0);
    }
    cr_assert(contents_are_kept());
    free_all();
    process_levels(&allocated, &pooled);
    cr_assert_eq(allocated, 0);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(process, end_is_stamped_and_dumped)
{
    char folder[] = "/tmp/test-process-XXXXXX", target[64], text[512] = "";
    cr_assert_not_null(mkdtemp(folder));
    snprintf(target, sizeof(target), "%s/dump.txt", folder);
    dump_start(target);
    mix(1);
    process_ends(END_SNAPSHOT, 0);
    cr_assert_eq(page->end, END_RUNNING);
    process_ends(END_EXIT, 3);
    cr_assert_eq(page->end, END_EXIT);
    cr_assert_eq(page->end_detail, 3);
    cr_assert_null(report_inconsistency(page, text, sizeof(text)), "%s", text);
    cr_assert_gt(os_read_file(target, text, sizeof(text)), 100);
    cr_assert_eq(strncmp(text, "poolmark: started, pid ", 23), 0);
    unlink(target);
    rmdir(folder);
}

/* ---- fork ---- */

static uint64_t inherited_blocks, inherited_bytes;

static bool child_is_right(void)
{
    uint64_t allocated, pooled;
    process_forked();
    process_levels(&allocated, &pooled);
    const char *fault = settled_fault();
    if (fault)
        fprintf(stderr, "child: %s\n", fault);
    bool right = !fault && page->pid == (uint32_t)getpid() && page->inherited && allocated == inherited_bytes &&
                 page->inherited_bytes == inherited_bytes && page->inherited_blocks >= inherited_blocks &&
                 page->warning_count == 0 && page->total.held.peak == (int64_t)inherited_bytes && contents_are_kept();
    mix(77);
    right = right && contents_are_kept() && !settled_fault();
    free_all();
    process_levels(&allocated, &pooled);
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++)
        right = right && span_check(class);
    fault = settled_fault();
    if (fault)
        fprintf(stderr, "child at its end: %s\n", fault);
    return right && allocated == 0 && !fault;
}

static bool child_and_grandchild_are_right(void)
{
    process_forked();
    mix(5);
    inherited_blocks = blocks_live(&inherited_bytes);
    return in_child(child_is_right) == 0 && !settled_fault();
}

Test(process, child_starts_from_what_it_inherited)
{
    counters_warn("the parent's");
    mix(1);
    inherited_blocks = blocks_live(&inherited_bytes);
    cr_assert_eq(in_child(child_is_right), 0);
    cr_assert_eq(in_child(child_and_grandchild_are_right), 0);
    cr_assert_eq(page->pid, (uint32_t)getpid());
    cr_assert_eq(page->inherited, 0);
    cr_assert(contents_are_kept());
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

static pthread_barrier_t barrier;

static void *fill_bins_and_wait(void *seed)
{
    unsigned char *mine[64];
    for (unsigned i = 0; i < 64; i++)
        mine[i] = take(i * 40 + (uintptr_t)seed);
    for (unsigned i = 0; i < 64; i++)
        give(mine[i]);
    pthread_barrier_wait(&barrier);
    pthread_barrier_wait(&barrier);
    return NULL;
}

Test(process, child_of_a_threaded_parent_counts_its_missing_threads_blocks_once)
{
    pthread_t threads[THREADS];
    pthread_barrier_init(&barrier, NULL, THREADS + 1);
    mix(1);
    for (uintptr_t i = 0; i < THREADS; i++)
        pthread_create(&threads[i], NULL, fill_bins_and_wait, (void *)i);
    pthread_barrier_wait(&barrier);
    inherited_blocks = blocks_live(&inherited_bytes);
    cr_assert_eq(in_child(child_is_right), 0);
    pthread_barrier_wait(&barrier);
    for (unsigned i = 0; i < THREADS; i++)
        pthread_join(threads[i], NULL);
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

/*
 * The ten lines are about one process, the one with the largest peak: peaks of different moments must not be added up.
 * The table below them has all processes of the tree, each with its own.
 */
#define _GNU_SOURCE
#include "tools/summary.h"

#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "interpose/report.h"
#include "tools/columns.h"
#include "tools/page_file.h"
#include "tools/paint.h"
#include "tools/text.h"

enum { FULLEST = 3, TREE_ROWS = 40, TREE_INDENT_MOST = 12, COMMAND_LINE = 160 };

static const char *plus_minus(void)
{
    return paint_unicode() ? "±" : "+-";
}

static void print_ending(const struct run *run, FILE *stream)
{
    int status = run->launch->status;
    if (!WIFSIGNALED(status)) {
        fprintf(stream, "exited with %d", WEXITSTATUS(status));
        return;
    }
    const char *signal = sigabbrev_np(WTERMSIG(status));
    fprintf(stream, "was ended by %s%s", signal ? "SIG" : "a signal", signal ? signal : "");
}

static void print_head(const struct run *run, const struct process *largest, const struct page *page, FILE *stream)
{
    const char *name = strrchr(run->words[0], '/');
    fprintf(stream, "%spoolmark: %s ", paint(stream, PAINT_TITLE), name ? name + 1 : run->words[0]);
    print_ending(run, stream);
    fprintf(stream, " after %s, route %s%s\n", text_seconds(run->launch->nanoseconds).s, page->route,
            paint(stream, PAINT_PLAIN));
    if (run->tree->count > 1)
        fprintf(stream, "  largest of %zu processes: %s, pid %u\n", run->tree->count, largest->program, largest->pid);
    if (page->end == END_RUNNING)
        fprintf(stream, "  as its counters last stood, %s after its start\n", text_seconds(page->updated).s);
}

static void print_level(FILE *stream, const char *name, const struct level *level)
{
    fprintf(stream, "  %-12s %10s  peak, %s %s, at %s\n", name, text_bytes(level->peak).s, plus_minus(),
            text_bytes(level->bound - level->peak).s, text_seconds(level->peak_at).s);
}

static void print_resident(const struct page *page, const struct report_row *total, FILE *stream)
{
    bool least;
    int64_t peak = page_file_resident(page, &least);
    fprintf(stream, "  %-12s %10s  peak", "resident", peak < 0 ? "-" : text_bytes(peak).s);
    if (peak < 0)
        fputs(": could not be read", stream);
    else if (least)
        fputs(" at least: the largest value seen before it was killed", stream);
    else if (total->allocated.peak > 0)
        fprintf(stream, ", %.2f times allocated (fragmentation)", (double)peak / (double)total->allocated.peak);
    fputc('\n', stream);
}

static void print_peaks(const struct page *page, FILE *stream)
{
    struct report_row total;
    report_total(page, &total);
    print_level(stream, "allocated", &total.allocated);
    print_resident(page, &total, stream);
    print_level(stream, "pooled", &total.pooled);
    fprintf(stream, "  %-12s %10s  of which %s came from a pool\n", "allocations", text_count(total.allocs).s,
            text_percent(total.hits, total.allocs).s);
}

/* Fills ret with the classes of the highest peaks, highest first; returns how many have one. */
static unsigned find_fullest(const struct page *page, unsigned ret[FULLEST])
{
    int64_t peaks[FULLEST] = {0};
    unsigned count = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct report_row row;
        report_class(page, class, &row);
        int64_t peak = row.allocated.peak;
        unsigned at = count < FULLEST ? count : FULLEST;
        while (at > 0 && peaks[at - 1] < peak)
            at--;
        if (peak <= 0 || at >= FULLEST)
            continue;
        for (unsigned i = FULLEST - 1; i > at; i--) {
            peaks[i] = peaks[i - 1];
            ret[i] = ret[i - 1];
        }
        peaks[at] = peak;
        ret[at] = class;
        count += count < FULLEST;
    }
    return count;
}

static void print_fullest(const struct page *page, FILE *stream)
{
    unsigned fullest[FULLEST], count = find_fullest(page, fullest);
    int64_t most = 0;
    if (count)
        fputs("  fullest size classes, at their peaks\n", stream);
    for (unsigned i = 0; i < count; i++) {
        struct report_row row;
        char bar[3 * TEXT_BAR + 1];
        report_class(page, fullest[i], &row);
        if (!i)
            most = row.allocated.peak;
        text_bar(bar, row.allocated.peak, most);
        fprintf(stream, "  %12s %10s  %s%s%s%*s %s\n", text_size(class_size(fullest[i])).s,
                text_bytes(row.allocated.peak).s, paint(stream, PAINT_BAR), bar, paint(stream, PAINT_PLAIN),
                (int)(TEXT_BAR - text_width(bar)), "", page->policies[page->class_policy[fullest[i]]].name);
    }
}

static void print_tree(const struct tree *tree, FILE *stream)
{
    struct columns table = {.count = 6,
                            .titles = {"process", "pid", "allocated", "resident", "pooled", "ended by"},
                            .right = 1 << 1 | 1 << 2 | 1 << 3 | 1 << 4};
    for (size_t i = 0; i < tree->count && i < TREE_ROWS; i++) {
        const struct process *p = &tree->processes[i];
        char name[128], ending[32];
        int indent = 2 * (int)(p->depth < TREE_INDENT_MOST ? p->depth : TREE_INDENT_MOST);
        snprintf(name, sizeof name, "%*s%s", indent + 2, "", p->program);
        columns_add(&table, (const char *[]){name, text_plain(p->pid).s, text_bytes(p->allocated).s,
                                             p->resident < 0 ? "-" : text_bytes(p->resident).s, text_bytes(p->pooled).s,
                                             process_ending(p, ending, sizeof ending)});
    }
    columns_print(&table, stream);
    if (tree->count > TREE_ROWS)
        fprintf(stream, "  and %zu more; --json has all\n", tree->count - TREE_ROWS);
}

static void print_next(const struct run *run, const struct page *page, FILE *stream)
{
    char line[COMMAND_LINE];
    bool native = !strcmp(page->route, "native");
    if (text_shell(line, sizeof line, run->words))
        fprintf(stream, "  next: poolmark run -p %s -- %s\n", native ? "balanced" : "native", line);
    else
        fprintf(stream, "  next: poolmark explain %s\n", page->route);
}

void summary_print(const struct run *run, FILE *stream)
{
    const struct process *largest = tree_largest(run->tree);
    struct page *page = tree_page(run->tree, largest);
    if (!page)
        return;
    print_head(run, largest, page, stream);
    print_peaks(page, stream);
    print_fullest(page, stream);
    if (run->tree->count > 1)
        print_tree(run->tree, stream);
    print_next(run, page, stream);
    free(page);
}

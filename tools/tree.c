/*
 * Only a few numbers per process are kept, so that a build with thousands of processes fits: a page is read again
 * when its details are wanted.
 */
#define _GNU_SOURCE
#include "tools/tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "interpose/report.h"
#include "tools/command.h"
#include "tools/page_file.h"
#include "tools/say.h"

enum { NO_PROCESS = -1 };

/* While the tree is put in order. */
struct links {
    int parent, first_child, next_sibling;
};

/* Whether the process still exists and is no zombie: the kernel's start time tells it from a later one of its pid. */
static bool is_running(uint32_t pid, uint64_t start_ticks)
{
    char path[32], text[1024];
    snprintf(path, sizeof path, "/proc/%u/stat", pid);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return false;
    ssize_t length = read(fd, text, sizeof text - 1);
    close(fd);
    if (length <= 0)
        return false;
    text[length] = '\0';
    const char *field = strrchr(text, ')'); // the program's name may hold anything
    if (!field || field[1] != ' ' || field[2] == 'Z' || field[2] == 'X')
        return false;
    for (unsigned i = 2; field && i < 22; i++)
        field = strchr(field + 1, ' ');
    return field && (!start_ticks || strtoull(field, NULL, 10) == start_ticks);
}

static void fill(struct process *ret, const struct page *page)
{
    struct report_row row;
    bool least;
    report_total(page, &row);
    *ret = (struct process){
        .pid = page->pid,
        .ppid = page->ppid,
        .image = page->image,
        .end = page->end,
        .end_detail = page->end_detail,
        .start_clock = page->start_clock,
        .start_real = page->start_real,
        .start_ticks = page->start_ticks,
        .allocated = row.allocated.peak,
        .allocated_error = row.allocated.bound - row.allocated.peak,
        .resident = page_file_resident(page, &least),
        .pooled = row.pooled.peak,
        .allocs = row.allocs,
        .hits = row.hits,
    };
    memcpy(ret->program, page->program, sizeof ret->program);
    ret->running = (page->end == END_RUNNING || page->end == END_SNAPSHOT) && is_running(page->pid, page->start_ticks);
}

static void add(struct tree *tree, const char *name)
{
    char why[128];
    struct page *page = page_file_read(tree->folder, name, why, sizeof why);
    if (!page) {
        say("%s is skipped: %s", name, why);
        return;
    }
    struct process *more = reallocarray(tree->processes, tree->count + 1, sizeof *more);
    if (!more)
        exit(say_failure("out of memory"));
    tree->processes = more;
    struct process *process = &more[tree->count++];
    fill(process, page);
    process->file = strdup(name);
    free(page);
}

static int compare_starts(const void *left, const void *right)
{
    const struct process *a = left, *b = right;
    if (a->start_clock != b->start_clock)
        return a->start_clock < b->start_clock ? -1 : 1;
    return (a->image > b->image) - (a->image < b->image);
}

/* The latest process before `index` with this pid: pids are used again. */
static int find_before(const struct tree *tree, int index, uint32_t pid)
{
    do
        index--;
    while (index >= 0 && tree->processes[index].pid != pid);
    return index;
}

/* An image's parent is that of its first image; else the parent is whoever had the ppid at the start. */
static int find_parent(const struct tree *tree, const struct links *links, int index)
{
    const struct process *process = &tree->processes[index];
    int earlier = find_before(tree, index, process->pid);
    if (earlier >= 0 && tree->processes[earlier].start_ticks == process->start_ticks)
        return links[earlier].parent;
    return find_before(tree, index, process->ppid);
}

static void place(struct tree *tree, const struct links *links, int index, unsigned depth, struct process *ret,
                  size_t *count)
{
    for (; index != NO_PROCESS; index = links[index].next_sibling) {
        ret[*count] = tree->processes[index];
        ret[(*count)++].depth = depth;
        place(tree, links, links[index].first_child, depth + 1, ret, count);
    }
}

/* Sorts by start, links children to parents, and writes them down parents first. */
static void put_in_order(struct tree *tree)
{
    size_t n = tree->count, placed = 0;
    if (n)
        qsort(tree->processes, n, sizeof tree->processes[0], compare_starts);
    struct links *links = calloc(n + 1, sizeof *links);
    struct process *ordered = calloc(n + 1, sizeof *ordered);
    if (!links || !ordered)
        exit(say_failure("out of memory"));
    int top = NO_PROCESS;
    for (size_t i = 0; i < n; i++)
        links[i] = (struct links){find_parent(tree, links, (int)i), NO_PROCESS, NO_PROCESS};
    for (size_t i = n; i-- > 0;) {
        int *list = links[i].parent == NO_PROCESS ? &top : &links[links[i].parent].first_child;
        links[i].next_sibling = *list;
        *list = (int)i;
    }
    place(tree, links, top, 0, ordered, &placed);
    free(tree->processes);
    free(links);
    tree->processes = ordered;
}

/* Drops what is not the root or below it: in the order of a tree, descendants follow at greater depth. */
static void keep_descendants(struct tree *tree, pid_t root, uint64_t since)
{
    size_t kept = 0;
    bool inside = false;
    unsigned root_depth = 0;
    for (size_t i = 0; i < tree->count; i++) {
        struct process *process = &tree->processes[i];
        if (process->pid == (uint32_t)root && process->start_real >= since) {
            inside = true;
            root_depth = process->depth;
        } else if (inside && process->depth <= root_depth) {
            inside = false;
        }
        if (!inside) {
            free(process->file);
            continue;
        }
        process->depth -= root_depth;
        tree->processes[kept++] = *process;
    }
    tree->count = kept;
}

bool tree_read(const char *folder, pid_t root, uint64_t since, struct tree *ret)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return say_no("%s: %s", folder, strerror(errno));
    *ret = (struct tree){.folder = fcntl(dirfd(directory), F_DUPFD_CLOEXEC, 3)};
    for (struct dirent *entry; (entry = readdir(directory));)
        if (page_file_is_name(entry->d_name))
            add(ret, entry->d_name);
    closedir(directory);
    put_in_order(ret);
    if (root > 0)
        keep_descendants(ret, root, since);
    return true;
}

void tree_free(struct tree *tree)
{
    for (size_t i = 0; i < tree->count; i++)
        free(tree->processes[i].file);
    free(tree->processes);
    close(tree->folder);
}

const struct process *tree_find(const struct tree *tree, pid_t pid)
{
    const struct process *found = NULL;
    for (size_t i = 0; i < tree->count; i++)
        if (tree->processes[i].pid == (uint32_t)pid && (!found || tree->processes[i].start_clock > found->start_clock))
            found = &tree->processes[i];
    return found;
}

const struct process *tree_largest(const struct tree *tree)
{
    const struct process *largest = tree->count ? &tree->processes[0] : NULL;
    for (size_t i = 1; i < tree->count; i++)
        if (tree->processes[i].allocated > largest->allocated)
            largest = &tree->processes[i];
    return largest;
}

struct page *tree_page(const struct tree *tree, const struct process *process)
{
    char why[128];
    return page_file_read(tree->folder, process->file, why, sizeof why);
}

const char *process_ending(const struct process *process, char *buffer, size_t size)
{
    static const char *const words[] = {[END_EXIT] = "exit", [END_QUICK] = "quick_exit", [END_NOW] = "_exit"};
    const char *signal = process->end == END_SIGNAL ? sigabbrev_np(process->end_detail) : NULL;
    if (process->end == END_SIGNAL)
        snprintf(buffer, size, signal ? "SIG%s" : "a signal", signal);
    else if (process->end == END_EXEC)
        snprintf(buffer, size, "exec");
    else if (process->end == END_RUNNING || process->end >= END_SNAPSHOT)
        snprintf(buffer, size, process->running ? "still running" : "killed");
    else if (process->end_detail >= 0)
        snprintf(buffer, size, "%s %d", words[process->end], process->end_detail);
    else
        snprintf(buffer, size, "%s", words[process->end]);
    return buffer;
}

/*
 * The processes of a run, from their page files, in the order of a tree: parents before children, the images of one
 * pid (exec) one after the other.
 */
#ifndef POOLMARK_TOOLS_TREE_H
#define POOLMARK_TOOLS_TREE_H

#include <sys/types.h>

#include "interpose/counters.h"

struct process {
    char *file; // name of the page file
    uint32_t pid, ppid, image;
    uint32_t end; // enum page_end
    int32_t end_detail;
    bool running; // has not ended and still exists
    uint64_t start_clock, start_real, start_ticks;
    char program[64];
    int64_t allocated, allocated_error, resident, pooled; // peaks; resident -1: not known
    uint64_t allocs, hits;
    unsigned depth; // 0 for the root and for those whose parent is not known
};

struct tree {
    int folder;
    size_t count;
    struct process *processes;
};

/*
 * Reads all page files of a folder. A file that cannot be used is said in one line and skipped. False if the folder
 * cannot be read, which has been said. `root` > 0 keeps only the processes that descend from it and started at
 * `since` (CLOCK_REALTIME, ns) or later: for a folder that other programs use too.
 */
bool tree_read(const char *folder, pid_t root, uint64_t since, struct tree *ret);
void tree_free(struct tree *tree);

/* The last image of a pid; NULL if there is none. */
const struct process *tree_find(const struct tree *tree, pid_t pid);

/* The process with the largest peak of allocated bytes; NULL in an empty tree. */
const struct process *tree_largest(const struct tree *tree);

/* The page of one process, to be freed; NULL if its file has gone. */
struct page *tree_page(const struct tree *tree, const struct process *process);

/* How a process ended, in a word or two: "exit 0", "SIGKILL", "still running". */
const char *process_ending(const struct process *process, char *buffer, size_t size);

#endif

/*
 * The page: all numbers of a process in one block of memory with a fixed layout.
 *
 * It lies in private memory, or with POOL_LIVE in a shared file that survives every end of the process. The dump is
 * this page rendered (report.h), by the same code in the process and in the tools that read a page file.
 *
 * Layout: struct page, then `shard_count` struct shard, of which the first `shards_used` are valid; the first holds what the last dump
 * saw in the bins of all threads (process.c). Each shard belongs
 * to one thread at a time, which alone writes it, with plain stores and on slow paths only; a shard passes on to the
 * next thread with its numbers, so nothing is ever lost or folded. Event counts are sums over shards. Levels (bytes
 * now and at the peak) are shared and kept by atomic additions, see level_add.
 *
 * Why levels have two peaks. Blocks that wait in a thread's bins come and go without anybody looking, so at any
 * moment  held - bins <= allocated <= held,  where `held` (what threads have in hand: allocated + bins) changes only
 * on slow paths and is exact. `peak` is the largest `allocated` that was really seen, `bound` the largest `held`: the
 * true peak lies between them, and the dump's `error` is their distance.
 *
 * A file is readable by this version only if `magic` and `layout` match.
 */
#ifndef POOLMARK_COUNTERS_H
#define POOLMARK_COUNTERS_H

#include "class.h"

#include <sys/single_threaded.h>

#define PAGE_MAGIC "poolmark"

enum {
    PAGE_LAYOUT = 2, // raised with every change of this header's structures
    PAGE_POLICIES = 16,
    PAGE_SETTINGS = 32,
    PAGE_WARNINGS = 16,
    PAGE_TIMELINE = 256,
    PAGE_SHARDS = 1024, // threads beyond share the last one
    PAGE_ARGV = 1024,
};

enum setting_source { SOURCE_DEFAULT, SOURCE_ENV, SOURCE_LIVE };

/* How the process ended, as far as it could say. */
enum page_end {
    END_RUNNING,  // still running, or killed without a word
    END_EXIT,     // exit or return from main; `end_detail` is the status where it is known, else -1
    END_QUICK,    // quick_exit
    END_NOW,      // _exit, _Exit
    END_EXEC,     // replaced by exec
    END_SIGNAL,   // a fatal signal; `end_detail` is its number
    END_SNAPSHOT, // rendered while running (POOL_SIGNAL)
};

/* One quantity in bytes: now, its peak as seen, the most it can have been, and when. */
struct level {
    int64_t now;      // any thread, atomic
    int64_t peak;     // any thread, atomic maximum: largest value seen
    int64_t bound;    // any thread, atomic maximum: no moment was above this
    uint64_t peak_at; // hint: nanoseconds since start
};

struct level_pair {
    struct level held;   // allocated + blocks waiting in bins; `peak` and `bound` are those of allocated
    struct level stored; // blocks in shared pools and threads' slots; `peak` and `bound` are those of pooled
};

#define COUNTER(name, unit, meaning) uint64_t name;
struct class_counts { // owner only; one cache line
#include "counters.def"
};
#undef COUNTER

struct shard {
    uint32_t owners; // threads that have had this shard
    uint32_t alive;  // 1 while a thread has it (more on the last one, which is shared)
    uint64_t padding[7];
    struct class_counts classes[CLASS_COUNT];
};

struct page_class {
    struct level_pair levels;
    uint64_t heap_blocks;   // blocks that the heap has handed out and not got back (the heap's own count)
    uint64_t native_blocks; // the same for the native allocator, with the credits of threads (bin.h)
    uint64_t credits;       // of a settled page: such credits
    uint64_t odd;           // 1: some requests were smaller than those of this class are (aligned, shrunk in place)
    uint64_t padding[4];
};

struct page_policy {
    char name[24];
    struct level_pair levels;
    uint64_t lock_waits; // any thread, atomic: times a thread slept for a lock of this policy
    uint64_t asked;      // classes that the route gives to it
};

struct page_setting {
    char name[28];
    uint32_t source; // enum setting_source
    char value[480]; // cut if longer
};

struct page_tick {
    uint64_t at; // nanoseconds since start
    int64_t allocated, pooled;
    int64_t resident; // -1: not known
};

struct page {
    char magic[8];
    uint32_t layout, shard_count;
    uint64_t shard_offset, shard_size; // bytes from the start of the page
    uint32_t pid, ppid;
    uint32_t end; // enum page_end
    int32_t end_detail;
    uint64_t start_clock; // CLOCK_MONOTONIC at start, ns
    uint64_t start_real;  // CLOCK_REALTIME at start, ns
    uint64_t start_ticks; // the kernel's start time of the process, clock ticks since boot (0: not known)
    uint64_t updated;     // ns since start of the last change that was stamped (a slow-path tick, the dump)
    char version[16], program[64], host[64];
    char route[256];         // the canonical route
    char argv[PAGE_ARGV];    // the arguments, each with its NUL, as many as fit
    uint32_t argc, argv_cut; // how many are in argv; whether some did not fit
    uint32_t policy_count, setting_count, warning_count, tick_count;
    uint32_t shards_used, class_count;
    uint32_t threads_now, threads_peak, threads_ended, image; // image: how many execs this pid has seen under us
    uint32_t inherited; // 1: a forked child; its counts begin with what it inherited
    uint32_t broken;    // an invariant of the heap that failed in the process, index + 1
    uint32_t unsettled; // of a dump: threads were at work meanwhile, some of their last events may be missing
    uint32_t padding;
    uint64_t tick_period; // ns between two ticks of the timeline; doubles when it is full; 0: nobody reads it
    struct level_pair total;
    struct level mapped;   // bytes that the library has from the kernel (resident or not), without native's
    struct level resident; // VmRSS and VmHWM; peak_at 0: not known
    uint64_t inherited_blocks, inherited_bytes; // of a forked child
    int64_t hidden;                             // most bytes that all bins of all threads together may hold unseen
    uint8_t class_policy[CLASS_COUNT];          // index in policies of the one that has the class; hint
    struct page_policy policies[PAGE_POLICIES];
    struct page_class classes[CLASS_COUNT];
    struct page_setting settings[PAGE_SETTINGS];
    char warnings[PAGE_WARNINGS][192];
    struct page_tick timeline[PAGE_TIMELINE];
};

/* This process's page; NULL before counters_start. */
HIDDEN extern struct page *page;

/* Makes the page, in private memory, with its constant parts filled. Once, before any other function. */
HIDDEN void counters_start(void);

/* Bytes of the page with all shards that it can have. */
HIDDEN size_t counters_bytes(void);

/*
 * Puts the page into an open file of counters_bytes() bytes, at the same address; what it holds is kept. False (and
 * nothing changed) if the file cannot be mapped or has no room: a full file system must not become a SIGBUS later.
 */
HIDDEN bool counters_share(int fd);

/* In a forked child: the page becomes private again, with the same content. */
HIDDEN void counters_unshare(void);

/*
 * A shard for a thread: one that nobody else has, or *ret_shared: the last one, to which several add atomically. Call
 * with the list of threads locked. Never NULL.
 */
HIDDEN struct shard *counters_shard(bool *ret_shared);

/*
 * Adds to a level that any thread may change. Without a locked instruction, which costs more than the rest of a slow path,
 * as long as glibc says that there is only one thread: false from the first pthread_create on.
 */
static inline void level_add(struct level *level, int64_t bytes)
{
    if (__libc_single_threaded)
        level->now += bytes;
    else if (bytes)
        __atomic_fetch_add(&level->now, bytes, __ATOMIC_RELAXED);
}

/* Records that a level's quantity was `seen` and cannot have been above `bound`. */
HIDDEN void level_peak(struct level *level, int64_t seen, int64_t bound);

/* One more warning line in the dump; said once. */
HIDDEN void counters_warn(const char *line);

/* Nanoseconds since the start of the process as the page knows it. */
HIDDEN uint64_t counters_clock(void);

static inline struct shard *page_shard(const struct page *from, unsigned index)
{
    return (struct shard *)((char *)from + from->shard_offset + (size_t)index * from->shard_size);
}

/*
 * Adds up one class over all shards. `ret` is overwritten. Any thread; concurrent writers make it a snapshot that is
 * exact per counter and may be some events apart between counters.
 */
HIDDEN void counters_sum(const struct page *from, unsigned class, struct class_counts *ret);

#endif

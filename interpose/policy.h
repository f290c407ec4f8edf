/*
 * What a policy is, and all that it may call.
 *
 * The mechanism hands out blocks from per-thread bins; a policy decides how many free blocks a bin may hold, where it
 * is filled from when it is empty and where a block goes when it is full. One file in policies/ and one line in
 * policies.def make a policy; it includes this header and nothing else.
 *
 * A policy's functions run on slow paths only, with `self` as proof that the caller holds the thread's guard: no other
 * code of this thread is inside the allocator. They may be called by many threads at once. They must not allocate, do
 * stdio, or change errno.
 *
 * A block of a class is exactly class_size(class) bytes to the program, wherever it came from; any pool may keep any
 * block of its class, and what a pool gives up returns to its origin by its address. So a route can change at any time.
 *
 * The life of a block, and who counts it:
 *     heap_alloc, native_alloc   a miss      fresh memory; the block is the program's
 *     bin_push                   -           a free block waits in the caller's bin
 *     count_hit                  a hit       a block that the policy kept goes to the program
 *     chain_drop, chain_trim     dropped, trimmed    a free block leaves the pool for its origin
 */
#ifndef POOLMARK_POLICY_H
#define POOLMARK_POLICY_H

#include "bundle.h"
#include "class.h"
#include "lock.h"
#include "os.h"

struct thread;

/* A chain of free blocks of one class, linked through their first word. */
struct chain {
    void *head;
    unsigned count;
};

/* How hard trim should try. */
enum pressure {
    PRESSURE_NONE, // the clock: give back what has been idle for POOL_TRIM
    PRESSURE_FULL, // malloc_trim, out of memory: give back all that can be
};

struct policy {
    const char *name, *summary;
    size_t largest;                    // bytes: largest block that it serves
    bool on_native;                    // its misses go to POOL_NATIVE, not to the heap
    size_t (*block_size)(size_t size); // what a request is rounded up to, a size of some class
    unsigned (*bin_capacity)(struct thread *self, unsigned class); // blocks that a bin may hold now; 0: none
    void (*start)(void);                                           // once, before the first call of any other
    void *(*refill)(struct thread *self, unsigned class);          // the bin is empty: a block for the program, or NULL
    void (*spill)(struct thread *self, unsigned class, void *block); // the bin is full: take `block`
    void (*leave)(struct thread *self, unsigned class); // the thread ends or is idle: empty its bin of the class
    size_t (*trim)(struct thread *self, unsigned class, uint64_t now, enum pressure pressure); // bytes given back
    size_t (*stored)(unsigned class); // blocks in the policy's shared store, for the check
    void (*forked)(void);             // in a forked child: start afresh what lock_survived denies
};

/* The table of policies.def; ends with NULL. Defined in policies/table.c. */
extern HIDDEN const struct policy *const policies[];

/* Fresh blocks. NULL and errno ENOMEM if memory is exhausted. Counts a miss. */
HIDDEN void *heap_alloc(struct thread *self, unsigned class);
HIDDEN void *native_alloc(struct thread *self, unsigned class);

/* Counts that a block kept by the policy goes to the program, and returns it. */
HIDDEN void *count_hit(struct thread *self, unsigned class, void *block);

/* The caller's bin. bin_pop: NULL if empty. bin_push: false if full. bin_swap_spare: exchanges the bin with the spare
 * chain (each thread keeps one per class, at most as long as the bin, and it counts as part of the bin);
 * bin_spare_count tells its length. */
HIDDEN void *bin_pop(struct thread *self, unsigned class);
HIDDEN bool bin_push(struct thread *self, unsigned class, void *block);
HIDDEN void bin_swap_spare(struct thread *self, unsigned class);
HIDDEN unsigned bin_count(const struct thread *self, unsigned class);
HIDDEN unsigned bin_spare_count(const struct thread *self, unsigned class);

/*
 * The spare as a slot: for blocks so large that the few of a bin would hide megabytes from the counters. A policy that
 * gives such classes no bin may keep single blocks here. spare_push: false if it holds `most` already.
 */
HIDDEN void *spare_pop(struct thread *self, unsigned class);
HIDDEN bool spare_push(struct thread *self, unsigned class, void *block, unsigned most);

/* Takes the whole content of the bin or the spare out (the caller has it in hand then), or puts a chain in: false if the
 * bin is not empty or too small. */
HIDDEN struct chain bin_take(struct thread *self, unsigned class);
HIDDEN struct chain bin_take_spare(struct thread *self, unsigned class);
HIDDEN bool bin_put(struct thread *self, unsigned class, struct chain chain);

/* Tells the counters that blocks went into (+) or out of (-) the policy's shared store, by the caller's hand. */
HIDDEN void count_stored(struct thread *self, unsigned class, long blocks);

/* Free blocks leave the pool: to their origin, counted as dropped (no room) or trimmed (idle). */
HIDDEN void block_drop(struct thread *self, unsigned class, void *block);
HIDDEN void chain_drop(struct thread *self, unsigned class, struct chain chain);
HIDDEN void chain_trim(struct thread *self, unsigned class, struct chain chain);

/* Whether the shared pools may take `blocks` more of this class (POOL_POOL_BYTES), and the thread's bins too
 * (POOL_THREAD_BYTES). Hints. */
HIDDEN bool pools_have_room(unsigned class, size_t blocks);
HIDDEN bool bins_have_room(const struct thread *self, unsigned class, size_t blocks);

/* Blocks that the caller's bin may hold now: for capacities that follow use. */
HIDDEN unsigned bin_count_most(const struct thread *self, unsigned class);

/* Takes a lock of the policy's own; a thread that has to sleep for it is counted (lock_waits). */
HIDDEN void pool_lock(struct thread *self, unsigned class, struct lock *lock);

/* A block comes in that the policy keeps already: the program has freed it twice. Ends it with one line. */
HIDDEN void block_freed_twice(const void *block) __attribute__((noreturn));

/* Bookkeeping memory for a policy's own store: zeroed, never freed; NULL if refused. */
HIDDEN void *meta_alloc(size_t bytes);

/* The number of a setting (options.def), for a policy's knobs. */
HIDDEN uint64_t knob(const char *name);

/* Named defaults for slots. */
HIDDEN size_t policy_class_size(size_t size); // rounds up to the size of its class
HIDDEN size_t native_block_size(size_t size); // rounds up to what POOL_NATIVE really gives
HIDDEN unsigned policy_no_bin(struct thread *self, unsigned class);
HIDDEN void policy_nothing_to_start(void);
HIDDEN void policy_nothing_to_leave(struct thread *self, unsigned class);
HIDDEN size_t policy_nothing_to_trim(struct thread *self, unsigned class, uint64_t now, enum pressure pressure);
HIDDEN size_t policy_nothing_stored(unsigned class);
HIDDEN void policy_nothing_to_fork(void);

#endif

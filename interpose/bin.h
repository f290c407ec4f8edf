/*
 * Bins beyond the fast path, and the accounts that move with the blocks. What policies may call of it is in policy.h.
 */
#ifndef POOLMARK_BIN_H
#define POOLMARK_BIN_H

#include "thread.h"

/* Adds to one of the caller's event counts; atomically where there are more threads than shards. */
#define count(self, class, name, n)                                                                                    \
    ((self)->shares_shard ? (void)__atomic_fetch_add(&(self)->shard->classes[class].name, (n), __ATOMIC_RELAXED)       \
                          : owner_add((self)->shard->classes[class].name, (n)))

/* Brings hits and frees of the class up to date with what the fast path did. */
HIDDEN void bin_sync(struct thread *self, unsigned class);

/* The thread's own account of a class starts here: its shard has counts of threads before it. */
HIDDEN void books_begin(struct thread *self, unsigned class);

/* Asks the policy how many blocks the bin may hold now, and applies it. */
HIDDEN void bin_adapt(struct thread *self, unsigned class);

/* Counts one free that did not go through a bin. */
HIDDEN void count_free(struct thread *self, unsigned class);

/* Counts one allocation, hit or miss, that did not come from a bin. */
HIDDEN void count_miss(struct thread *self, unsigned class);

/* Counts blocks that the native allocator has out, with credits. */
HIDDEN void native_count(unsigned class, int64_t blocks);

/* A block of the class holds less than the smallest request that the class is for. */
HIDDEN void count_odd(unsigned class);

/*
 * One block of the native allocator comes out or goes back: the accounts follow. Where a policy adds nothing to native
 * they would be most of the cost; so the class keeps a credit there, like a run that has no blocks: the accounts have up
 * to a run's worth of blocks out that nobody has, and move once per half of it.
 */
HIDDEN void native_comes(struct thread *self, unsigned class);
HIDDEN void native_goes(struct thread *self, unsigned class);

/* Records the size of one request. */
HIDDEN void count_request(struct thread *self, unsigned class, size_t size);

/* Empties everything of the class: bin and spare by its policy, then the run. */
HIDDEN void bin_empty(struct thread *self, unsigned class);

/* Bytes that wait in a thread's bins and runs at this moment. */
HIDDEN uint64_t bins_hidden_now(const struct thread *self);

/* Bytes that wait in the caller's bins and their spares (not slots, not runs). */
HIDDEN uint64_t bins_level_bytes(const struct thread *self);

/* Blocks move: `held` into (+) or out of (-) threads' hands, `stored` into or out of shared pools and slots. */
HIDDEN void account_move(struct thread *self, unsigned class, long held, long stored);

/* The bin of the class may now hold `blocks` more (or less). */
HIDDEN void account_capacity(struct thread *self, unsigned class, long blocks);

/* The caller has, or has no longer, a run of this class. */
HIDDEN void account_run(struct thread *self, unsigned class, bool has);

/* Walks a bin and its spare: false if a link leads outside, to another class, into a block, or the count is wrong. */
HIDDEN bool bin_check(const struct thread *self, unsigned class);

/* Most bytes that the bins and runs of all threads may hold unseen. */
HIDDEN int64_t account_hidden(void);

/* In a forked child: the hidden bytes are those of the blocks that thread_forked has left. */
HIDDEN void account_forked(void);

#endif

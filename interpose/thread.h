/*
 * A thread's block: its bins, and the books that slow paths keep about them.
 *
 * thread_self points to the caller's block, or to thread_none, whose bins are always empty and full at once: so "not
 * ready", "gone" and "nothing in the bin" are one test, and both fast paths leave through it.
 *
 * The block is our own memory, not the thread's TLS: it outlives the thread, so a counter that is read late reads no
 * freed stack, and a thread whose stack came from malloc needs no care. (Bins in TLS itself save one load; the shared
 * cases thread-user-stack and fork-raw-clone show why it is not worth it.)
 *
 * Counting. The fast path counts takings (pops) and room, nothing else. At each slow path of a class, bin_sync derives
 * the rest: frees = change of level + pops, hits += pops.
 */
#ifndef POOLMARK_THREAD_H
#define POOLMARK_THREAD_H

#include "counters.h"
#include "policy.h"
#include "span.h"

/* A bin: free blocks of one class that this thread can have without asking. Owner only; others may read as a hint. */
struct bin {
    void *head;           // list of blocks, linked through their first word
    int32_t room;         // capacity less level; never above capacity
    uint16_t capacity;    // blocks; 0: every call asks the policy
    uint16_t spare_count; // blocks in the spare chain
    uint64_t pops;        // blocks taken by the program, ever
    void *spare;          // a second chain, exchanged whole with bin or depot
};
_Static_assert(sizeof(struct bin) == 1 << BIN_SHIFT, "the unit map holds bin offsets");

enum { BIN_CHAINS = 2 }; // a bin and its spare hold up to this many times its capacity

/*
 * Whether the spare counts as part of the bin: it is exchanged with it too often for the shared accounts to follow. Without
 * a bin the spare is a slot for large blocks, which are counted as stored.
 */
static inline bool bin_hides_spare(const struct bin *bin)
{
    return hint_get(bin->capacity) > 0;
}

/* What is known of a bin at its last slow path. Owner only; others may read as a hint. */
struct books {
    struct run run;      // taken from a span and not yet handed out
    uint64_t pops;       // bin.pops then
    int32_t level;       // blocks in the bin then
    bool has_run;        // its run, or its credit, is among the hidden bytes
    uint8_t credit;      // native blocks that the books have out and nobody has: a run without blocks (bin.h)
    uint8_t credit_most; // 0: none is kept, each call moves the accounts
    uint64_t net_before; // frees less allocations in the shard when this thread got it
    int64_t net_peak;    // most that this thread has freed more than it took: of others' blocks, at least
    uint64_t pops_idle;  // bin.pops at the last idle look
    uint64_t frees_idle; // this class's frees at the last idle look
};

struct thread {
    struct bin bins[CLASS_COUNT]; // first: malloc adds its offset to the block's address
    struct shard *shard;          // fixed while the thread has the block
    struct thread *next;          // lock: threads
    uint64_t hidden;              // owner only: most bytes that its bins and runs may hold unseen
    uint64_t bin_bytes;           // owner only: bytes that all bins and their spares may hold
    uint64_t look_at;             // owner only: coarse clock of the next idle look
    uint32_t events;              // owner only: slow paths so far
    uint16_t top_class;           // owner only: the largest class with a bin or run
    uint8_t rounds;               // owner only: destructor rounds at thread exit
    bool alive;                   // lock: threads
    bool busy;                    // owner only: inside a slow path; a signal handler that allocates then is a guest
    bool shares_shard;            // fixed while the thread has the block: there are more threads than shards
    bool want_zero;               // owner only: calloc asks
    size_t want_align;            // owner only: what native_alloc must align to
    uint64_t now;                 // owner only: coarse clock at the last tick
    struct thread *next_idle;     // lock: threads
    bool is_clean;                // owner only: the block just handed out reads as zeros
    struct books books[CLASS_COUNT];
};

extern HIDDEN __thread struct thread *thread_self; // never NULL
extern HIDDEN struct thread thread_none;

/* Makes thread exit known to us, and `forked` what thread_enter calls in a child that no handler has told us of. Once,
 * at start. */
HIDDEN void thread_start(void (*forked)(void));

/*
 * The caller's block with its guard held, made if this is its first call; or the guest block, which all callers share
 * under a lock, when the thread cannot have one: before thread_start if it is not the first, after its last destructor, re-entered from a
 * signal handler. NULL only if a handler re-enters the guest itself.
 */
HIDDEN struct thread *thread_enter(void);
HIDDEN void thread_leave(struct thread *self);

/* Calls `look` for each block that ever was, alive or not. No lock: blocks are added to the list and never leave it. */
HIDDEN void thread_each(void (*look)(struct thread *thread, void *context), void *context);

/* A byte that reads 0 in a forked child (os_fork_mark). */
extern HIDDEN const unsigned char *thread_fork_mark; // fixed after start

/* Whether this is a child that thread_forked has not been called in. */
static inline bool thread_fork_unseen(void)
{
    return !*(const volatile unsigned char *)thread_fork_mark;
}

/* In a forked child: only the caller is left. Returns its block, or the guest's if it has none. */
HIDDEN struct thread *thread_forked(void);

/* The guest's block, without its lock: for a handler that interrupted whoever has it. */
HIDDEN struct thread *thread_guest(void);

/* Whether this is the guest block: it has no bins. */
HIDDEN bool thread_is_guest(const struct thread *self);

#endif

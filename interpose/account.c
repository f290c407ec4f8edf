/*
 * The accounts: how many bytes threads hold and pools store, and the two bounds between which each peak lies.
 *
 * `held` is exact at every slow path; the program's own share of it is what the bins and runs do not hide. The hidden
 * part of the caller's bins is looked at exactly when a new maximum is worth it (every 0.2 % or 32 KiB of growth); that
 * of other threads is at most what their bins may hold. In a process of one thread the peak is therefore off by no
 * more than the free blocks that lay in bins and runs at that moment.
 */
#include "bin.h"

#include "dispatch.h"

enum {
    LOOK_SHIFT = 9,       // a look at each 0.2 % of growth
    LOOK_FINE = 32 << 10, // or at so many bytes, if that is more
    LOOK_FINE_SHIFT = 6,  // or at 1.6 %, if that is less: small programs are looked at more closely
};

static struct {
    int64_t bins;                         // any thread: bytes that all bins and their spares may hold
    int64_t all;                          // any thread: the same with runs
    int64_t of_class[CLASS_COUNT];        // any thread: `all` by class
    int64_t looked;                       // hint: held bytes when the total was last looked at
    int64_t looked_policy[PAGE_POLICIES]; // hint
} hidden;

int64_t account_hidden(void)
{
    return hint_get(hidden.all);
}

/* Blocks in a bin. Another thread's may move between the two looks: never less than none or more than fit. */
static uint64_t level_of(const struct bin *bin)
{
    int32_t capacity = hint_get(bin->capacity), level = capacity - hint_get(bin->room);
    return (uint64_t)(level < 0 ? 0 : level > capacity ? capacity : level);
}

/* Free blocks that wait in a bin and in the spare beside it, where nobody else sees them. */
static uint64_t bin_blocks(const struct bin *bin)
{
    return level_of(bin) + (bin_hides_spare(bin) ? hint_get(bin->spare_count) : 0);
}

static uint64_t class_hidden_now(const struct thread *self, unsigned class)
{
    size_t size = class_sizes[class];
    const struct books *books = &self->books[class];
    return (bin_blocks(&self->bins[class]) + hint_get(books->credit)) * size + run_bytes(&books->run, size);
}

/* All of it, and the part that one policy has (by its index in the page). */
static uint64_t walk_hidden(const struct thread *self, unsigned policy, uint64_t *ret_part)
{
    uint64_t bytes = 0, part = 0;
    for (unsigned class = CLASS_FIRST; class <= hint_get(self->top_class); class ++) {
        if (!hint_get(self->bins[class].capacity) && !hint_get(self->books[class].has_run))
            continue;
        uint64_t here = class_hidden_now(self, class);
        bytes += here;
        part += page->class_policy[class] == policy ? here : 0;
    }
    *ret_part = part;
    return bytes;
}

uint64_t bins_hidden_now(const struct thread *self)
{
    uint64_t part;
    return walk_hidden(self, 0, &part);
}

uint64_t bins_level_bytes(const struct thread *self)
{
    uint64_t bytes = 0;
    for (unsigned class = CLASS_FIRST; class <= hint_get(self->top_class); class ++)
        bytes += bin_blocks(&self->bins[class]) * class_sizes[class];
    return bytes;
}

/* Whether `now` is so far above the last look that the caller's bins are worth walking. */
static bool worth_a_look(int64_t now, int64_t *looked)
{
    int64_t last = hint_get(*looked);
    int64_t fine = last >> LOOK_FINE_SHIFT < LOOK_FINE ? last >> LOOK_FINE_SHIFT : LOOK_FINE;
    if (now - last < (last >> LOOK_SHIFT) || now - last < fine)
        return false;
    hint_set(*looked, now);
    return true;
}

static int64_t class_hidden_most(const struct thread *self, unsigned class)
{
    size_t size = class_size(class);
    return (int64_t)(self->bins[class].capacity * BIN_CHAINS * size +
                     (self->books[class].has_run ? run_most(size) : 0));
}

/* New maxima of `held`: for the class, its policy and the whole. */
static void held_peaks(struct thread *self, unsigned class)
{
    struct page_class *of_class = &page->classes[class];
    int64_t now = hint_get(of_class->levels.held.now);
    if (now > hint_get(of_class->levels.held.bound)) {
        int64_t others = hint_get(hidden.of_class[class]) - class_hidden_most(self, class);
        level_peak(&of_class->levels.held, now - (int64_t)class_hidden_now(self, class) - others, now);
    }
    unsigned index = page->class_policy[class];
    struct level *total = &page->total.held, *policy = &page->policies[index].levels.held;
    int64_t in_all = hint_get(total->now), in_policy = hint_get(policy->now);
    int64_t all_seen = 0, policy_seen = 0;
    if (in_all <= hint_get(total->bound) && in_policy <= hint_get(policy->bound))
        return;
    bool look = in_all > hint_get(total->bound) && worth_a_look(in_all, &hidden.looked);
    look |= in_policy > hint_get(policy->bound) && worth_a_look(in_policy, &hidden.looked_policy[index]);
    if (look) {
        uint64_t part;
        int64_t others = hint_get(hidden.all) - (int64_t)self->hidden;
        all_seen = in_all - (int64_t)walk_hidden(self, index, &part) - others;
        policy_seen = in_policy - (int64_t)part - others;
    }
    level_peak(total, all_seen, in_all);
    level_peak(policy, policy_seen, in_policy);
}

/* New maxima of what pools keep: shared stores and slots, and bins with their spares besides. */
static void stored_peaks(struct thread *self, unsigned class)
{
    int64_t own = (int64_t)(bin_blocks(&self->bins[class]) * class_sizes[class]);
    struct level *levels[] = {&page->classes[class].levels.stored,
                              &page->policies[page->class_policy[class]].levels.stored, &page->total.stored};
    int64_t most[] = {hint_get(hidden.of_class[class]), hint_get(hidden.bins), hint_get(hidden.bins)};
    for (unsigned i = 0; i < ARRAY_LENGTH(levels); i++) {
        int64_t now = hint_get(levels[i]->now);
        if (now + most[i] > hint_get(levels[i]->bound) || now + own > hint_get(levels[i]->peak))
            level_peak(levels[i], now + own, now + most[i]);
    }
}

/* Adds to one pair; returns whether a maximum may have been passed, with `most` bytes in bins beside the store. */
static ALWAYS_INLINE bool move(struct level_pair *pair, int64_t held, int64_t stored, int64_t most)
{
    level_add(&pair->held, held);
    level_add(&pair->stored, stored);
    return (held > 0 && hint_get(pair->held.now) > hint_get(pair->held.bound)) ||
           (stored > 0 && hint_get(pair->stored.now) + most > hint_get(pair->stored.bound));
}

void account_move(struct thread *self, unsigned class, long held_blocks, long stored_blocks)
{
    int64_t size = (int64_t)class_sizes[class];
    int64_t held = held_blocks * size, stored = stored_blocks * size;
    int64_t in_bins = hint_get(hidden.bins);
    bool passed = move(&page->classes[class].levels, held, stored, hint_get(hidden.of_class[class]));
    passed |= move(&page->policies[page->class_policy[class]].levels, held, stored, in_bins);
    passed |= move(&page->total, held, stored, in_bins);
    if (likely(!passed))
        return;
    if (held > 0)
        held_peaks(self, class);
    if (stored > 0)
        stored_peaks(self, class);
}

static void add_hidden(struct thread *self, unsigned class, int64_t bin_bytes, int64_t run_bytes)
{
    __atomic_fetch_add(&hidden.bins, bin_bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&hidden.all, bin_bytes + run_bytes, __ATOMIC_RELAXED);
    __atomic_fetch_add(&hidden.of_class[class], bin_bytes + run_bytes, __ATOMIC_RELAXED);
    self->bin_bytes += (uint64_t)bin_bytes;
    self->hidden += (uint64_t)(bin_bytes + run_bytes);
    if (class > self->top_class)
        owner_set(self->top_class, (uint16_t) class);
}

void account_capacity(struct thread *self, unsigned class, long blocks)
{
    add_hidden(self, class, blocks * BIN_CHAINS * (int64_t)class_size(class), 0);
    if (blocks > 0)
        stored_peaks(self, class);
}

void account_run(struct thread *self, unsigned class, bool has)
{
    if (self->books[class].has_run == has)
        return;
    int64_t bytes = (int64_t)run_most(class_size(class));
    add_hidden(self, class, 0, has ? bytes : -bytes);
    owner_set(self->books[class].has_run, has);
}

static void add_all_hidden(struct thread *thread, void *context)
{
    (void)context;
    thread->bin_bytes = thread->hidden = 0;
    for (unsigned class = CLASS_FIRST; class <= thread->top_class; class ++) {
        size_t size = class_size(class);
        add_hidden(thread, class, (int64_t)(thread->bins[class].capacity * BIN_CHAINS * size),
                   thread->books[class].has_run ? (int64_t)run_most(size) : 0);
    }
}

void account_forked(void)
{
    memset(&hidden, 0, sizeof(hidden));
    thread_each(add_all_hidden, NULL);
}

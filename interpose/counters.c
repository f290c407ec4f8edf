/*
 * The page, its shards and its levels.
 *
 * The page is reserved at its full size, 14 MB of address space (less where that is refused), and made usable as
 * threads need shards, so a process of one thread touches some 10 pages of it.
 */
#include "counters.h"

#include "os.h"

enum { LIMIT_SHARE = 64 }; // under RLIMIT_AS the shards take at most this part of it

struct page *page;

static struct {
    size_t committed; // bytes of the page that are usable; changes with the list of threads locked
    bool shared;      // fixed after start, until a fork
} state;

static size_t header_bytes(void)
{
    return align_up(sizeof(struct page), OS_PAGE);
}

static size_t bytes_for(uint32_t shards)
{
    return align_up(header_bytes() + (size_t)shards * sizeof(struct shard), OS_PAGE);
}

size_t counters_bytes(void)
{
    return bytes_for(page->shard_count);
}

/* As many as there may be threads; few where address space is limited, which the program needs for itself. */
static uint32_t shards_wanted(void)
{
    size_t limit = os_address_limit();
    if (limit == SIZE_MAX)
        return PAGE_SHARDS;
    return (uint32_t)min_size(max_size(limit / LIMIT_SHARE / sizeof(struct shard), 2), PAGE_SHARDS);
}

void counters_start(void)
{
    struct page *made = NULL;
    uint32_t shards = shards_wanted();
    while (!(made = os_reserve(bytes_for(shards), OS_PAGE)) && shards > 2)
        shards = (uint32_t)max_size(shards / 2, 2);
    if (!made || !os_commit(made, bytes_for(2))) {
        // nothing to count in: the smallest page there can be, from the library's own data
        static char last_resort[sizeof(struct page) + 2 * sizeof(struct shard) + 2 * OS_PAGE];
        made = (struct page *)align_up((uintptr_t)last_resort, OS_PAGE);
        shards = 2;
    }
    state.committed = bytes_for(2);
    memcpy(made->magic, PAGE_MAGIC, sizeof(made->magic));
    memcpy(made->version, POOLMARK_VERSION, sizeof(POOLMARK_VERSION));
    made->layout = PAGE_LAYOUT;
    made->shard_count = shards;
    made->shard_offset = header_bytes();
    made->shard_size = sizeof(struct shard);
    made->class_count = CLASS_COUNT;
    made->start_clock = os_clock();
    made->start_real = os_realtime();
    page_shard(made, 0)->alive = 1; // never a thread's: process_settle writes it
    made->shards_used = 1;
    page = made;
}

bool counters_share(int fd)
{
    size_t bytes = counters_bytes();
    void *trial = os_map_file(fd, bytes, NULL);
    if (!trial)
        return false;
    bool room = os_populate(trial, state.committed);
    if (room)
        memcpy(trial, page, state.committed);
    os_unmap(trial, bytes, 0);
    // what was written stays in the file, so the switch loses nothing
    state.shared = room && os_map_file(fd, bytes, page) != NULL;
    return state.shared;
}

void counters_unshare(void)
{
    if (!state.shared)
        return;
    // the parent's page is read while it may change; the caller sets what must be the child's own
    char *copy = os_map(state.committed);
    if (copy)
        memcpy(copy, page, state.committed);
    if (os_map_private_at(page, counters_bytes()) && copy)
        memcpy(page, copy, state.committed);
    if (copy)
        os_unmap(copy, state.committed, state.committed);
    state.shared = false;
}

/* Makes memory for one more shard usable. */
static bool commit_next(void)
{
    size_t need = bytes_for(page->shards_used + 1);
    if (need <= state.committed)
        return true;
    char *start = (char *)page + state.committed;
    size_t bytes = need - state.committed;
    if (state.shared ? !os_populate(start, bytes) : !os_commit(start, bytes))
        return false;
    state.committed = need;
    return true;
}

struct shard *counters_shard(bool *ret_shared)
{
    struct shard *shard = NULL;
    for (uint32_t i = 0; i < page->shards_used && !shard; i++)
        if (!page_shard(page, i)->alive)
            shard = page_shard(page, i);
    if (!shard && page->shards_used < page->shard_count && commit_next()) {
        shard = page_shard(page, page->shards_used);
        hint_set(page->shards_used, page->shards_used + 1);
        if (page->shards_used == page->shard_count) {
            shard->alive++; // kept for sharing
            shard = NULL;
        }
    }
    *ret_shared = !shard;
    if (!shard) // more threads than shards: they share the last one, which nobody has alone
        shard = page_shard(page, page->shards_used - 1);
    shard->owners++;
    shard->alive++;
    return shard;
}

void counters_sum(const struct page *from, unsigned class, struct class_counts *ret)
{
    *ret = (struct class_counts){0};
    for (uint32_t i = 0; i < hint_get(from->shards_used); i++) {
        const struct class_counts *counts = &page_shard(from, i)->classes[class];
#define COUNTER(name, unit, meaning) ret->name += hint_get(counts->name);
#include "counters.def"
#undef COUNTER
    }
}

static bool raise_to(int64_t *maximum, int64_t value)
{
    int64_t seen = hint_get(*maximum);
    if (__libc_single_threaded && value > seen) {
        *maximum = value;
        return true;
    }
    while (value > seen)
        if (__atomic_compare_exchange_n(maximum, &seen, value, true, __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            return true;
    return false;
}

void level_peak(struct level *level, int64_t seen, int64_t bound)
{
    raise_to(&level->bound, bound > seen ? bound : seen);
    if (raise_to(&level->peak, seen))
        hint_set(level->peak_at, counters_clock());
}

void counters_warn(const char *line)
{
    for (uint32_t i = 0; i < page->warning_count; i++)
        if (strncmp(page->warnings[i], line, sizeof(page->warnings[i]) - 1) == 0)
            return;
    if (page->warning_count == PAGE_WARNINGS)
        return;
    char *to = page->warnings[page->warning_count];
    strncpy(to, line, sizeof(page->warnings[0]) - 1);
    page->warning_count++;
}

uint64_t counters_clock(void)
{
    uint64_t now = os_clock_coarse();
    return now > page->start_clock ? now - page->start_clock : 0;
}

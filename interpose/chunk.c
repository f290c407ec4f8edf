/*
 * Units: reserved in chunks, committed in steps, handed out as runs by best fit, joined when they come back.
 *
 * A chunk is 64 MiB of reserved address space (less where RLIMIT_AS is set or the reservation is refused), committed
 * from its start in steps that grow from 256 KiB to 4 MiB, so that a small program stays small and mlockall locks
 * little. Free runs are `struct span`s in lists by length. The price: one lock for all units; it is taken per 64 KiB
 * or more, not per block.
 *
 * Tried and dropped: chunks aligned to their size with tables at their heads (two more instructions in free; needs
 * twice the address space to align).
 */
#include "chunk.h"

#include "lock.h"
#include "meta.h"
#include "os.h"
#include "span.h"

enum {
    CHUNK_UNITS = TINY ? 64 : 1024,
    CHUNK_UNITS_LIMITED = 16, // under RLIMIT_AS
    STEP_UNITS_FIRST = 4,
    STEP_UNITS_MOST = 64,
    LENGTHS = 65, // lists of runs of 1..64 units, and one of all longer
};

struct chunk {
    struct chunk *next;        // lock: units
    char *start;               // fixed
    uint32_t units, committed; // lock: units
};

static struct {
    struct lock lock;
    struct span *free[LENGTHS + 1]; // lock: units; [n] runs of n units, [LENGTHS] longer ones
    struct chunk *chunks;           // lock: units; the first is the one that grows
    struct chunk *old_chunks;       // lock: units; chunk records to use again
    struct span *old_spans;         // lock: units; span records to use again
    uint32_t epoch;                 // lock: units: forks so far
    uint32_t lost;                  // lock: units: the last fork in which this lock's data were lost
} units;

/* Units of a run that is in use all lead to their span; of a free one the first and the last do. */
static void mark(struct span *span, unsigned class, struct span *owner)
{
    unit_mark(span->start, (size_t)span->units * UNIT, class, owner);
}

static struct span **list_for(uint32_t length)
{
    return &units.free[length < LENGTHS ? length : LENGTHS];
}

static void insert_locked(struct span *span)
{
    struct span **list = list_for(span->units);
    span->prev = NULL;
    span->next = *list;
    if (*list)
        (*list)->prev = span;
    *list = span;
    span->state = SPAN_FREE;
    mark(span, CLASS_NONE, span);
}

static void remove_locked(struct span *span)
{
    if (span->prev)
        span->prev->next = span->next;
    else
        *list_for(span->units) = span->next;
    if (span->next)
        span->next->prev = span->prev;
}

static void record_give_locked(struct span *span)
{
    span->next = units.old_spans;
    units.old_spans = span;
}

static struct span *record_take_locked(char *start, uint32_t length, bool clean, uint64_t idle_since)
{
    struct span *span = units.old_spans;
    if (span)
        units.old_spans = span->next;
    else if (!(span = meta_alloc(sizeof(*span))))
        return NULL;
    memset(span, 0, sizeof(*span));
    span->start = start;
    span->units = length;
    span->clean = clean;
    span->idle_since = idle_since;
    span->epoch = units.epoch;
    return span;
}

/* Makes `length` more units of the growing chunk usable, as a free run. */
static bool commit_locked(struct chunk *chunk, uint32_t length)
{
    char *start = chunk->start + (size_t)chunk->committed * UNIT;
    struct span *span = record_take_locked(start, length, true, 0);
    if (!span)
        return false;
    if (!os_commit(start, (size_t)length * UNIT)) {
        record_give_locked(span);
        return false;
    }
    chunk->committed += length;
    // joined by hand with a free run before it: span_give would take the lock
    struct span *before = chunk->committed > length ? unit_span(start - UNIT) : NULL;
    if (before && before->state == SPAN_FREE && before->clean && before->epoch >= units.lost) {
        remove_locked(before);
        before->units += length;
        record_give_locked(span);
        span = before;
    }
    insert_locked(span);
    return true;
}

static bool grow_chunk_locked(uint32_t need)
{
    struct chunk *chunk = units.chunks;
    if (!chunk || chunk->committed == chunk->units)
        return false;
    uint32_t left = chunk->units - chunk->committed;
    uint32_t step = (uint32_t)min_size(max_size(chunk->committed / 4, STEP_UNITS_FIRST), STEP_UNITS_MOST);
    uint32_t length = (uint32_t)min_size(max_size(need, step), left);
    return commit_locked(chunk, length) || (length > need && commit_locked(chunk, (uint32_t)min_size(need, left)));
}

static bool new_chunk_locked(uint32_t need)
{
    struct chunk *chunk = units.old_chunks;
    if (chunk)
        units.old_chunks = chunk->next;
    else if (!(chunk = meta_alloc(sizeof(*chunk))))
        return false;
    size_t want = os_address_limit() == SIZE_MAX ? CHUNK_UNITS : CHUNK_UNITS_LIMITED;
    char *start = NULL;
    for (want = max_size(want, need); !start; want = max_size(want / 2, need)) {
        start = os_reserve(want * UNIT, UNIT);
        if (start || want == need)
            break;
    }
    if (!start || !unit_cover(start, want * UNIT)) {
        if (start)
            os_unmap(start, want * UNIT, 0);
        chunk->next = units.old_chunks;
        units.old_chunks = chunk;
        return false;
    }
    os_no_huge_pages(start, want * UNIT);
    *chunk = (struct chunk){.next = units.chunks, .start = start, .units = (uint32_t)want};
    units.chunks = chunk;
    return true;
}

/* The shortest free run that is long enough. */
static struct span *best_fit_locked(uint32_t length)
{
    for (uint32_t n = length; n < LENGTHS; n++)
        if (units.free[n])
            return units.free[n];
    struct span *best = NULL;
    for (struct span *span = units.free[LENGTHS]; span; span = span->next)
        if (span->units >= length && (!best || span->units < best->units))
            best = span;
    return best;
}

struct span *span_take(unsigned length, unsigned class)
{
    lock_acquire(&units.lock, RANK_UNITS);
    struct span *span = best_fit_locked(length);
    while (!span) {
        if (!grow_chunk_locked(length) && !new_chunk_locked(length))
            break;
        span = best_fit_locked(length);
    }
    if (span) {
        remove_locked(span);
        if (span->units > length) {
            struct span *rest = record_take_locked(span->start + (size_t)length * UNIT, span->units - length,
                                                   span->clean, span->idle_since);
            if (rest) { // else the caller gets a longer run than it asked for
                span->units = length;
                insert_locked(rest);
            }
        }
        span->state = SPAN_CUT;
        span->epoch = units.epoch;
        span->class = (uint16_t) class;
        mark(span, class, span);
    }
    lock_release(&units.lock, RANK_UNITS);
    return span;
}

/* Joins `span` with the free neighbour at `neighbour`, if there is one; the record of the later one is given up. */
static struct span *join_locked(struct span *span, struct span *neighbour)
{
    if (!neighbour || neighbour->state != SPAN_FREE || neighbour->epoch < units.lost)
        return span;
    remove_locked(neighbour);
    struct span *first = neighbour->start < span->start ? neighbour : span;
    struct span *second = first == span ? neighbour : span;
    first->units += second->units;
    // dirty if either is; as young as the younger one
    first->clean = first->clean && second->clean;
    first->idle_since = first->idle_since > second->idle_since ? first->idle_since : second->idle_since;
    record_give_locked(second);
    return first;
}

/* Whether both addresses lie in one chunk: runs of different chunks are never joined, so that chunks can go back. */
static bool same_chunk_locked(const char *a, const char *b)
{
    for (const struct chunk *chunk = units.chunks; chunk; chunk = chunk->next) {
        size_t bytes = (size_t)chunk->units * UNIT;
        if ((size_t)(a - chunk->start) < bytes)
            return (size_t)(b - chunk->start) < bytes;
    }
    return false;
}

static void give_locked(struct span *span, uint64_t idle_since)
{
    span->clean = false;
    span->idle_since = idle_since;
    char *before = span->start - 1;
    char *after = span->start + (size_t)span->units * UNIT;
    if (same_chunk_locked(span->start, before))
        span = join_locked(span, unit_span(before));
    if (same_chunk_locked(span->start, after))
        span = join_locked(span, unit_span(after));
    insert_locked(span);
}

void span_give(struct span *span, uint64_t idle_since)
{
    lock_acquire(&units.lock, RANK_UNITS);
    give_locked(span, idle_since);
    lock_release(&units.lock, RANK_UNITS);
}

/* The free run of the same chunk that starts where `span` ends, with at least `need` units; NULL if there is none. */
static struct span *behind_locked(const struct span *span, uint32_t need)
{
    char *end = span->start + (size_t)span->units * UNIT;
    for (unsigned attempt = 0; attempt < 2; attempt++) {
        struct span *after = same_chunk_locked(span->start, end) ? unit_span(end) : NULL;
        bool is_free = after && after->state == SPAN_FREE && after->epoch >= units.lost;
        if (is_free && after->units >= need)
            return after;
        // at the end of what is usable of the chunk that grows, it can grow
        struct chunk *chunk = units.chunks;
        char *usable = chunk ? chunk->start + (size_t)chunk->committed * UNIT : NULL;
        uint32_t have = is_free ? after->units : 0;
        if (end + (size_t)have * UNIT != usable || chunk->units - chunk->committed < need - have ||
            !grow_chunk_locked(need - have))
            return NULL;
    }
    return NULL;
}

static bool lengthen_locked(struct span *span, uint32_t need)
{
    struct span *after = behind_locked(span, need);
    if (!after)
        return false;
    remove_locked(after);
    if (after->units > need) {
        after->start += (size_t)need * UNIT;
        after->units -= need;
        insert_locked(after);
    } else {
        record_give_locked(after);
    }
    span->units += need;
    return true;
}

static bool shorten_locked(struct span *span, uint32_t length, uint64_t idle_since)
{
    struct span *rest =
        record_take_locked(span->start + (size_t)length * UNIT, span->units - length, false, idle_since);
    if (!rest)
        return false;
    span->units = length;
    give_locked(rest, idle_since);
    return true;
}

bool span_resize(struct span *span, unsigned length, unsigned class, uint64_t idle_since)
{
    lock_acquire(&units.lock, RANK_UNITS);
    bool done = length == span->units  ? true
                : length > span->units ? lengthen_locked(span, length - span->units)
                                       : shorten_locked(span, length, idle_since);
    if (done) {
        span->class = (uint16_t) class;
        mark(span, class, span);
    }
    lock_release(&units.lock, RANK_UNITS);
    return done;
}

bool span_lost(const struct span *span)
{
    return span->epoch < hint_get(units.lost);
}

uint32_t chunk_epoch(void)
{
    return hint_get(units.epoch);
}

/* Unmaps the chunk that `span` covers whole, if there is such a one and it is not the growing one. */
static bool unmap_chunk_locked(struct span *span)
{
    for (struct chunk **link = &units.chunks; *link; link = &(*link)->next) {
        struct chunk *chunk = *link;
        if (chunk->start != span->start)
            continue;
        if (chunk->units != span->units || chunk == units.chunks)
            return false;
        remove_locked(span);
        mark(span, CLASS_NONE, NULL);
        os_unmap(chunk->start, (size_t)chunk->units * UNIT, (size_t)chunk->committed * UNIT);
        *link = chunk->next;
        chunk->next = units.old_chunks;
        units.old_chunks = chunk;
        record_give_locked(span);
        return true;
    }
    return false;
}

size_t chunk_purge(uint64_t before)
{
    size_t bytes = 0;
    lock_acquire(&units.lock, RANK_UNITS);
    for (uint32_t n = 1; n <= LENGTHS; n++) {
        struct span *next;
        for (struct span *span = units.free[n]; span; span = next) {
            next = span->next;
            size_t size = (size_t)span->units * UNIT;
            if (span->clean || span->idle_since > before)
                continue;
            if (unmap_chunk_locked(span)) {
                bytes += size;
            } else if (os_purge(span->start, size)) {
                span->clean = true;
                bytes += size;
            }
        }
    }
    lock_release(&units.lock, RANK_UNITS);
    return bytes;
}

void chunk_forked(void)
{
    units.epoch++;
    meta_forked();
    if (lock_survived(&units.lock))
        return;
    memset(units.free, 0, sizeof(units.free));
    units.chunks = units.old_chunks = NULL;
    units.old_spans = NULL;
    units.lost = units.epoch;
}

/*
 * The clock is CLOCK_MONOTONIC_COARSE, looked at every EVENTS slow paths. Each thread empties its own idle bins; one
 * thread at a time trims the shared pools and purges free pages, and keeps the time line.
 */
#include "trim.h"

#include "bin.h"
#include "dispatch.h"
#include "mapping.h"
#include "native.h"
#include "options.h"

#include <sys/single_threaded.h>

enum {
    EVENTS = TINY ? 4 : 64,
    LOOKS_PER_PERIOD = 2, // pools are looked at twice per POOL_TRIM, so what is idle goes within 1.5 of it
};

static struct {
    _Atomic uint64_t trim_at; // any thread: next look at the pools
    _Atomic uint64_t tick_at; // any thread: next point of the time line
    struct lock line;         // for the time line's points; tried, never waited for
} clocks;

/* Bins that were not used since the last look are emptied. */
static void empty_idle_bins(struct thread *self)
{
    for (unsigned class = CLASS_FIRST; class <= self->top_class; class ++) {
        struct books *books = &self->books[class];
        uint64_t pops = hint_get(self->bins[class].pops);
        bin_sync(self, class);
        uint64_t frees = self->shard->classes[class].frees;
        if (pops == books->pops_idle && frees == books->frees_idle)
            bin_empty(self, class);
        books->pops_idle = pops;
        books->frees_idle = frees;
    }
}

static size_t trim_pools(struct thread *self, uint64_t now, enum pressure pressure)
{
    size_t bytes = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        if (dispatch_policies[class])
            bytes += dispatch_policies[class]->trim(self, class, now, pressure);
    return bytes;
}

/* RSS for the time line. Only while there is one thread: another must not see our descriptor come and go. */
static int64_t resident_now(void)
{
    char text[64];
    if (!__libc_single_threaded || !os_read_file("/proc/self/statm", text, sizeof(text)))
        return -1;
    const char *field = strchr(text, ' ');
    int64_t pages = 0;
    while (field && *++field >= '0' && *field <= '9')
        pages = pages * 10 + (*field - '0');
    return pages * OS_PAGE;
}

/* Field by field: the page may be read meanwhile. */
static void write_point(struct page_tick *to, const struct page_tick *tick)
{
    hint_set(to->at, tick->at);
    hint_set(to->allocated, tick->allocated);
    hint_set(to->pooled, tick->pooled);
    hint_set(to->resident, tick->resident);
}

/* When the time line is full, every second point goes and the period doubles. */
static void thin_timeline(void)
{
    for (uint32_t i = 0; i < PAGE_TIMELINE / 2; i++)
        write_point(&page->timeline[i], &page->timeline[i * 2]);
    hint_set(page->tick_count, PAGE_TIMELINE / 2);
    page->tick_period *= 2;
}

static void timeline_point(struct thread *self, uint64_t now)
{
    if (!page->tick_period || now < atomic_load_explicit(&clocks.tick_at, memory_order_relaxed) ||
        !lock_try(&clocks.line, RANK_TIMELINE))
        return;
    if (page->tick_count == PAGE_TIMELINE)
        thin_timeline();
    int64_t in_bins = (int64_t)bins_level_bytes(self);
    struct page_tick tick = {
        .at = counters_clock(),
        .allocated = hint_get(page->total.held.now) - (int64_t)bins_hidden_now(self),
        .pooled = hint_get(page->total.stored.now) + in_bins,
        .resident = resident_now(),
    };
    write_point(&page->timeline[page->tick_count], &tick);
    hint_set(page->updated, tick.at);
    hint_set(page->hidden, account_hidden());
    hint_set(page->tick_count, page->tick_count + 1);
    atomic_store_explicit(&clocks.tick_at, now + page->tick_period, memory_order_relaxed);
    lock_release(&clocks.line, RANK_TIMELINE);
}

static void look(struct thread *self, uint64_t now)
{
    uint64_t period = option_values[OPTION_POOL_TRIM].number;
    timeline_point(self, now);
    if (period == UINT64_MAX || !period)
        return;
    if (now >= self->look_at) {
        if (self->look_at && !thread_is_guest(self))
            empty_idle_bins(self);
        self->look_at = now + period / LOOKS_PER_PERIOD;
    }
    uint64_t due = atomic_load_explicit(&clocks.trim_at, memory_order_relaxed);
    if (now < due || !atomic_compare_exchange_strong_explicit(&clocks.trim_at, &due, now + period / LOOKS_PER_PERIOD,
                                                              memory_order_relaxed, memory_order_relaxed))
        return;
    if (due) {
        trim_pools(self, now, PRESSURE_NONE);
        chunk_purge(now > period ? now - period : 0);
        mapping_purge(now > period ? now - period : 0);
        native_purge();
    }
}

void trim_tick(struct thread *self)
{
    if (likely(++self->events % EVENTS))
        return;
    self->now = os_clock_coarse();
    look(self, self->now);
}

size_t trim_all(struct thread *self)
{
    for (unsigned class = CLASS_FIRST; class <= self->top_class; class ++)
        bin_empty(self, class);
    trim_pools(self, os_clock_coarse(), PRESSURE_FULL);
    native_purge();
    return chunk_purge(UINT64_MAX) + mapping_purge(UINT64_MAX);
}

void trim_forked(void)
{
    lock_survived(&clocks.line);
    atomic_store_explicit(&clocks.trim_at, 0, memory_order_relaxed);
    atomic_store_explicit(&clocks.tick_at, 0, memory_order_relaxed);
    page->tick_count = 0;
}

/*
 * The dump: a page, rendered as text, JSON (poolmark.stats/1) or OpenMetrics.
 *
 * Pure functions of a page: no allocation, no stdio, no locks, no errno, async-signal-safe, and the same in the
 * process and in the tools. The page may be one that is still being written to; numbers are read once each.
 */
#ifndef POOLMARK_REPORT_H
#define POOLMARK_REPORT_H

#include "counters.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_PROM };

/*
 * Where rendered bytes go: a buffer with a sink that takes it when it is full. `flush` returns false on failure; from
 * then on nothing more is handed to it and report_render returns false.
 */
struct report_out {
    char *buffer;
    size_t size, used;
    bool (*flush)(struct report_out *out); // takes buffer[0..used)
    void *context;
    bool failed;
};

/* Renders `from`; returns false if the sink failed. Every byte has reached the sink on return. */
HIDDEN bool report_render(const struct page *from, enum report_format format, struct report_out *out);

/* One class or policy, or all, with everything derived: what all three formats and the tools print. */
struct report_row {
    uint64_t allocs, hits, misses, frees, cross_thread_frees, dropped, trimmed, lock_waits;
    uint64_t requested;        // estimated bytes asked for by the blocks that are live now
    uint64_t requested_error;  // proven bound of that estimate
    struct level allocated, pooled; // .bound - .peak is the error of the peak
};

HIDDEN void report_class(const struct page *from, unsigned class, struct report_row *ret);
HIDDEN void report_policy(const struct page *from, unsigned policy, struct report_row *ret);
HIDDEN void report_total(const struct page *from, struct report_row *ret);

/*
 * Checks the invariants of the page. Returns NULL if all hold, else a constant text that names the first that does
 * not (for example "allocs = hits + misses in class 64").
 */
HIDDEN const char *report_inconsistency(const struct page *from, char *buffer, size_t size);

#endif

/*
 * The dump: a page, rendered as text, JSON (poolmark.stats/1) or OpenMetrics.
 *
 * Pure functions of a page: no allocation, no stdio, no locks, no errno, async-signal-safe, and the same in the
 * process and in the tools. The page may be one that is still being written to; numbers are read once each.
 */
#ifndef POOLMARK_REPORT_H
#define POOLMARK_REPORT_H

#include "counters.h"
#include "print.h"
#include "word.h"

enum report_format { REPORT_TEXT, REPORT_JSON, REPORT_PROM };

/* Renders `from`; returns false if the sink failed. Every byte has reached the sink on return. */
HIDDEN bool report_render(const struct page *from, enum report_format format, struct report_out *out);

/* One class or policy, or all, with everything derived: what all three formats and the tools print. */
struct report_row {
    uint64_t allocs, hits, misses, frees, cross_thread_frees, dropped, trimmed, lock_waits;
    uint64_t requested;             // estimated bytes asked for by the blocks that are live now
    uint64_t requested_error;       // proven bound of that estimate
    struct level allocated, pooled; // .bound - .peak is the error of the peak
};

HIDDEN void report_class(const struct page *from, unsigned class, struct report_row *ret);
HIDDEN void report_policy(const struct page *from, unsigned policy, struct report_row *ret);
HIDDEN void report_total(const struct page *from, struct report_row *ret);

/*
 * Checks the invariants of the page. Returns NULL if all hold, else `buffer` (`size` bytes, at least 1) with a text
 * that names the first that does not, for example "frees <= allocs in class 64". Events that may be in flight in a
 * page that is still being written to, or that a killed process left, are allowed for.
 */
HIDDEN const char *report_inconsistency(const struct page *from, char *buffer, size_t size);

enum { REPORT_ALL_POLICIES = PAGE_POLICIES }; // in place of a policy's index

/* Counters of one policy's classes, or of all. */
HIDDEN void report_counts(const struct page *from, unsigned policy, struct class_counts *ret);

/* Fills *ret for a class or policy and says whether there is anything to tell of it: events or blocks in a class,
 * events or a share of the route in a policy. */
HIDDEN bool report_class_used(const struct page *from, unsigned class, struct report_row *ret);
HIDDEN bool report_policy_used(const struct page *from, unsigned policy, struct report_row *ret);

/* The quantities that only the whole process has. Read once each; peak >= now and bound >= peak. */
HIDDEN struct level report_mapped(const struct page *from);
HIDDEN struct level report_resident(const struct page *from); // peak 0: not known

/*
 * Bytes that the program asked for, an estimate from the sampled requests. `bound` - `peak` is its proven error: the
 * peak is taken to be that of `allocated` times the share of requested in allocated bytes over all allocations, and
 * requested <= allocated holds always.
 */
HIDDEN struct level report_requested(const struct page *from, const struct report_row *total);

/* The error of a level's peak in bytes. */
HIDDEN uint64_t report_error(const struct level *level);

/* Resident peak over allocated peak; 0 if one of them is not known. */
HIDDEN double report_fragmentation(const struct page *from, const struct report_row *total);

/* Share of allocations that were hits, in per cent. */
HIDDEN double report_hit_rate(const struct report_row *row);

/* "running", "exit", "quick_exit", "_exit", "exec", "signal SIGTERM", "snapshot". */
HIDDEN struct word report_end(const struct page *from);

/* Whether page.end_detail says something: the status of an exit, the number of a signal. */
HIDDEN bool report_end_detail_known(const struct page *from);

/* "default", "env", "live". */
HIDDEN const char *report_source(const struct page_setting *setting);

/* The policy that serves a class; NULL in a page that is not filled yet or damaged. */
HIDDEN const struct page_policy *report_class_policy(const struct page *from, unsigned class);

/* Entries of the page's tables, never more than there is room for: the page may be a damaged file. */
HIDDEN unsigned report_policy_count(const struct page *from);
HIDDEN unsigned report_setting_count(const struct page *from);

/* Calls `each` for every warning, the page's own and those that follow from the numbers. */
HIDDEN void report_warnings(const struct page *from, void (*each)(void *context, const char *warning), void *context);

/* The renderers behind report_render, one per file. */
HIDDEN void report_text(const struct page *from, struct report_out *out);
HIDDEN void report_json(const struct page *from, struct report_out *out);
HIDDEN void report_prom(const struct page *from, struct report_out *out);

#endif

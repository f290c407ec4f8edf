/*
 * The numbers of the dump, derived from the page.
 *
 * What is counted: events per class and thread; bytes in hand and in store as shared levels. What follows from them:
 *     allocs          = hits + misses
 *     allocated.now   = (allocs - frees) * size
 *     pooled.now      = (frees - hits - dropped - trimmed) * size
 * per class; a policy is the sum of the classes that it serves now, the process the sum of all. Sums are made anew
 * where they are needed: a table of all rows would not fit on a signal stack.
 *
 * `requested` is an estimate, for only requests that leave the fast path are looked at: the mean of the sampled
 * requests of a class times its live blocks. A request of a class lies above the next smaller class, so its error is
 * bounded by that interval, unless the class is known to serve smaller ones (policies that round, large alignments,
 * blocks that shrank in place): then nothing but 0 is a proven lower end. At the peak the waste was at most what each
 * class can waste at its own peak.
 */
#include "report.h"

static void add_counts(struct class_counts *to, const struct class_counts *counts)
{
#define COUNTER(name, unit, meaning) to->name += counts->name;
#include "counters.def"
#undef COUNTER
}

void report_counts(const struct page *from, unsigned policy, struct class_counts *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        if (policy != REPORT_ALL_POLICIES && hint_get(from->class_policy[class]) != policy)
            continue;
        struct class_counts counts;
        counters_sum(from, class, &counts);
        add_counts(ret, &counts);
    }
}

/* What requests of a class ask for, in bytes. */
struct request {
    double mean, error; // the error is that of the mean over any part of the blocks
};

/* No block of the class holds less than this: requests lie above the next smaller class, unless some did not. */
static double class_low(const struct page *from, unsigned class)
{
    return hint_get(from->classes[class].odd) ? 0 : (double)class_size(class - 1);
}

static struct request class_request(const struct page *from, unsigned class, const struct class_counts *counts)
{
    double low = class_low(from, class), high = (double)class_size(class);
    double mean = (low + high) / 2;
    if (counts->samples)
        mean = (double)counts->requested / (double)counts->samples;
    if (mean > high)
        mean = high;
    if (mean < low)
        mean = low;
    double error = mean - low > high - mean ? mean - low : high - mean;
    return (struct request){.mean = mean, .error = error};
}

/* Rounded; bounded where a damaged page gives nonsense. */
static uint64_t whole(double value)
{
    const double most = (double)((uint64_t)1 << 62);
    return value < most ? (uint64_t)(value + 0.5) : (uint64_t)most;
}

/* A level whose current value is known better from elsewhere. */
static struct level level_read(const struct level *level, int64_t now, uint64_t updated)
{
    struct level ret = {
        .now = now,
        .peak = hint_get(level->peak),
        .bound = hint_get(level->bound),
        .peak_at = hint_get(level->peak_at),
    };
    if (ret.peak < now) {
        ret.peak = now;
        ret.peak_at = updated;
    }
    if (ret.bound < ret.peak)
        ret.bound = ret.peak;
    return ret;
}

/* Fills the levels of a row whose `now` are complete. */
static void row_add_peaks(struct report_row *row, const struct page *from, const struct level_pair *levels)
{
    uint64_t updated = hint_get(from->updated);
    row->allocated = level_read(&levels->held, row->allocated.now, updated);
    row->pooled = level_read(&levels->stored, row->pooled.now, updated);
}

static void row_add_class(struct report_row *row, const struct page *from, unsigned class)
{
    struct class_counts counts;
    counters_sum(from, class, &counts);
    uint64_t allocs = counts.hits + counts.misses, size = class_size(class);
    int64_t live = (int64_t)(allocs - counts.frees);
    row->allocs += allocs;
    row->hits += counts.hits;
    row->misses += counts.misses;
    row->frees += counts.frees;
    row->cross_thread_frees += counts.cross_thread_frees;
    row->dropped += counts.dropped;
    row->trimmed += counts.trimmed;
    uint64_t pooled = counts.frees - counts.hits - counts.dropped - counts.trimmed;
    row->allocated.now = (int64_t)((uint64_t)row->allocated.now + (uint64_t)live * size);
    row->pooled.now = (int64_t)((uint64_t)row->pooled.now + pooled * size);
    if (live > 0) {
        struct request request = class_request(from, class, &counts);
        row->requested += whole((double)live * request.mean);
        row->requested_error += whole((double)live * request.error);
    }
}

void report_class(const struct page *from, unsigned class, struct report_row *ret)
{
    memset(ret, 0, sizeof(*ret));
    row_add_class(ret, from, class);
    row_add_peaks(ret, from, &from->classes[class].levels);
}

void report_policy(const struct page *from, unsigned policy, struct report_row *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        if (hint_get(from->class_policy[class]) == policy)
            row_add_class(ret, from, class);
    ret->lock_waits = hint_get(from->policies[policy].lock_waits);
    row_add_peaks(ret, from, &from->policies[policy].levels);
}

void report_total(const struct page *from, struct report_row *ret)
{
    memset(ret, 0, sizeof(*ret));
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        row_add_class(ret, from, class);
    for (unsigned policy = 0; policy < report_policy_count(from); policy++)
        ret->lock_waits += hint_get(from->policies[policy].lock_waits);
    row_add_peaks(ret, from, &from->total);
}

static bool has_events(const struct report_row *row)
{
    return row->allocs || row->frees || row->dropped || row->trimmed;
}

bool report_class_used(const struct page *from, unsigned class, struct report_row *ret)
{
    const struct page_class *at = &from->classes[class];
    report_class(from, class, ret);
    return has_events(ret) || hint_get(at->heap_blocks) || hint_get(at->native_blocks) || hint_get(at->levels.held.now);
}

bool report_policy_used(const struct page *from, unsigned policy, struct report_row *ret)
{
    report_policy(from, policy, ret);
    return has_events(ret) || hint_get(from->policies[policy].asked);
}

struct level report_mapped(const struct page *from)
{
    return level_read(&from->mapped, hint_get(from->mapped.now), hint_get(from->updated));
}

struct level report_resident(const struct page *from)
{
    return level_read(&from->resident, hint_get(from->resident.now), 0);
}

struct level report_requested(const struct page *from, const struct report_row *total)
{
    double asked = 0, given = 0, waste = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts counts;
        counters_sum(from, class, &counts);
        double allocs = (double)(counts.hits + counts.misses), size = (double)class_size(class);
        asked += allocs * class_request(from, class, &counts).mean;
        given += allocs * size;
        waste += (double)hint_get(from->classes[class].levels.held.bound) * (1 - class_low(from, class) / size);
    }
    double low = (double)total->allocated.peak - waste, high = (double)total->allocated.bound;
    low = low > 0 ? low : 0;
    double peak = given > 0 && total->allocated.peak > 0 ? (double)total->allocated.peak * (asked / given) : 0;
    peak = peak < low ? low : peak > high ? high : peak;
    struct level ret = {
        .now = (int64_t)min_size(total->requested, INT64_MAX / 2),
        .peak = (int64_t)whole(peak),
        .peak_at = total->allocated.peak_at,
    };
    if (ret.peak < ret.now)
        ret.peak = ret.now;
    double error = peak - low > high - peak ? peak - low : high - peak;
    ret.bound = ret.peak + (int64_t)whole(error);
    return ret;
}

uint64_t report_error(const struct level *level)
{
    return level->bound > level->peak ? (uint64_t)level->bound - (uint64_t)level->peak : 0;
}

double report_fragmentation(const struct page *from, const struct report_row *total)
{
    struct level resident = report_resident(from);
    if (resident.peak <= 0 || total->allocated.peak <= 0)
        return 0;
    return (double)resident.peak / (double)total->allocated.peak;
}

double report_hit_rate(const struct report_row *row)
{
    return row->allocs ? 100.0 * (double)row->hits / (double)row->allocs : 0;
}

struct word report_end(const struct page *from)
{
    static const char *const ends[] = {
        [END_RUNNING] = "running", [END_EXIT] = "exit", [END_QUICK] = "quick_exit",  [END_NOW] = "_exit",
        [END_EXEC] = "exec",       [END_SIGNAL] = "",   [END_SNAPSHOT] = "snapshot",
    };
    struct word ret = {""};
    uint32_t end = hint_get(from->end);
    struct report_out out = {.buffer = ret.text, .size = sizeof(ret.text) - 1};
    if (end != END_SIGNAL) {
        print_text(&out, end < ARRAY_LENGTH(ends) ? ends[end] : "unknown");
        return ret;
    }
    int number = hint_get(from->end_detail);
    const char *name = sigabbrev_np(number); // a constant table of libc, without locale
    print_text(&out, name ? "signal SIG" : "signal ");
    print_text(&out, name ? name : word_signed(number).text);
    return ret;
}

bool report_end_detail_known(const struct page *from)
{
    uint32_t end = hint_get(from->end);
    return end == END_SIGNAL || ((end == END_EXIT || end == END_QUICK || end == END_NOW) && from->end_detail >= 0);
}

const char *report_source(const struct page_setting *setting)
{
    uint32_t source = hint_get(setting->source);
    return source == SOURCE_ENV ? "env" : source == SOURCE_LIVE ? "live" : "default";
}

const struct page_policy *report_class_policy(const struct page *from, unsigned class)
{
    uint32_t policy = hint_get(from->class_policy[class]);
    return policy < report_policy_count(from) ? &from->policies[policy] : NULL;
}

unsigned report_policy_count(const struct page *from)
{
    uint32_t count = hint_get(from->policy_count);
    return count < PAGE_POLICIES ? count : PAGE_POLICIES;
}

unsigned report_setting_count(const struct page *from)
{
    uint32_t count = hint_get(from->setting_count);
    return count < PAGE_SETTINGS ? count : PAGE_SETTINGS;
}

bool report_render(const struct page *from, enum report_format format, struct report_out *out)
{
    switch (format) {
    case REPORT_TEXT:
        report_text(from, out);
        break;
    case REPORT_JSON:
        report_json(from, out);
        break;
    case REPORT_PROM:
        report_prom(from, out);
        break;
    }
    print_flush(out);
    return !out->failed;
}

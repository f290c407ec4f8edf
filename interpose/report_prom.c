/*
 * The dump as OpenMetrics text, for fleets (node_exporter's textfile collector, or any scraper of files).
 *
 * Every sample carries program and pid, for files of several processes meet in one collector, which refuses the whole
 * lot if two samples have the same labels. Types are gauge and counter only: the older Prometheus parser then reads
 * the file too (it takes UNIT and EOF for comments, but stops at the type `info`).
 */
#include "report.h"

struct prom {
    const struct page *from;
    struct report_out *out;
};

/* A counter of counters.def. */
struct prom_counter {
    const char *name, *unit, *meaning;
    size_t offset; // in struct class_counts
};

static const struct prom_counter counters[] = {
#define COUNTER(name, unit, meaning) {#name, unit, meaning, offsetof(struct class_counts, name)},
#include "counters.def"
#undef COUNTER
};

/* A quantity in bytes that the whole process, a policy and a class have. */
struct prom_level {
    const char *name, *help;
};

static const struct prom_level levels[] = {
    {"allocated_bytes", "usable bytes of blocks that the program holds"},
    {"allocated_peak_bytes", "largest value of allocated_bytes that was seen"},
    {"allocated_peak_error_bytes", "most that the true peak can lie above allocated_peak_bytes"},
    {"pooled_bytes", "free bytes that pools keep"},
    {"pooled_peak_bytes", "largest value of pooled_bytes that was seen"},
};

static int64_t level_value(unsigned index, const struct report_row *row)
{
    const int64_t values[ARRAY_LENGTH(levels)] = {
        row->allocated.now, row->allocated.peak, (int64_t)report_error(&row->allocated),
        row->pooled.now,    row->pooled.peak,
    };
    return values[index];
}

/* Announces a family. `scope` is "", "policy_" or "class_"; the unit is in the name where there is one. */
static void family(struct prom *prom, const char *scope, const char *name, const char *type, const char *help)
{
    size_t length = strlen(name);
    const char *unit = length > 6 && strcmp(name + length - 6, "_bytes") == 0     ? "bytes"
                       : length > 8 && strcmp(name + length - 8, "_seconds") == 0 ? "seconds"
                                                                                  : NULL;
    const char *const lines[][2] = {{"TYPE", type}, {"UNIT", unit}, {"HELP", help}};
    for (unsigned i = 0; i < ARRAY_LENGTH(lines); i++) {
        if (!lines[i][1])
            continue;
        const char *const parts[] = {"# ", lines[i][0], " poolmark_", scope, name, " ", lines[i][1], "\n"};
        for (unsigned j = 0; j < ARRAY_LENGTH(parts); j++)
            print_text(prom->out, parts[j]);
    }
}

/* One sample; `suffix` is "_total" for a counter, `labels` are further ones, each with its comma. */
static void sample(struct prom *prom, const char *scope, const char *name, const char *suffix, const char *labels,
                   struct word value)
{
    const char *const parts[] = {"poolmark_", scope, name, suffix, "{", labels, "program="};
    for (unsigned i = 0; i < ARRAY_LENGTH(parts); i++)
        print_text(prom->out, parts[i]);
    print_label(prom->out, prom->from->program, sizeof(prom->from->program));
    print_text(prom->out, ",pid=\"");
    print_text(prom->out, word_number(prom->from->pid).text);
    print_text(prom->out, "\"} ");
    print_text(prom->out, value.text);
    print_text(prom->out, "\n");
}

static void gauge(struct prom *prom, const char *name, const char *help, struct word value)
{
    family(prom, "", name, "gauge", help);
    sample(prom, "", name, "", "", value);
}

static void prom_info(struct prom *prom)
{
    const struct page *from = prom->from;
    family(prom, "", "info", "gauge", "the process, its route and the library's version");
    print_text(prom->out, "poolmark_info{program=");
    print_label(prom->out, from->program, sizeof(from->program));
    print_text(prom->out, ",pid=\"");
    print_text(prom->out, word_number(from->pid).text);
    print_text(prom->out, "\",route=");
    print_label(prom->out, from->route, sizeof(from->route));
    print_text(prom->out, ",version=");
    print_label(prom->out, from->version, sizeof(from->version));
    print_text(prom->out, "} 1\n");
}

static void prom_memory(struct prom *prom)
{
    const struct page *from = prom->from;
    struct report_row total;
    report_total(from, &total);
    struct level requested = report_requested(from, &total);
    struct level mapped = report_mapped(from), resident = report_resident(from);
    for (unsigned i = 0; i < ARRAY_LENGTH(levels); i++)
        gauge(prom, levels[i].name, levels[i].help, word_signed(level_value(i, &total)));
    gauge(prom, "requested_estimate_bytes", "bytes that the program asked for and holds, estimated",
          word_signed(requested.now));
    gauge(prom, "requested_estimate_peak_bytes", "largest number of bytes asked for at one time, estimated",
          word_signed(requested.peak));
    gauge(prom, "mapped_bytes", "bytes that the library has from the kernel", word_signed(mapped.now));
    gauge(prom, "mapped_peak_bytes", "largest value of mapped_bytes", word_signed(mapped.peak));
    if (resident.peak <= 0)
        return;
    gauge(prom, "resident_bytes", "resident memory of the process (VmRSS)", word_signed(resident.now));
    gauge(prom, "resident_peak_bytes", "largest value of resident_bytes (VmHWM)", word_signed(resident.peak));
}

static void prom_process(struct prom *prom)
{
    const struct page *from = prom->from;
    char buffer[128];
    bool consistent = !report_inconsistency(from, buffer, sizeof(buffer));
    gauge(prom, "run_seconds", "time since the program's start", word_seconds(hint_get(from->updated)));
    gauge(prom, "threads", "threads now", word_number(hint_get(from->threads_now)));
    gauge(prom, "threads_peak", "most threads at one time", word_number(hint_get(from->threads_peak)));
    gauge(prom, "consistent", "1 if the numbers fit together", word_number(consistent));
}

/* What tells policies and classes apart as samples. */
struct prom_kind {
    const char *scope;
    unsigned first, (*end)(const struct page *from);
    bool (*used)(const struct page *from, unsigned index, struct report_row *ret);
    void (*counts)(const struct page *from, unsigned index, struct class_counts *ret);
    void (*labels)(const struct page *from, unsigned index, struct report_out *to);
};

static void policy_labels(const struct page *from, unsigned policy, struct report_out *to)
{
    print_text(to, "policy=");
    print_label(to, from->policies[policy].name, sizeof(from->policies[policy].name));
    print_text(to, ",");
}

static void class_labels(const struct page *from, unsigned class, struct report_out *to)
{
    const struct page_policy *policy = report_class_policy(from, class);
    print_text(to, "size=\"");
    print_text(to, word_number(class_size(class)).text);
    print_text(to, "\",");
    if (policy)
        policy_labels(from, (unsigned)(policy - from->policies), to);
}

static unsigned class_end(const struct page *from)
{
    (void)from;
    return CLASS_COUNT;
}

static const struct prom_kind kinds[] = {
    {"", 0, report_policy_count, report_policy_used, report_counts, policy_labels},
    {"class_", CLASS_FIRST, class_end, report_class_used, counters_sum, class_labels},
};

enum { SERIES_ALLOCS = ARRAY_LENGTH(counters), SERIES_LEVELS = SERIES_ALLOCS + 1 };

/* One sample of each policy or class. `series` is a counter, SERIES_ALLOCS, or a level after SERIES_LEVELS. */
static void prom_samples(struct prom *prom, const struct prom_kind *kind, const char *scope, const char *name,
                         unsigned series)
{
    for (unsigned i = kind->first; i < kind->end(prom->from); i++) {
        struct report_row row;
        if (!kind->used(prom->from, i, &row))
            continue;
        char labels[128];
        struct report_out text = {.buffer = labels, .size = sizeof(labels) - 1};
        kind->labels(prom->from, i, &text);
        labels[text.used] = 0;
        struct word value = word_number(row.allocs);
        if (series < SERIES_ALLOCS) {
            struct class_counts counts;
            kind->counts(prom->from, i, &counts);
            uint64_t count;
            memcpy(&count, (char *)&counts + counters[series].offset, sizeof(count));
            value = word_number(count);
        } else if (series >= SERIES_LEVELS) {
            value = word_signed(level_value(series - SERIES_LEVELS, &row));
        }
        sample(prom, scope, name, series >= SERIES_LEVELS ? "" : "_total", labels, value);
    }
}

static void prom_kind(struct prom *prom, const struct prom_kind *kind)
{
    family(prom, kind->scope, "allocs", "counter", "allocations: hits and misses");
    prom_samples(prom, kind, kind->scope, "allocs", SERIES_ALLOCS);
    for (unsigned i = 0; i < ARRAY_LENGTH(counters); i++) {
        char name[40] = "";
        struct report_out text = {.buffer = name, .size = sizeof(name) - 1};
        print_text(&text, counters[i].name);
        print_text(&text, strcmp(counters[i].unit, "bytes") == 0 ? "_bytes" : "");
        family(prom, kind->scope, name, "counter", counters[i].meaning);
        prom_samples(prom, kind, kind->scope, name, i);
    }
    const char *scope = kind->scope[0] ? kind->scope : "policy_"; // the plain names are those of the process
    for (unsigned i = 0; i < ARRAY_LENGTH(levels); i++) {
        family(prom, scope, levels[i].name, "gauge", levels[i].help);
        prom_samples(prom, kind, scope, levels[i].name, SERIES_LEVELS + i);
    }
}

void report_prom(const struct page *from, struct report_out *out)
{
    struct prom prom = {.from = from, .out = out};
    prom_info(&prom);
    prom_memory(&prom);
    prom_process(&prom);
    for (unsigned i = 0; i < ARRAY_LENGTH(kinds); i++)
        prom_kind(&prom, &kinds[i]);
    print_text(out, "# EOF\n");
}

/*
 * The dump as text: some 30 lines of at most 100 columns for a person, the exact numbers are in the JSON.
 *
 *     who it was, how it ended      memory      policies      the fullest classes      what to know about this run
 *
 * Every number that is not a plain count has its unit. Foreign texts are made harmless for a terminal.
 */
#include "report.h"

enum {
    TEXT_CLASSES = 8,  // fullest classes shown
    TEXT_BAR = 16,     // characters of the longest bar
    TEXT_COMMAND = 86, // bytes of the command line shown
    TEXT_SETTING = 64, // bytes of a setting's value shown
};

static void text_level(struct report_out *out, const char *name, const struct level *level, bool estimate)
{
    print_text(out, "  ");
    print_left(out, 14, name);
    print_right(out, 12, word_size(level->now).text);
    print_right(out, 12, word_size(level->peak).text);
    print_right(out, 12, word_size((int64_t)report_error(level)).text);
    print_right(out, 14, level->peak_at ? word_seconds(level->peak_at).text : "-");
    print_text(out, level->peak_at ? " s" : "");
    print_text(out, estimate ? "   estimate\n" : "\n");
}

static void text_memory(struct report_out *out, const struct page *from)
{
    struct report_row total;
    report_total(from, &total);
    struct level requested = report_requested(from, &total);
    struct level mapped = report_mapped(from), resident = report_resident(from);
    double fragmentation = report_fragmentation(from, &total);
    print_text(out, "\nmemory                   now        peak       error       peak at\n");
    text_level(out, "allocated", &total.allocated, false);
    text_level(out, "requested", &requested, true);
    text_level(out, "pooled", &total.pooled, false);
    text_level(out, "mapped", &mapped, false);
    if (resident.peak > 0)
        text_level(out, "resident", &resident, false);
    else
        print_text(out, "  resident       not known\n");
    if (fragmentation > 0) {
        print_text(out, "  fragmentation  ");
        print_text(out, word_decimal(fragmentation, 2).text);
        print_text(out, " (resident peak / allocated peak)\n");
    }
}

/* The command line in one line; what does not fit is cut. */
static void text_command(struct report_out *out, const struct page *from)
{
    char line[TEXT_COMMAND + 1];
    struct report_out text = {.buffer = line, .size = TEXT_COMMAND};
    const char *at = from->argv, *end = from->argv + sizeof(from->argv);
    for (unsigned i = 0; i < from->argc && at < end && !text.failed; i++) {
        size_t length = strnlen(at, (size_t)(end - at));
        print_text(&text, i ? " " : "");
        print_plain(&text, at, length);
        at += length + 1;
    }
    if (!text.used)
        return;
    print_text(out, "  command  ");
    print_plain(out, line, text.used);
    print_text(out, text.failed || from->argv_cut ? "...\n" : "\n");
}

static void text_end(struct report_out *out, const struct page *from)
{
    bool running = hint_get(from->end) == END_RUNNING;
    print_text(out, running ? "running, or killed," : report_end(from).text);
    if (report_end_detail_known(from) && hint_get(from->end) != END_SIGNAL) {
        print_text(out, " ");
        print_text(out, word_signed(from->end_detail).text);
    }
    print_text(out, " after ");
    print_text(out, word_seconds(hint_get(from->updated)).text);
    print_text(out, " s\n");
}

static void text_process(struct report_out *out, const struct page *from)
{
    print_text(out, "poolmark: ");
    print_plain(out, from->program, sizeof(from->program));
    print_text(out, ", pid ");
    print_text(out, word_number(from->pid).text);
    print_text(out, " on ");
    print_plain(out, from->host, sizeof(from->host));
    print_text(out, ": ");
    text_end(out, from);
    text_command(out, from);
    print_text(out, "  route    ");
    print_plain(out, from->route, sizeof(from->route));
    print_text(out, "\n  threads  ");
    print_text(out, word_number(hint_get(from->threads_now)).text);
    print_text(out, " now, ");
    print_text(out, word_number(hint_get(from->threads_peak)).text);
    print_text(out, " at the peak, ");
    print_text(out, word_number(hint_get(from->threads_ended)).text);
    print_text(out, " ended\n");
    if (!from->inherited)
        return;
    print_text(out, "  forked   began with ");
    print_text(out, word_count(from->inherited_blocks).text);
    print_text(out, " blocks of its parent, ");
    print_text(out, word_size((int64_t)from->inherited_bytes).text);
    print_text(out, "\n");
}

static void text_hit_rate(struct report_out *out, unsigned width, const struct report_row *row)
{
    print_right(out, width - 2, row->allocs ? word_decimal(report_hit_rate(row), 1).text : "-");
    print_text(out, row->allocs ? " %" : "  ");
}

static void text_policies(struct report_out *out, const struct page *from)
{
    print_text(out, "\npolicy           allocs    hits  misses   frees   cross dropped trimmed"
                    "  peak alloc.  peak pooled\n");
    for (unsigned i = 0; i < report_policy_count(from); i++) {
        struct report_row row;
        if (!report_policy_used(from, i, &row))
            continue;
        char name[sizeof(from->policies[i].name) + 1] = "";
        struct report_out text = {.buffer = name, .size = sizeof(name) - 1};
        print_plain(&text, from->policies[i].name, sizeof(from->policies[i].name));
        print_text(out, "  ");
        print_left(out, 13, name);
        print_right(out, 8, word_count(row.allocs).text);
        text_hit_rate(out, 8, &row);
        print_right(out, 8, word_count(row.misses).text);
        print_right(out, 8, word_count(row.frees).text);
        print_right(out, 8, word_count(row.cross_thread_frees).text);
        print_right(out, 8, word_count(row.dropped).text);
        print_right(out, 8, word_count(row.trimmed).text);
        print_right(out, 13, word_size(row.allocated.peak).text);
        print_right(out, 13, word_size(row.pooled.peak).text);
        print_text(out, "\n");
    }
}

/* The classes with the highest peaks, fullest first; returns how many. */
static unsigned fullest_classes(const struct page *from, unsigned *ret_classes)
{
    int64_t peaks[TEXT_CLASSES];
    unsigned count = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct report_row row;
        if (!report_class_used(from, class, &row))
            continue;
        unsigned at = count;
        while (at > 0 && peaks[at - 1] < row.allocated.peak)
            at--;
        if (at == TEXT_CLASSES)
            continue;
        count += count < TEXT_CLASSES;
        for (unsigned i = count - 1; i > at; i--) {
            peaks[i] = peaks[i - 1];
            ret_classes[i] = ret_classes[i - 1];
        }
        peaks[at] = row.allocated.peak;
        ret_classes[at] = class;
    }
    return count;
}

static void text_class(struct report_out *out, const struct page *from, unsigned class, int64_t fullest)
{
    const struct page_policy *policy = report_class_policy(from, class);
    struct report_row row;
    report_class(from, class, &row);
    char name[sizeof(policy->name) + 1] = "";
    struct report_out text = {.buffer = name, .size = sizeof(name) - 1};
    print_plain(&text, policy ? policy->name : "-", policy ? sizeof(policy->name) : 1);
    print_right(out, 10, word_size_exact(class_size(class)).text);
    print_text(out, "  ");
    print_left(out, 13, name);
    print_right(out, 8, word_count(row.allocs).text);
    text_hit_rate(out, 8, &row);
    print_right(out, 12, word_size(row.allocated.now).text);
    print_right(out, 12, word_size(row.allocated.peak).text);
    print_right(out, 12, word_size(row.pooled.peak).text);
    double share = fullest > 0 ? (double)row.allocated.peak / (double)fullest : 0;
    unsigned bar = share > 0 ? (unsigned)(share * TEXT_BAR + 0.5) : 0;
    print_text(out, bar ? "  " : "");
    print_repeat(out, '#', bar < TEXT_BAR ? bar : TEXT_BAR);
    print_text(out, "\n");
}

static void text_classes(struct report_out *out, const struct page *from)
{
    unsigned classes[TEXT_CLASSES];
    unsigned count = fullest_classes(from, classes);
    if (!count)
        return;
    struct report_row row;
    report_class(from, classes[0], &row);
    print_text(out, "\n     class  policy         allocs    hits         now peak alloc. peak pooled\n");
    for (unsigned i = 0; i < count; i++)
        text_class(out, from, classes[i], row.allocated.peak);
}

/* The settings that are not the default, with where they come from. */
static void text_settings(struct report_out *out, const struct page *from)
{
    bool first = true;
    for (unsigned i = 0; i < report_setting_count(from); i++) {
        const struct page_setting *setting = &from->settings[i];
        if (hint_get(setting->source) == SOURCE_DEFAULT)
            continue;
        print_text(out, first ? "\nsettings that are not the default\n" : "");
        first = false;
        print_text(out, "  ");
        print_plain(out, setting->name, sizeof(setting->name));
        print_text(out, "=");
        print_plain(out, setting->value, TEXT_SETTING);
        print_text(out, strnlen(setting->value, sizeof(setting->value)) > TEXT_SETTING ? "... (" : " (");
        print_text(out, report_source(setting));
        print_text(out, ")\n");
    }
}

static void text_warning(void *context, const char *warning)
{
    struct report_out *out = context;
    print_text(out, "warning: ");
    print_plain(out, warning, strlen(warning));
    print_text(out, "\n");
}

void report_text(const struct page *from, struct report_out *out)
{
    text_process(out, from);
    text_memory(out, from);
    text_policies(out, from);
    text_classes(out, from);
    text_settings(out, from);
    print_text(out, "\n");
    report_warnings(from, text_warning, out);
    char buffer[128];
    const char *fault = report_inconsistency(from, buffer, sizeof(buffer));
    print_text(out, fault ? "INCONSISTENT: these numbers do not fit together: " : "consistent: all checks hold\n");
    if (fault) {
        print_text(out, fault);
        print_text(out, "\n");
    }
}

/*
 * The dump as JSON, schema poolmark.stats/1: everything.
 *
 * The two outer levels have a line per member, what is inside them stays on that line: a diff of two dumps shows a
 * class per line. What is not known is null. Keys beyond DESIGN.md 1.4 appear only where they have something to say,
 * except for the events of a class.
 */
#include "report.h"

enum { LINES_DEPTH = 2 }; // members up to this depth begin a line

struct json {
    struct report_out *out;
    unsigned depth;
    bool comma; // something stands before the next member
};

/* What stands before a member: comma, line and key; `key` is NULL in an array. */
static void json_key(struct json *json, const char *key)
{
    print_text(json->out, json->comma ? "," : "");
    if (json->depth <= LINES_DEPTH && json->depth > 0) {
        print_text(json->out, "\n");
        print_repeat(json->out, ' ', 2 * json->depth);
    } else if (json->comma) {
        print_text(json->out, " ");
    }
    json->comma = true;
    if (key) {
        print_text(json->out, "\"");
        print_text(json->out, key);
        print_text(json->out, "\": ");
    }
}

static void json_open(struct json *json, const char *key, const char *bracket)
{
    json_key(json, key);
    print_text(json->out, bracket);
    json->depth++;
    json->comma = false;
}

static void json_close(struct json *json, const char *bracket)
{
    json->depth--;
    if (json->depth < LINES_DEPTH && json->comma) {
        print_text(json->out, "\n");
        print_repeat(json->out, ' ', 2 * json->depth);
    }
    print_text(json->out, bracket);
    json->comma = true;
}

/* A number, true, false or null as it stands. */
static void json_word(struct json *json, const char *key, const char *word)
{
    json_key(json, key);
    print_text(json->out, word);
}

/* Readers take numbers for signed ones. */
static void json_number(struct json *json, const char *key, uint64_t n)
{
    json_word(json, key, word_number(n < INT64_MAX ? n : INT64_MAX).text);
}

static void json_signed(struct json *json, const char *key, int64_t n)
{
    json_word(json, key, word_signed(n).text);
}

static void json_string(struct json *json, const char *key, const char *text, size_t limit)
{
    json_key(json, key);
    print_json(json->out, text, limit);
}

static void json_text(struct json *json, const char *key, const char *text)
{
    json_string(json, key, text, strlen(text));
}

static void json_level(struct json *json, const char *key, const struct level *level)
{
    json_open(json, key, "{");
    json_signed(json, "now", level->now);
    json_signed(json, "peak", level->peak);
    json_word(json, "peak_at", word_seconds(level->peak_at).text);
    json_number(json, "error", report_error(level));
    json_close(json, "}");
}

static void json_resident(struct json *json, const struct level *level)
{
    bool known = level->peak > 0;
    json_open(json, "resident", "{");
    json_word(json, "now", known ? word_signed(level->now).text : "null");
    json_word(json, "peak", known ? word_signed(level->peak).text : "null");
    json_word(json, "peak_at", level->peak_at ? word_seconds(level->peak_at).text : "null");
    json_word(json, "error", known ? word_number(report_error(level)).text : "null");
    json_close(json, "}");
}

static void json_arguments(struct json *json, const struct page *from)
{
    json_open(json, "argv", "[");
    const char *at = from->argv, *end = from->argv + sizeof(from->argv);
    for (unsigned i = 0; i < from->argc && at < end; i++) {
        size_t length = strnlen(at, (size_t)(end - at));
        json_string(json, NULL, at, length);
        at += length + 1;
    }
    json_close(json, "]");
    if (from->argv_cut)
        json_word(json, "argv_cut", "true");
}

static void json_process(struct json *json, const struct page *from)
{
    json_text(json, "schema", "poolmark.stats/1");
    json_string(json, "version", from->version, sizeof(from->version));
    json_number(json, "pid", from->pid);
    json_number(json, "ppid", from->ppid);
    json_string(json, "program", from->program, sizeof(from->program));
    json_arguments(json, from);
    json_string(json, "host", from->host, sizeof(from->host));
    json_text(json, "start", word_time(from->start_real).text);
    json_word(json, "seconds", word_seconds(hint_get(from->updated)).text);
    json_text(json, "exit", report_end(from).text);
    if (report_end_detail_known(from))
        json_signed(json, "exit_detail", from->end_detail);
    if (from->inherited) {
        json_open(json, "inherited", "{");
        json_number(json, "blocks", from->inherited_blocks);
        json_number(json, "bytes", from->inherited_bytes);
        json_close(json, "}");
    }
}

static void json_settings(struct json *json, const struct page *from)
{
    json_open(json, "settings", "[");
    for (unsigned i = 0; i < report_setting_count(from); i++) {
        const struct page_setting *setting = &from->settings[i];
        json_open(json, NULL, "{");
        json_string(json, "name", setting->name, sizeof(setting->name));
        json_string(json, "value", setting->value, sizeof(setting->value));
        json_text(json, "source", report_source(setting));
        json_close(json, "}");
    }
    json_close(json, "]");
    json_string(json, "route", from->route, sizeof(from->route));
}

static void json_consistent(struct json *json, const struct page *from)
{
    char buffer[128];
    const char *fault = report_inconsistency(from, buffer, sizeof(buffer));
    json_word(json, "consistent", fault ? "false" : "true");
    if (fault)
        json_text(json, "inconsistency", fault);
}

static void json_memory(struct json *json, const struct page *from)
{
    struct report_row total;
    report_total(from, &total);
    struct level requested = report_requested(from, &total);
    struct level mapped = report_mapped(from), resident = report_resident(from);
    double fragmentation = report_fragmentation(from, &total);
    json_open(json, "memory", "{");
    json_level(json, "allocated", &total.allocated);
    json_level(json, "requested", &requested);
    json_level(json, "pooled", &total.pooled);
    json_level(json, "mapped", &mapped);
    json_resident(json, &resident);
    json_word(json, "fragmentation", fragmentation > 0 ? word_decimal(fragmentation, 4).text : "null");
    json_close(json, "}");
}

/* The events that policies and classes have in common after allocs. */
static void json_events(struct json *json, const struct report_row *row)
{
    json_number(json, "hits", row->hits);
    json_number(json, "misses", row->misses);
    json_number(json, "frees", row->frees);
    json_number(json, "cross_thread_frees", row->cross_thread_frees);
    json_number(json, "dropped", row->dropped);
    json_number(json, "trimmed", row->trimmed);
}

static void json_policies(struct json *json, const struct page *from)
{
    json_open(json, "policies", "[");
    for (unsigned i = 0; i < report_policy_count(from); i++) {
        struct report_row row;
        if (!report_policy_used(from, i, &row))
            continue;
        json_open(json, NULL, "{");
        json_string(json, "name", from->policies[i].name, sizeof(from->policies[i].name));
        json_level(json, "allocated", &row.allocated);
        json_level(json, "pooled", &row.pooled);
        json_number(json, "allocs", row.allocs);
        json_events(json, &row);
        json_number(json, "lock_waits", row.lock_waits);
        json_close(json, "}");
    }
    json_close(json, "]");
}

static void json_classes(struct json *json, const struct page *from)
{
    json_open(json, "classes", "[");
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct report_row row;
        if (!report_class_used(from, class, &row))
            continue;
        const struct page_policy *policy = report_class_policy(from, class);
        json_open(json, NULL, "{");
        json_number(json, "size", class_size(class));
        json_string(json, "policy", policy ? policy->name : "", policy ? sizeof(policy->name) : 0);
        json_number(json, "allocs", row.allocs);
        json_events(json, &row);
        json_level(json, "allocated", &row.allocated);
        json_level(json, "pooled", &row.pooled);
        json_number(json, "requested_bytes", row.requested);
        json_close(json, "}");
    }
    json_close(json, "]");
}

static void json_timeline(struct json *json, const struct page *from)
{
    uint32_t count = hint_get(from->tick_count);
    json_open(json, "timeline", "[");
    for (unsigned i = 0; i < count && i < PAGE_TIMELINE; i++) {
        const struct page_tick *tick = &from->timeline[i];
        int64_t resident = hint_get(tick->resident);
        json_open(json, NULL, "{");
        json_word(json, "t", word_seconds(hint_get(tick->at)).text);
        json_signed(json, "allocated", hint_get(tick->allocated));
        json_signed(json, "pooled", hint_get(tick->pooled));
        json_word(json, "resident", resident < 0 ? "null" : word_signed(resident).text);
        json_close(json, "}");
    }
    json_close(json, "]");
}

static void json_warning(void *context, const char *warning)
{
    json_text(context, NULL, warning);
}

void report_json(const struct page *from, struct report_out *out)
{
    struct json json = {.out = out};
    json_open(&json, NULL, "{");
    json_process(&json, from);
    json_settings(&json, from);
    json_consistent(&json, from);
    json_memory(&json, from);
    json_policies(&json, from);
    json_classes(&json, from);
    json_open(&json, "threads", "{");
    json_number(&json, "now", hint_get(from->threads_now));
    json_number(&json, "peak", hint_get(from->threads_peak));
    json_number(&json, "ended", hint_get(from->threads_ended));
    json_close(&json, "}");
    json_timeline(&json, from);
    json_open(&json, "sites", "[");
    json_close(&json, "]");
    json_open(&json, "warnings", "[");
    report_warnings(from, json_warning, &json);
    json_close(&json, "]");
    json_close(&json, "}");
    print_text(out, "\n");
}

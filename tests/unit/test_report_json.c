/*
 * The JSON dump, read back by a parser: its keys, its sums, and texts of any bytes.
 */
#include "rendered.h"

#include <jansson.h>

static json_t *render_json(const struct page *page)
{
    json_error_t error;
    const char *text = render(page, REPORT_JSON);
    json_t *root = json_loads(text, JSON_REJECT_DUPLICATES, &error);
    cr_assert(root, "line %d: %s in\n%s", error.line, error.text, text);
    return root;
}

static json_int_t integer(json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    cr_assert(json_is_integer(value), "%s is no whole number", key);
    return json_integer_value(value);
}

static const char *string(json_t *from, const char *key)
{
    json_t *value = json_object_get(from, key);
    cr_assert(json_is_string(value), "%s is no text", key);
    return json_string_value(value);
}

static void assert_keys(json_t *object, const char *const *keys, size_t count)
{
    cr_assert(json_is_object(object));
    size_t at = 0;
    for (void *i = json_object_iter(object); i; i = json_object_iter_next(object, i), at++)
        cr_assert(at < count && strcmp(json_object_iter_key(i), keys[at]) == 0, "key %zu is %s", at,
                  json_object_iter_key(i));
    cr_assert_eq(at, count);
}

Test(report_json, json_has_the_keys_of_the_design)
{
    static const char *const all[] = {"schema", "version",  "pid",     "ppid",        "program",  "argv",  "host",
                                      "start",  "seconds",  "exit",    "exit_detail", "settings", "route", "consistent",
                                      "memory", "policies", "classes", "threads",     "timeline", "sites", "warnings"};
    static const char *const level[] = {"now", "peak", "peak_at", "error"};
    static const char *const memory[] = {"allocated", "requested", "pooled", "mapped", "resident", "fragmentation"};
    static const char *const policy[] = {"name",  "allocated",          "pooled",  "allocs",  "hits",      "misses",
                                         "frees", "cross_thread_frees", "dropped", "trimmed", "lock_waits"};
    json_t *root = render_json(sample_page());
    assert_keys(root, all, ARRAY_LENGTH(all));
    assert_keys(json_object_get(root, "memory"), memory, ARRAY_LENGTH(memory));
    for (unsigned i = 0; i < 5; i++)
        assert_keys(json_object_get(json_object_get(root, "memory"), memory[i]), level, ARRAY_LENGTH(level));
    assert_keys(json_array_get(json_object_get(root, "policies"), 0), policy, ARRAY_LENGTH(policy));
    cr_assert_str_eq(string(root, "schema"), "poolmark.stats/1");
    cr_assert_str_eq(string(root, "exit"), "exit");
    cr_assert_eq(integer(root, "exit_detail"), 3);
    cr_assert_str_eq(string(root, "start"), "2026-11-30T22:29:28.123Z");
    cr_assert_eq(json_number_value(json_object_get(root, "seconds")), 12.345);
    cr_assert(json_is_true(json_object_get(root, "consistent")));
    cr_assert_eq(json_array_size(json_object_get(root, "sites")), 0);
    json_decref(root);
}

Test(report_json, json_numbers_fit_together)
{
    json_t *root = render_json(sample_page()), *row;
    size_t index;
    json_int_t sum = 0;
    json_array_foreach(json_object_get(root, "classes"), index, row)
    {
        json_int_t size = integer(row, "size"), live = integer(row, "allocs") - integer(row, "frees");
        cr_assert_eq(integer(row, "allocs"), integer(row, "hits") + integer(row, "misses"));
        cr_assert_eq(integer(json_object_get(row, "allocated"), "now"), live * size);
        sum += live * size;
    }
    cr_assert_eq(index, ARRAY_LENGTH(sample_classes));
    json_t *memory = json_object_get(root, "memory");
    cr_assert_eq(integer(json_object_get(memory, "allocated"), "now"), sum);
    cr_assert_float_eq(json_number_value(json_object_get(memory, "fragmentation")), 11534336.0 / 8232960, 1e-4);
    cr_assert(json_is_null(json_object_get(json_object_get(memory, "resident"), "peak_at")));
    cr_assert(json_is_null(json_object_get(json_array_get(json_object_get(root, "timeline"), 1), "resident")));
    json_decref(root);
}

Test(report_json, unknown_resident_is_null)
{
    struct page *page = sample_page();
    page->resident = (struct level){0};
    json_t *root = render_json(page), *memory = json_object_get(root, "memory");
    cr_assert(json_is_null(json_object_get(memory, "fragmentation")));
    cr_assert(json_is_null(json_object_get(json_object_get(memory, "resident"), "peak")));
    cr_assert(strstr(render(page, REPORT_TEXT), "not known"));
    cr_assert_null(strstr(render(page, REPORT_PROM), "poolmark_resident"));
    json_decref(root);
}

Test(report_json, any_bytes_give_valid_json)
{
    struct page *page = sample_page();
    strcpy(page->program, "a\"b\\c\n\t\x01\x7f");
    strcpy(page->host, "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80"); // valid stays
    strcpy(page->route, "\xff\xc0\x80\xed\xa0\x80\xe9");        // invalid, overlong, surrogate, cut
    for (unsigned i = 0; i < sizeof(page->argv); i++)
        page->argv[i] = (char)i;
    page->argc = 5;
    json_t *root = render_json(page);
    cr_assert_str_eq(string(root, "program"), "a\"b\\c\n\t\x01\x7f");
    cr_assert_str_eq(string(root, "host"), "\xc3\xa9\xe2\x82\xac\xf0\x9f\x98\x80");
    cr_assert_str_eq(string(root, "route"), "\xc3\xbf\xc3\x80\xc2\x80\xc3\xad\xc2\xa0\xc2\x80\xc3\xa9"); // as Latin-1
    cr_assert_eq(json_array_size(json_object_get(root, "argv")), 5);
    json_decref(root);
}

Test(report_json, forked_child_says_what_it_inherited)
{
    struct page *page = sample_page();
    page->inherited = 1;
    page->inherited_blocks = 17;
    page->inherited_bytes = 4096;
    json_t *root = render_json(page);
    cr_assert_eq(integer(json_object_get(root, "inherited"), "blocks"), 17);
    cr_assert(strstr(render(page, REPORT_TEXT), "began with 17 blocks of its parent, 4.0 KiB"));
    json_decref(root);
}

Test(report_json, every_end_has_its_word)
{
    static const struct {
        enum page_end end;
        int detail;
        const char *word;
    } ends[] = {
        {END_RUNNING, 0, "running"},   {END_EXIT, -1, "exit"},        {END_QUICK, 0, "quick_exit"},
        {END_NOW, 1, "_exit"},         {END_EXEC, 0, "exec"},         {END_SIGNAL, 15, "signal SIGTERM"},
        {END_SIGNAL, 40, "signal 40"}, {END_SNAPSHOT, 0, "snapshot"}, {(enum page_end)99, 0, "unknown"},
    };
    struct page *page = sample_page();
    for (unsigned i = 0; i < ARRAY_LENGTH(ends); i++) {
        page->end = ends[i].end;
        page->end_detail = ends[i].detail;
        json_t *root = render_json(page);
        bool detail = (ends[i].end == END_QUICK || ends[i].end == END_NOW || ends[i].end == END_SIGNAL);
        cr_assert_str_eq(string(root, "exit"), ends[i].word);
        cr_assert_eq(json_object_get(root, "exit_detail") != NULL, detail, "%s", ends[i].word);
        json_decref(root);
    }
}

Test(report_json, damaged_page_stays_inside_itself)
{
    struct page *page = sample_page();
    size_t from = offsetof(struct page, pid);
    memset((char *)page + from, 0x41, sizeof(*page) - from); // no text ends, every count is huge
    page->shards_used = SAMPLE_SHARDS;
    json_decref(render_json(page));
    render(page, REPORT_TEXT);
    render(page, REPORT_PROM);
    memset((char *)page + from, 0xff, sizeof(*page) - from);
    page->shards_used = SAMPLE_SHARDS;
    json_decref(render_json(page));
    render(page, REPORT_TEXT);
    render(page, REPORT_PROM);
}

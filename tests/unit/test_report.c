/*
 * The dump's numbers and its formats: against golden files, and with sinks, stacks and pages as they should not be.
 *
 * UPDATE_GOLDEN=1 writes tests/golden/dump.* anew; look at the difference before you commit it.
 */
#include "rendered.h"
#include "stack_use.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>

/* ---- golden files ---- */

static void assert_golden(const char *name, const char *text)
{
    char path[PATH_MAX];
    static char wanted[sizeof(rendered)];
    snprintf(path, sizeof(path), "%.*s/../golden/%s", (int)(strrchr(__FILE__, '/') - __FILE__), __FILE__, name);
    FILE *file;
    if (getenv("UPDATE_GOLDEN")) {
        cr_assert((file = fopen(path, "w")), "%s cannot be written", path);
        cr_assert_eq(fwrite(text, 1, strlen(text), file), strlen(text));
        cr_assert_eq(fclose(file), 0);
    }
    cr_assert((file = fopen(path, "r")), "%s is missing; UPDATE_GOLDEN=1 makes it", path);
    wanted[fread(wanted, 1, sizeof(wanted) - 1, file)] = 0;
    fclose(file);
    cr_assert_str_eq(text, wanted, "not as in %s:\n%s", path, text);
}

Test(report, text_is_golden)
{
    assert_golden("dump.txt", render(sample_page(), REPORT_TEXT));
}

Test(report, json_is_golden)
{
    assert_golden("dump.json", render(sample_page(), REPORT_JSON));
}

Test(report, prom_is_golden)
{
    assert_golden("dump.prom", render(sample_page(), REPORT_PROM));
}

Test(report, text_fits_a_screen)
{
    const char *text = render(sample_page(), REPORT_TEXT);
    cr_assert_eq(strncmp(text, "poolmark: ", 10), 0);
    unsigned lines = 0;
    for (const char *at = text; *at; at += strcspn(at, "\n") + 1, lines++)
        cr_assert(strcspn(at, "\n") <= 100, "%zu columns: %s", strcspn(at, "\n"), at);
    cr_assert(lines <= 40, "%u lines", lines);
}

Test(report, terminal_sees_no_control_characters)
{
    struct page *page = sample_page();
    strcpy(page->program, "\x1b[31m\xc2\x9b\xff\xc3\xa9");
    memcpy(page->argv, "a\x1b\r\0b\nc", 8);
    page->argc = 2;
    strcpy(page->settings[0].value, "\x07x");
    strcpy(page->warnings[0], "\x1b]0;title\x07");
    const char *text = render(page, REPORT_TEXT);
    cr_assert(strstr(text, "poolmark: ?[31m??\xc3\xa9, pid"));
    for (const char *at = text; *at; at++)
        cr_assert(*at == '\n' || ((unsigned char)*at >= ' ' && *at != 0x7f), "byte %d", *at);
}

/* ---- numbers ---- */

Test(report, class_is_derived_from_events)
{
    struct page *page = sample_page();
    struct report_row row;
    report_class(page, class_of(64), &row);
    cr_assert_eq(row.allocs, 1000);
    cr_assert_eq(row.allocated.now, 10 * 64);
    cr_assert_eq(row.pooled.now, 80 * 64);
    cr_assert_eq(row.allocated.peak, 32000);
    cr_assert_eq(report_error(&row.allocated), 1024);
    cr_assert_eq(row.requested, 10 * 50);       // the mean of the samples
    cr_assert_eq(row.requested_error, 10 * 14); // 48 < request <= 64
    report_policy(page, 0, &row);
    cr_assert_eq(row.allocs, 5003000);
    cr_assert_eq(row.allocated.now, 10 * 64 + 100 * 4096);
    cr_assert_eq(row.lock_waits, 12);
    report_total(page, &row);
    cr_assert_eq(row.allocs, 5003043);
    cr_assert_eq(row.allocated.now, 10 * 64 + 100 * 4096 + 65536);
}

Test(report, peak_is_at_least_now)
{
    struct page *page = sample_page();
    page->classes[class_of(64)].levels.held = (struct level){0, 100, 90, 5};
    struct report_row row;
    report_class(page, class_of(64), &row);
    cr_assert_eq(row.allocated.peak, 640);
    cr_assert_eq(row.allocated.peak_at, page->updated);
    cr_assert_eq(report_error(&row.allocated), 0);
}

Test(report, requested_without_samples_is_the_middle)
{
    struct page *page = sample_page();
    sample_counts(page, 64)->samples = 0;
    struct report_row row;
    report_class(page, class_of(64), &row);
    cr_assert_eq(row.requested, 10 * 56);
    cr_assert_eq(row.requested_error, 10 * 8);
}

Test(report, requested_below_the_class_has_a_wider_error)
{
    struct page *page = sample_page();
    page->classes[class_of(64)].odd = 1;
    sample_counts(page, 64)->requested = 100 * 40; // a policy that rounds 33 to 64
    struct report_row row;
    report_class(page, class_of(64), &row);
    cr_assert_eq(row.requested, 10 * 40);
    cr_assert_eq(row.requested_error, 10 * 40);
    sample_counts(page, 64)->requested = 100 * 80; // impossible: never above the block
    report_class(page, class_of(64), &row);
    cr_assert_eq(row.requested, 10 * 64);
}

Test(report, requested_peak_has_a_proven_bound)
{
    struct page *page = sample_page();
    struct report_row total;
    report_total(page, &total);
    struct level requested = report_requested(page, &total);
    int64_t error = (int64_t)report_error(&requested);
    cr_assert(requested.peak > 0 && requested.peak <= total.allocated.peak);
    cr_assert(requested.peak + error >= total.allocated.bound);
    // every class that was used asked for more than the next smaller one has
    int64_t waste = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        if (page->classes[class].levels.held.bound)
            waste += page->classes[class].levels.held.bound / (int64_t)class_size(class) *
                     (int64_t)(class_size(class) - class_size(class - 1));
    cr_assert(requested.peak - error <= total.allocated.peak - waste || requested.peak - error <= 0);
    page->classes[class_of(64)].odd = 1;
    struct level wider = report_requested(page, &total);
    cr_assert_geq(report_error(&wider), (uint64_t)error);
}

/* ---- sinks ---- */

Test(report, buffer_size_makes_no_difference)
{
    static char whole[sizeof(rendered)];
    for (enum report_format format = REPORT_TEXT; format <= REPORT_PROM; format++) {
        strcpy(whole, render(sample_page(), format));
        cr_assert_str_eq(render_by(sample_page(), format, 1), whole);
        cr_assert_str_eq(render_by(sample_page(), format, 7), whole);
    }
}

static bool fail_second(struct report_out *out)
{
    return ++*(int *)out->context < 2;
}

Test(report, failing_sink_is_left_alone)
{
    char buffer[64];
    int calls = 0;
    struct report_out out = {.buffer = buffer, .size = sizeof(buffer), .flush = fail_second, .context = &calls};
    cr_assert_not(report_render(sample_page(), REPORT_JSON, &out));
    cr_assert_eq(calls, 2);
    struct report_out plain = {.buffer = buffer, .size = sizeof(buffer)}; // without a sink: cut
    cr_assert_not(report_render(sample_page(), REPORT_JSON, &plain));
    cr_assert_eq(plain.used, sizeof(buffer));
}

Test(report, errno_is_kept)
{
    errno = 1234;
    for (enum report_format format = REPORT_TEXT; format <= REPORT_PROM; format++)
        render(sample_page(), format);
    cr_assert_eq(errno, 1234);
}

/* ---- stack ---- */

static bool swallow(struct report_out *out)
{
    (void)out;
    return true;
}

static void render_all(void)
{
    char buffer[4096];
    for (enum report_format format = REPORT_TEXT; format <= REPORT_PROM; format++) {
        struct report_out out = {.buffer = buffer, .size = sizeof(buffer), .flush = swallow};
        report_render(sample_page(), format, &out);
    }
}

Test(report, fits_on_a_signal_stack)
{
    size_t used = stack_use(render_all);
    cr_assert(used < stack_limit(8192), "%zu bytes of stack, of which 4096 are the buffer", used);
}

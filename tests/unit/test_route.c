/*
 * Routes: what is accepted, the canonical form and its way back, the reasons of a refusal, and who serves a size.
 * Uses the real table of policies; what depends on a policy's `largest` is read from there.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "interpose/route.h"

enum { FUZZ_ROUNDS = 4000 };

static const struct policy *policy_named(const char *name)
{
    const struct policy *const *policy = policies;
    while (*policy && strcmp((*policy)->name, name) != 0)
        policy++;
    return *policy;
}

static struct route parsed(const char *text)
{
    struct route route = {.count = 0};
    char why[300] = "";
    cr_assert(route_parse(text, &route, why, sizeof(why)), "%s: %s", text, why);
    cr_assert_str_eq(why, "");
    cr_assert_geq(route.count, 1);
    cr_assert_leq(route.count, ROUTE_RULES);
    cr_assert_eq(route.rules[route.count - 1].upto, SIZE_MAX);
    return route;
}

static const char *canonical(const char *text)
{
    static char printed[ROUTE_TEXT];
    struct route route = parsed(text);
    cr_assert_eq(route_print(&route, printed, sizeof(printed)), strlen(printed));
    return printed;
}

/* Why a text is refused. */
static const char *reason(const char *text)
{
    static char why[400];
    struct route route = {.count = 77};
    why[0] = '\0';
    cr_assert_not(route_parse(text, &route, why, sizeof(why)), "%s is accepted", text);
    cr_assert_eq(route.count, 77, "a refused route leaves the result alone");
    cr_assert_neq(why[0], '\0');
    cr_assert_null(strpbrk(why, "\n\r\033"));
    return why;
}

/* "thread", or "thread:1M,native" with the policy's own largest size: what `NAME` alone comes to. */
static const char *whole(const char *name)
{
    static char text[ROUTE_TEXT];
    size_t largest = policy_named(name)->largest;
    if (largest == SIZE_MAX)
        snprintf(text, sizeof(text), "%s", name);
    else
        snprintf(text, sizeof(text), "%s:%zu,native", name, largest);
    return text;
}

Test(route, canonical_forms)
{
    cr_assert_str_eq(canonical("thread:32K,array:1M,native"), "thread:32K,array:1M,native");
    cr_assert_str_eq(canonical("thread:32768,array:1024K,native"), "thread:32K,array:1M,native");
    cr_assert_str_eq(canonical("thread:1000,native"), "thread:1000,native");
    cr_assert_str_eq(canonical("native"), "native");
    cr_assert_str_eq(canonical("thread:32K"), "thread:32K,native");
    cr_assert_str_eq(canonical("thread:1K,array:2K,thread:4K,native"), "thread:1K,array:2K,thread:4K,native");
    cr_assert_str_eq(canonical("native:1M"), "native:1M,native");
}

Test(route, presets)
{
    for (const struct route_preset *preset = route_presets; preset->name; preset++) {
        cr_assert_str_eq(canonical(preset->name), preset->route);
        cr_assert_null(policy_named(preset->name), "a preset has a policy's name");
        cr_assert_neq(preset->summary[0], '\0');
    }
    cr_assert_str_eq(canonical("balanced"), "thread:32K,array:1M,native");
    cr_assert_not_null(strstr(reason("balanced,native"), "alone"));
    cr_assert_not_null(strstr(reason("thread:32K,balanced"), "alone"));
    cr_assert_not_null(strstr(reason("balanced:32K"), "alone"));
}

Test(route, every_policy_alone)
{
    for (const struct policy *const *policy = policies; *policy; policy++) {
        char first[ROUTE_TEXT];
        snprintf(first, sizeof(first), "%s", canonical((*policy)->name));
        cr_assert_str_eq(canonical(first), first);
        cr_assert_str_eq(canonical(whole((*policy)->name)), first);
    }
}

Test(route, upto_is_cut_to_what_the_policy_serves)
{
    for (const struct policy *const *policy = policies; *policy; policy++) {
        if ((*policy)->largest == SIZE_MAX || strcmp((*policy)->name, "native") == 0)
            continue;
        char text[ROUTE_TEXT];
        snprintf(text, sizeof(text), "%s:%zu,native", (*policy)->name, (*policy)->largest + 1);
        struct route route = parsed(text);
        cr_assert_eq(route.rules[0].upto, (*policy)->largest);
        cr_assert_eq(route_policy(&route, (*policy)->largest), *policy);
        cr_assert_str_eq(route_policy(&route, (*policy)->largest + 1)->name, "native");
    }
}

Test(route, sizes_find_their_policy)
{
    struct route route = parsed("thread:32K,array:1M,native");
    static const struct {
        size_t size;
        const char *name;
    } serves[] = {{0, "thread"},     {1, "thread"},          {KiB(32), "thread"},     {KiB(32) + 1, "array"},
                  {MiB(1), "array"}, {MiB(1) + 1, "native"}, {PTRDIFF_MAX, "native"}, {SIZE_MAX, "native"}};
    for (size_t i = 0; i < ARRAY_LENGTH(serves); i++)
        cr_assert_str_eq(route_policy(&route, serves[i].size)->name, serves[i].name);
}

Test(route, a_route_made_by_hand_is_never_without_policy)
{
    struct route route = {.count = 0};
    cr_assert_str_eq(route_policy(&route, 1)->name, "native");
    route = (struct route){.rules = {{policy_named("thread"), 16}}, .count = 1};
    cr_assert_str_eq(route_policy(&route, 17)->name, "native");
}

Test(route, default_is_balanced)
{
    char text[ROUTE_TEXT];
    struct route route;
    route_default(&route);
    route_print(&route, text, sizeof(text));
    cr_assert_str_eq(text, "thread:32K,array:1M,native");
}

Test(route, unknown_names)
{
    const char *why = reason("thred");
    cr_assert_not_null(strstr(why, "unknown policy `thred`: did you mean `thread`? accepted: "));
    for (const struct policy *const *policy = policies; *policy; policy++)
        cr_assert_not_null(strstr(why, (*policy)->name));
    cr_assert_not_null(strstr(why, ", balanced"));
    cr_assert_not_null(strstr(reason("balnaced"), "did you mean `balanced`?"));
    cr_assert_not_null(strstr(reason("thread:32K,aray"), "did you mean `array`?"));
    cr_assert_not_null(strstr(reason("Thread"), "did you mean `thread`?"));
    cr_assert_null(strstr(reason("zzzzzzzz"), "did you mean"));
    cr_assert_not_null(strstr(reason(""), "empty policy"));
    cr_assert_not_null(strstr(reason("thread:32K,"), "empty policy"));
    cr_assert_not_null(strstr(reason(",thread"), "empty policy"));
    cr_assert_not_null(strstr(reason("thread:1K,,native"), "empty policy"));
    cr_assert_not_null(strstr(reason(" thread"), "did you mean `thread`?"));
    reason("\033[2J\n");
}

Test(route, bad_sizes)
{
    static const char *const bad[] = {
        "thread:-1",          "thread:",    "thread:x", "thread:1K:2K", "thread:99999999999999999999G",
        "thread:1.5K,native", "thread: 1K", "thread:+1"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        cr_assert_not_null(strstr(reason(bad[i]), "no size"), "%s", bad[i]);
    cr_assert_not_null(strstr(reason("thread:-1"), "`-1` is no size"));
}

Test(route, sizes_rise)
{
    cr_assert_not_null(strstr(reason("thread:0"), "above 0"));
    cr_assert_not_null(strstr(reason("thread:32K,array:32K,native"), "above 32K"));
    cr_assert_not_null(strstr(reason("thread:32K,array:16K"), "above 32K"));
    cr_assert_not_null(strstr(reason("array:1024G,thread:16K"), "above 1024G"));
    cr_assert_not_null(strstr(reason("onecache,native"), "needs a size"));
    reason("native:18446744073709551615,thread");
}

Test(route, a_policy_that_could_never_act)
{
    for (const struct policy *const *policy = policies; *policy; policy++) {
        size_t largest = (*policy)->largest;
        if (largest >= GiB(1) || strcmp((*policy)->name, "native") == 0)
            continue;
        char text[ROUTE_TEXT];
        snprintf(text, sizeof(text), "native:%zu,%s", largest, (*policy)->name);
        cr_assert_not_null(strstr(reason(text), "serves nothing here"), "%s", text);
    }
}

Test(route, at_most_eight_rules)
{
    cr_assert_str_eq(canonical("native:1,native:2,native:3,native:4,native:5,native:6,native:7,native"),
                     "native:1,native:2,native:3,native:4,native:5,native:6,native:7,native");
    cr_assert_str_eq(canonical("native:1,native:2,native:3,native:4,native:5,native:6,native:7"),
                     "native:1,native:2,native:3,native:4,native:5,native:6,native:7,native");
    reason("native:1,native:2,native:3,native:4,native:5,native:6,native:7,native:8");
    cr_assert_not_null(
        strstr(reason("native:1,native:2,native:3,native:4,native:5,native:6,native:7,native:8,native"), "at most 8"));
}

Test(route, buffers_of_any_size)
{
    struct route route = parsed("balanced");
    char text[32];
    for (size_t size = 0; size < sizeof(text); size++) {
        memset(text, '#', sizeof(text));
        size_t length = route_print(&route, text, size);
        cr_assert(size == 0 || (length < size && text[length] == '\0'));
        cr_assert_eq(text[size], '#');
        memset(text, '#', sizeof(text));
        cr_assert_not(route_parse("thred", &route, text, size));
        cr_assert_eq(text[size], '#');
    }
}

Test(route, a_huge_text)
{
    char *text = malloc(1 << 20);
    for (char c = ','; c; c = c == ',' ? 'x' : c == 'x' ? ':' : 0) {
        memset(text, c, (1 << 20) - 1);
        text[(1 << 20) - 1] = '\0';
        cr_assert_lt(strlen(reason(text)), 400);
    }
    free(text);
}

Test(fuzz, what_is_accepted_comes_back)
{
    static const char *const pieces[] = {
        "native", "thread", "array", "onecache", "balanced", ":", ":", ",",
        ",",      "1",      "32K",   "1M",       "2G",       "-", "K", "99999999999999999999",
        "thred",  "\n",     "\377",  " "};
    srand(3);
    unsigned accepted = 0;
    for (int i = 0; i < FUZZ_ROUNDS; i++) {
        char text[400], why[300], first[ROUTE_TEXT];
        size_t used = 0;
        for (int k = rand() % 12; k >= 0; k--)
            used +=
                (size_t)snprintf(text + used, sizeof(text) - used, "%s", pieces[(size_t)rand() % ARRAY_LENGTH(pieces)]);
        text[used] = '\0';
        char *copy = strdup(text); // exact size: the sanitizer sees a step beyond the end
        struct route route;
        if (route_parse(copy, &route, why, sizeof(why))) {
            accepted++;
            cr_assert_lt(route_print(&route, first, sizeof(first)), sizeof(first) - 1);
            cr_assert_str_eq(canonical(first), first);
            for (int bit = 0; bit < 64; bit++)
                cr_assert_not_null(route_policy(&route, (size_t)1 << bit));
        }
        free(copy);
    }
    cr_assert_gt(accepted, 20);
}

/*
 * The types of settings: accepted and refused texts of each, words and their misspellings, and nonsense.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <signal.h>
#include <stdlib.h>

#include "interpose/options.h"
#include "noise.h"

enum { FUZZ_ROUNDS = 4000 };

static const char *parse(enum option_id id, const char *text, uint64_t *ret)
{
    struct option_value value;
    const char *accepted = option_parse(&options[id], text, &value);
    if (!accepted) {
        cr_assert_eq(value.text, text);
        *ret = value.number;
    }
    return accepted;
}

static uint64_t number_of(enum option_id id, const char *text)
{
    uint64_t number = 0;
    const char *accepted = parse(id, text, &number);
    cr_assert_null(accepted, "%s=%s: %s", options[id].name, text, accepted);
    return number;
}

static void refuse(enum option_id id, const char *text)
{
    uint64_t number;
    const char *accepted = parse(id, text, &number);
    cr_assert_not_null(accepted, "%s=%s is accepted", options[id].name, text);
    cr_assert_neq(*accepted, '\0');
}

Test(distance, counts_edits_and_swaps)
{
    cr_assert_eq(edit_distance("thread", "thread", 2), 0);
    cr_assert_eq(edit_distance("thread", "thred", 2), 1);
    cr_assert_eq(edit_distance("thread", "threaad", 2), 1);
    cr_assert_eq(edit_distance("thread", "threas", 2), 1);
    cr_assert_eq(edit_distance("thread", "htread", 2), 1);
    cr_assert_eq(edit_distance("POOL_POLICY", "POOL_POLCIY", 2), 1);
    cr_assert_eq(edit_distance("POOL_STATS", "POOL_STAST", 2), 1);
    cr_assert_eq(edit_distance("ab", "ba", 2), 1);
    cr_assert_eq(edit_distance("", "ab", 2), 2);
    cr_assert_eq(edit_distance("kitten", "sitting", 5), 3);
    cr_assert_eq(edit_distance("kitten", "sitting", 2), 3);
    cr_assert_eq(edit_distance("kitten", "sitting", 1), 2);
}

Test(distance, long_words)
{
    char *text = calloc(1, 1 << 20);
    memset(text, 'x', (1 << 20) - 1);
    cr_assert_eq(edit_distance(text, "x", 2), 3);
    cr_assert_eq(edit_distance("x", text, 2), 3);
    cr_assert_eq(edit_distance(text, text, 2), 0);
    text[63] = '\0';
    cr_assert_eq(edit_distance(text, text + 1, 2), 1);
    free(text);
}

Test(size, accepts)
{
    static const struct {
        const char *text;
        size_t size;
    } good[] = {
        {"0", 0},
        {"4096", 4096},
        {"32K", KiB(32)},
        {"1M", MiB(1)},
        {"2G", GiB(2)},
        {"32k", KiB(32)},
        {"32KiB", KiB(32)},
        {"3MB", MiB(3)},
        {"007", 7},
        {"1GiB", GiB(1)},
        {"18446744073709551615", SIZE_MAX},
        {"17179869183G", SIZE_MAX - GiB(1) + 1},
    };
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++) {
        size_t size = 1;
        cr_assert(size_parse(good[i].text, strlen(good[i].text), &size), "%s", good[i].text);
        cr_assert_eq(size, good[i].size, "%s", good[i].text);
    }
    size_t size;
    cr_assert(size_parse("32K,array", 3, &size));
    cr_assert_eq(size, KiB(32));
}

Test(size, refuses)
{
    static const char *const bad[] = {
        "",
        "K",
        "-1",
        "+1",
        " 1",
        "1 ",
        "1.5K",
        "0x10",
        "1T",
        "1KK",
        "1Kb",
        "1KiBx",
        "1i",
        "1iB",
        "1K ",
        "1,5",
        "--1",
        "1e3",
        "B",
        "1B",
        "1\n",
        "auto",
        "off",
        "18446744073709551616",
        "17179869184G",
        "99999999999999999999999999999999999K",
    };
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++) {
        size_t size = 4711;
        cr_assert_not(size_parse(bad[i], strlen(bad[i]), &size), "%s", bad[i]);
        cr_assert_eq(size, 4711, "%s", bad[i]);
    }
}

Test(time, accepts_and_refuses)
{
    uint64_t time;
    cr_assert(time_parse("250ms", 5, &time));
    cr_assert_eq(time, 250000000);
    cr_assert(time_parse("10s", 3, &time));
    cr_assert_eq(time, 10000000000);
    cr_assert(time_parse("2m", 2, &time));
    cr_assert_eq(time, 120000000000);
    cr_assert(time_parse("0s", 2, &time));
    cr_assert_eq(time, 0);
    static const char *const bad[] = {"",
                                      "10",
                                      "s",
                                      "-1s",
                                      "1.5s",
                                      "1h",
                                      "10 s",
                                      "1S",
                                      "1sec",
                                      "1ss",
                                      "1msx",
                                      "18446744073709551615s",
                                      "307445734562m"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        cr_assert_not(time_parse(bad[i], strlen(bad[i]), &time), "%s", bad[i]);
    cr_assert_eq(number_of(OPTION_POOL_TRIM, "off"), UINT64_MAX);
    refuse(OPTION_POOL_TRIM, "auto");
}

Test(parse, choice)
{
    cr_assert_eq(number_of(OPTION_POOL_NATIVE, "mimalloc"), 0);
    cr_assert_eq(number_of(OPTION_POOL_NATIVE, "libc"), 1);
    cr_assert_eq(number_of(OPTION_POOL_NATIVE, "mmap"), 2);
    refuse(OPTION_POOL_NATIVE, "mimalloc|libc");
    refuse(OPTION_POOL_NATIVE, "mim");
    refuse(OPTION_POOL_NATIVE, "LIBC");
    refuse(OPTION_POOL_NATIVE, "");
}

Test(parse, count_keeps_its_range)
{
    cr_assert_eq(number_of(OPTION_POOL_ARRAY_DEPTH, "1"), 1);
    cr_assert_eq(number_of(OPTION_POOL_ARRAY_DEPTH, "1024"), 1024);
    cr_assert_eq(number_of(OPTION_POOL_ARRAY_PARTITIONS, "0"), 0);
    cr_assert_eq(number_of(OPTION_POOL_ARRAY_PARTITIONS, "256"), 256);
    static const char *const bad[] = {"0", "1025", "-1", "1K", "", "1..2", "18446744073709551617", "4294967297"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        refuse(OPTION_POOL_ARRAY_DEPTH, bad[i]);
}

Test(parse, size_and_auto)
{
    cr_assert_eq(number_of(OPTION_POOL_THREAD_BYTES, "256K"), KiB(256));
    cr_assert_eq(number_of(OPTION_POOL_POOL_BYTES, "auto"), 0);
    refuse(OPTION_POOL_THREAD_BYTES, "auto");
    refuse(OPTION_POOL_POOL_BYTES, "SIZE");
}

Test(parse, signal)
{
    cr_assert_eq(number_of(OPTION_POOL_SIGNAL, "off"), 0);
    cr_assert_eq(number_of(OPTION_POOL_SIGNAL, "USR1"), SIGUSR1);
    cr_assert_eq(number_of(OPTION_POOL_SIGNAL, "SIGUSR2"), SIGUSR2);
    cr_assert_eq(number_of(OPTION_POOL_SIGNAL, "PROF"), SIGPROF);
    cr_assert_eq(number_of(OPTION_POOL_SIGNAL, "RTMIN"), (uint64_t)SIGRTMIN);
    cr_assert_eq(number_of(OPTION_POOL_SIGNAL, "SIGRTMIN+3"), (uint64_t)SIGRTMIN + 3);
    static const char *const bad[] = {"KILL",
                                      "SIGSTOP",
                                      "SEGV",
                                      "SIGBUS",
                                      "FPE",
                                      "ILL",
                                      "10",
                                      "SIG",
                                      "",
                                      "SIGUSR3",
                                      "RTMIN+",
                                      "RTMIN+x",
                                      "SIGSIGUSR1",
                                      "RTMIN+99",
                                      "RTMIN-1",
                                      "RTMIN+1 ",
                                      "RTMIN+18446744073709551617"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        refuse(OPTION_POOL_SIGNAL, bad[i]);
}

Test(parse, paths_and_words_that_are_none)
{
    static const char *const good[] = {"off", "stderr", "/tmp/x.json", "out.txt", "./stdout",
                                       "%n",  "dump",   "out",         "dir"};
    for (size_t i = 0; i < ARRAY_LENGTH(good); i++)
        cr_assert_eq(number_of(OPTION_POOL_STATS, good[i]), 0);
    static const char *const bad[] = {"", "stdout", "sterr", "STDERR", "Off", "of", "on", "yes", "1", "-"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        refuse(OPTION_POOL_STATS, bad[i]);
    cr_assert_eq(number_of(OPTION_POOL_LIVE, "on"), 0);
    cr_assert_eq(number_of(OPTION_POOL_LIVE, "./on.d"), 0);
    cr_assert_eq(number_of(OPTION_POOL_LIVE, "/dev/shm/x"), 0);
    refuse(OPTION_POOL_LIVE, "ON");
    refuse(OPTION_POOL_LIVE, "true");
}

Test(parse, lengths)
{
    char text[5000];
    memset(text, '1', sizeof(text));
    text[0] = '/';
    text[4097] = '\0';
    refuse(OPTION_POOL_STATS, text);
    text[4096] = '\0';
    number_of(OPTION_POOL_STATS, text);
    refuse(OPTION_POOL_ARRAY_DEPTH, text + 1);
    text[257 + 1] = '\0';
    refuse(OPTION_POOL_POLICY, text + 1);
    text[256 + 1] = '\0';
    number_of(OPTION_POOL_POLICY, text + 1);
}

Test(parse, route_shape)
{
    number_of(OPTION_POOL_POLICY, "thread:32K,array:1M,native");
    number_of(OPTION_POOL_POLICY, "array-classic");
    static const char *const bad[] = {"", "thread native", "thread;native", "$(x)", "thr\nead", "caf\303\251"};
    for (size_t i = 0; i < ARRAY_LENGTH(bad); i++)
        refuse(OPTION_POOL_POLICY, bad[i]);
}

Test(suggest, words_of_a_row)
{
    char word[OPTION_NAME];
    cr_assert(option_suggest(&options[OPTION_POOL_NATIVE], "mimaloc", word));
    cr_assert_str_eq(word, "mimalloc");
    cr_assert(option_suggest(&options[OPTION_POOL_NATIVE], "LIBC", word));
    cr_assert_str_eq(word, "libc");
    cr_assert_not(option_suggest(&options[OPTION_POOL_NATIVE], "jemalloc2", word));
    cr_assert_not(option_suggest(&options[OPTION_POOL_ARRAY_DEPTH], "1..102", word));
    cr_assert_not(option_suggest(&options[OPTION_POOL_STATS], "PATH", word));
}

Test(fuzz, parsers)
{
    srand(1);
    for (int i = 0; i < FUZZ_ROUNDS; i++) {
        char text[128];
        noise(text, sizeof(text));
        char *copy = strdup(text); // exact size: the sanitizer sees a step beyond the end
        for (enum option_id id = 0; id < OPTION_COUNT; id++) {
            struct option_value value = {0};
            char word[OPTION_NAME];
            const char *accepted = option_parse(&options[id], copy, &value);
            cr_assert_eq(accepted == NULL, value.text == copy);
            option_suggest(&options[id], copy, word);
        }
        free(copy);
    }
}

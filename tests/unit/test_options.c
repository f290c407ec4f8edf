/*
 * Settings from an environment: defaults, copies, the lines that a user sees, and environments that are hostile.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <stdio.h>
#include <stdlib.h>

#include "interpose/options.h"
#include "noise.h"

enum { LINES = 64, FUZZ_ROUNDS = 4000 };

static char lines[LINES][600];
static unsigned line_count;

static void complain(const char *line)
{
    cr_assert_lt(line_count, LINES);
    snprintf(lines[line_count++], sizeof(lines[0]), "%s", line);
}

/* Starts with these entries only, in memory that is overwritten afterwards. */
static void start_with(char **entries)
{
    char *copies[40] = {NULL};
    unsigned count = 0;
    for (; entries[count]; count++)
        copies[count] = strdup(entries[count]);
    line_count = 0;
    options_start(copies, complain);
    for (unsigned i = 0; i < count; i++) {
        memset(copies[i], '#', strlen(copies[i]));
        free(copies[i]);
    }
}

#define START(...) start_with((char *[]){__VA_ARGS__, NULL})

Test(start, every_default_is_acceptable)
{
    START(NULL);
    cr_assert_eq(line_count, 0);
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        cr_assert_not_null(option_values[id].text);
        cr_assert_neq(*option_values[id].text, '\0', "%s", options[id].name);
        cr_assert_not(option_values[id].from_environment);
    }
    cr_assert_str_eq(option_values[OPTION_POOL_POLICY].text, "balanced");
    cr_assert_eq(option_values[OPTION_POOL_TRIM].number, 10000000000);
    cr_assert_eq(option_values[OPTION_POOL_THREAD_BYTES].number, KiB(512));
    options_start(NULL, complain);
    cr_assert_eq(line_count, 0);
}

Test(start, dump_follows_the_policy)
{
    START("HOME=/");
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "off");
    START("POOL_POLICY=thread");
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "stderr");
    cr_assert_not(option_values[OPTION_POOL_STATS].from_environment);
    START("POOL_STATS=", "POOL_POLICY=! !");
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "stderr");
    START("POOL_POLICY=");
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "off");
    cr_assert_eq(line_count, 0);
    START("POOL_STATS=off", "POOL_POLICY=thread");
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "off");
    cr_assert(option_values[OPTION_POOL_STATS].from_environment);
}

Test(start, values_are_copies)
{
    START("POOL_POLICY=thread:32K,native", "POOL_STATS=/tmp/%p.json", "POOL_TRIM=250ms");
    cr_assert_eq(line_count, 0);
    cr_assert_str_eq(option_values[OPTION_POOL_POLICY].text, "thread:32K,native");
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "/tmp/%p.json");
    cr_assert_str_eq(option_values[OPTION_POOL_TRIM].text, "250ms");
    cr_assert_eq(option_values[OPTION_POOL_TRIM].number, 250000000);
    cr_assert(option_values[OPTION_POOL_TRIM].from_environment);
}

Test(start, first_entry_wins)
{
    START("POOL_TRIM=1s", "POOL_TRIM=2s", "POOL_TRIM=bad");
    cr_assert_eq(option_values[OPTION_POOL_TRIM].number, 1000000000);
    START("POOL_TRIM=", "POOL_TRIM=2s");
    cr_assert_eq(option_values[OPTION_POOL_TRIM].number, 10000000000);
    cr_assert_eq(line_count, 0);
}

Test(start, bad_value_gets_one_line_and_the_default)
{
    START("POOL_NATIVE=mimaloc");
    cr_assert_eq(line_count, 1);
    cr_assert_str_eq(lines[0], "POOL_NATIVE: bad value `mimaloc`: did you mean `mimalloc`? accepted: "
                               "mimalloc|libc|mmap; using the default `mimalloc`");
    cr_assert_str_eq(option_values[OPTION_POOL_NATIVE].text, "mimalloc");
    cr_assert_not(option_values[OPTION_POOL_NATIVE].from_environment);
    START("POOL_ARRAY_DEPTH=2000");
    cr_assert_eq(line_count, 1);
    cr_assert_str_eq(lines[0], "POOL_ARRAY_DEPTH: bad value `2000`: accepted: 1..1024; using the default `32`");
    START("POOL_STATS=sterr", "POOL_POLICY=thread");
    cr_assert_eq(line_count, 1);
    cr_assert_str_eq(lines[0], "POOL_STATS: bad value `sterr`: did you mean `stderr`? accepted: off|stderr|PATH; "
                               "using the default `stderr`");
}

Test(start, hostile_values_are_shown_short_and_harmless)
{
    char *huge = calloc(1, (1 << 20) + 16);
    memset(huge, 'x', (1 << 20) + 15);
    memcpy(huge, "POOL_STATS=/", 12);
    START(huge, "POOL_TRIM=\033]0;owned\007\n");
    free(huge);
    cr_assert_eq(line_count, 2);
    cr_assert_lt(strlen(lines[0]), 300);
    cr_assert_not_null(strstr(lines[0], "xxx...`: accepted: a path of at most 4096 bytes"));
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "off");
    cr_assert_not_null(strstr(lines[1], "`\\x1b]0;owned\\x07\\x0a`"));
}

Test(start, everything_at_its_longest_fits)
{
    char path[2][5000] = {"POOL_STATS=/", "POOL_LIVE=/"}, zeros[2][400] = {"POOL_TRIM=", "POOL_THREAD_BYTES="};
    memset(path[0] + 12, 'a', 4095);
    memset(path[1] + 11, 'b', 4095);
    memset(zeros[0] + 10, '0', 255);
    memset(zeros[1] + 18, '0', 256);
    strcat(zeros[0], "s");
    START(path[0], path[1], zeros[0], zeros[1]);
    cr_assert_eq(line_count, 0);
    cr_assert_eq(strlen(option_values[OPTION_POOL_STATS].text), 4096);
    cr_assert_str_eq(option_values[OPTION_POOL_LIVE].text, path[1] + 10);
    cr_assert_eq(option_values[OPTION_POOL_TRIM].number, 0);
}

Test(start, misspelt_names)
{
    START("POOL_POLCY=thread", "POOL_STAST=x", "POL_POLICY=x", "POOL_LIVE_=on");
    cr_assert_eq(line_count, 4);
    cr_assert_str_eq(lines[0], "unknown setting POOL_POLCY: did you mean `POOL_POLICY`?");
    cr_assert_str_eq(lines[1], "unknown setting POOL_STAST: did you mean `POOL_STATS`?");
    cr_assert_str_eq(lines[2], "unknown setting POL_POLICY: did you mean `POOL_POLICY`?");
    cr_assert_str_eq(lines[3], "unknown setting POOL_LIVE_: did you mean `POOL_LIVE`?");
    START("POOL_SOMETHING=1", "POOL_=1", "POOL_POLICY", "=POOL_POLICY", "", "PATH=/bin", "POOLS=1", "P", "P=");
    cr_assert_eq(line_count, 0);
    cr_assert_str_eq(option_values[OPTION_POOL_POLICY].text, "balanced");
}

Test(start, many_misspelt_names_do_not_fill_a_screen)
{
    char *entries[37] = {NULL};
    for (unsigned i = 0; i < 36; i++)
        entries[i] = (char *)"POOL_POLCY=1";
    start_with(entries);
    cr_assert_leq(line_count, 16);
}

Test(start, keeps_errno)
{
    errno = 4711;
    START("POOL_TRIM=bad", "POOL_POLCY=1");
    cr_assert_eq(errno, 4711);
}

Test(refuse, puts_the_default_back_and_says_so)
{
    START("POOL_POLICY=thred");
    cr_assert_eq(line_count, 0);
    options_refuse(OPTION_POOL_POLICY, "unknown policy", complain);
    cr_assert_eq(line_count, 1);
    cr_assert_str_eq(lines[0], "POOL_POLICY: bad value `thred`: unknown policy; using the default `balanced`");
    cr_assert_str_eq(option_values[OPTION_POOL_POLICY].text, "balanced");
    cr_assert_not(option_values[OPTION_POOL_POLICY].from_environment);
    cr_assert_str_eq(option_values[OPTION_POOL_STATS].text, "stderr");
}

Test(fuzz, environments)
{
    srand(2);
    for (int i = 0; i < FUZZ_ROUNDS; i++) {
        char texts[8][160];
        char *entries[9] = {NULL};
        for (int k = 0; k < 8; k++) {
            const char *name = options[rand() % OPTION_COUNT].name;
            size_t length = (size_t)snprintf(texts[k], sizeof(texts[k]), "%s=", name);
            if (rand() % 4 == 0)
                texts[k][rand() % (int)length] = (char)(rand() % 255 + 1);
            noise(texts[k] + length, sizeof(texts[k]) - length);
            entries[k] = texts[k];
        }
        start_with(entries);
        for (unsigned k = 0; k < line_count; k++) {
            for (const char *c = lines[k]; *c; c++)
                cr_assert((unsigned char)*c >= ' ' && *c != 127);
        }
    }
}

/*
 * poolmark options: the settings of the library, which of them are set in this environment, and what the library will
 * say about them.
 */
#define _GNU_SOURCE
#include <unistd.h>

#include "interpose/options.h"
#include "interpose/route.h"
#include "tools/arguments.h"
#include "tools/columns.h"
#include "tools/command.h"
#include "tools/json_out.h"
#include "tools/say.h"

enum { KEY_MARKDOWN = COMMAND_KEY };

static const char *const type_names[] = {
    [TYPE_ROUTE] = "route",   [TYPE_CHOICE] = "choice", [TYPE_TARGET] = "target", [TYPE_FOLDER] = "folder",
    [TYPE_SIGNAL] = "signal", [TYPE_TIME] = "time",     [TYPE_COUNT] = "count",   [TYPE_SIZE] = "size",
};

static struct {
    bool markdown;
    bool objected;
    json_t *complaints;
} state;

static bool accept(int key, const char *value)
{
    (void)key, (void)value;
    state.markdown = true;
    return true;
}

static void complain(const char *line)
{
    state.objected = true;
    json_array_append_new(state.complaints, json_text(line));
    say("%s", line);
}

/* Reads the environment as the library does at its start. */
static void read_environment(void)
{
    struct route route;
    char why[SAY_LINE];
    options_start(environ, complain);
    const struct option_value *policy = &option_values[OPTION_POOL_POLICY];
    if (policy->from_environment && !route_parse(policy->text, &route, why, sizeof why))
        options_refuse(OPTION_POOL_POLICY, why, complain);
}

static int print_json(void)
{
    json_t *list = json_array();
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        const struct option_value *v = &option_values[i];
        json_array_append_new(list, json_pack("{s:s, s:s, s:s, s:s, s:s, s:o, s:s}", "name", o->name, "type",
                                              type_names[o->type], "default", o->fallback, "values", o->values, "help",
                                              o->help, "value", json_text(v->text), "source",
                                              v->from_environment ? "env" : "default"));
    }
    return json_print(
        json_pack("{s:s, s:o, s:O}", "schema", "poolmark.options/1", "options", list, "complaints", state.complaints),
        stdout);
}

static void print_markdown(void)
{
    struct columns table = {.count = 4, .titles = {"variable", "values", "default", "meaning"}};
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        char name[64], values[96], fallback[64];
        snprintf(name, sizeof name, "`%s`", o->name);
        snprintf(values, sizeof values, "`%s`", o->values);
        snprintf(fallback, sizeof fallback, *o->fallback ? "`%s`" : "%s", o->fallback);
        columns_add(&table, (const char *[]){name, values, fallback, o->help});
    }
    columns_print_markdown(&table, stdout);
}

static void print_text(void)
{
    struct columns table = {.count = 5, .titles = {"setting", "set to", "default", "values", "meaning"}};
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        const struct option *o = &options[i];
        const struct option_value *v = &option_values[i];
        char now[48];
        snprintf(now, sizeof now, strlen(v->text) < sizeof now ? "%s" : "%.40s...", v->text);
        columns_add(&table, (const char *[]){o->name, v->from_environment ? now : "-", *o->fallback ? o->fallback : "-",
                                             o->values, o->help});
    }
    columns_print(&table, stdout);
}

static int run(int count, char **arguments)
{
    (void)count, (void)arguments;
    if (state.markdown) {
        print_markdown();
        return EXIT_DONE;
    }
    state.complaints = json_array();
    read_environment();
    int status = EXIT_DONE;
    if (arguments_want_json())
        status = print_json();
    else
        print_text();
    json_decref(state.complaints);
    return status == EXIT_DONE && state.objected ? EXIT_OBJECTION : status;
}

static const struct command_option table[] = {
    {"markdown", KEY_MARKDOWN, NULL, "Print a Markdown table without the environment, as in the README"},
    {0},
};

const struct command command_options = {
    .name = "options",
    .summary = "lists the settings, and checks those that are set now",
    .arguments = "",
    .examples = "  poolmark options\n"
                "  POOL_TRIM=2s poolmark options --json\n",
    .notes =
        "Settings are environment variables, read once when a program starts under the library. Sizes take K, M, G\n"
        "(1024), times ms, s, m. A value that the library would refuse gets the line that it would write.\n"
        "Exit status: 0, or 1 if it would refuse one.\n",
    .options = table,
    .accept = accept,
    .run = run,
};

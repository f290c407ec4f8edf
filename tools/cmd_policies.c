/*
 * poolmark policies: what a route can be made of.
 */
#include "interpose/route.h"
#include "tools/columns.h"
#include "tools/command.h"
#include "tools/arguments.h"
#include "tools/json_out.h"
#include "tools/text.h"

enum { KEY_MARKDOWN = COMMAND_KEY };

static struct {
    bool markdown;
} settings;

static bool accept(int key, const char *value)
{
    (void)key, (void)value;
    settings.markdown = true;
    return true;
}

static bool has_limit(const struct policy *policy)
{
    return policy->largest < CLASS_SIZE_MAX;
}

static int print_json(void)
{
    json_t *list = json_array(), *presets = json_array();
    for (const struct policy *const *p = policies; *p; p++)
        json_array_append_new(list,
                              json_pack("{s:s, s:s, s:o}", "name", (*p)->name, "summary", (*p)->summary, "largest",
                                        has_limit(*p) ? json_integer((json_int_t)(*p)->largest) : json_null()));
    for (const struct route_preset *p = route_presets; p->name; p++)
        json_array_append_new(presets,
                              json_pack("{s:s, s:s, s:s}", "name", p->name, "route", p->route, "summary", p->summary));
    return json_print(
        json_pack("{s:s, s:o, s:o}", "schema", "poolmark.policies/1", "policies", list, "presets", presets), stdout);
}

static void print_table(struct columns *table)
{
    if (settings.markdown)
        columns_print_markdown(table, stdout);
    else
        columns_print(table, stdout);
}

static int run(int count, char **arguments)
{
    (void)count, (void)arguments;
    if (arguments_want_json())
        return print_json();
    struct columns table = {.count = 3, .titles = {"policy", "serves up to", "what it does"}, .right = 1u << 1};
    for (const struct policy *const *p = policies; *p; p++)
        columns_add(&table, (const char *[]){(*p)->name, has_limit(*p) ? text_size((*p)->largest).s : "any size",
                                             (*p)->summary});
    print_table(&table);
    printf("\n");
    table = (struct columns){.count = 3, .titles = {"preset", "route", "what it is for"}};
    for (const struct route_preset *p = route_presets; p->name; p++)
        columns_add(&table, (const char *[]){p->name, p->route, p->summary});
    print_table(&table);
    return EXIT_DONE;
}

static const struct command_option options[] = {
    {"markdown", KEY_MARKDOWN, NULL, "Print Markdown tables, as in the README"},
    {0},
};

const struct command command_policies = {
    .name = "policies",
    .summary = "lists the policies and presets that a route is made of",
    .arguments = "",
    .examples = "  poolmark policies\n"
                "  poolmark run -p thread:32K,native PROGRAM    policies joined to a route\n",
    .notes = "A route is NAME[:UPTO],NAME[:UPTO],...: each policy serves sizes up to UPTO (bytes, or with K, M, G),\n"
             "the last one the rest. A preset stands for a route.\n",
    .options = options,
    .accept = accept,
    .run = run,
};

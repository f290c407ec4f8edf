/*
 * poolmark explain ROUTE: the route, size class by size class.
 *
 * The library fills its table of classes by asking the route once per class, for the class's largest size; so does
 * this verb.
 */
#include "interpose/route.h"
#include "tools/arguments.h"
#include "tools/columns.h"
#include "tools/command.h"
#include "tools/json_out.h"
#include "tools/say.h"
#include "tools/text.h"

static struct {
    bool all;
} settings;

static bool accept(int key, const char *value)
{
    (void)key, (void)value;
    settings.all = true;
    return true;
}

static int print_json(const struct route *route, const char *canonical)
{
    json_t *rules = json_array(), *classes = json_array();
    for (unsigned i = 0; i < route->count; i++) {
        size_t upto = route->rules[i].upto;
        json_array_append_new(rules, json_pack("{s:s, s:o}", "policy", route->rules[i].policy->name, "upto",
                                               upto == SIZE_MAX ? json_null() : json_integer((json_int_t)upto)));
    }
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        size_t size = class_size(class);
        const struct policy *policy = route_policy(route, size);
        json_array_append_new(classes, json_pack("{s:I, s:I, s:s, s:I}", "above", (json_int_t)class_size(class - 1),
                                                 "size", (json_int_t)size, "policy", policy->name, "block",
                                                 (json_int_t)policy->block_size(size)));
    }
    return json_print(json_pack("{s:s, s:s, s:o, s:o}", "schema", "poolmark.explain/1", "route", canonical, "rules",
                                rules, "classes", classes),
                      stdout);
}

static void print_all(const struct route *route)
{
    struct columns table = {.count = 5,
                            .titles = {"class", "sizes above", "up to", "block", "policy"},
                            .right = 1 | 1 << 1 | 1 << 2 | 1 << 3};
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        size_t size = class_size(class);
        const struct policy *policy = route_policy(route, size);
        columns_add(&table, (const char *[]){text_count(class).s, text_size(class_size(class - 1)).s, text_size(size).s,
                                             text_size(policy->block_size(size)).s, policy->name});
    }
    columns_print(&table, stdout);
}

static void print_ranges(const struct route *route)
{
    struct columns table = {.count = 5,
                            .titles = {"sizes above", "up to", "classes", "policy", "what it does"},
                            .right = 1 | 1 << 1 | 1 << 2};
    unsigned first = CLASS_FIRST;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        const struct policy *policy = route_policy(route, class_size(class));
        if (class + 1 < CLASS_COUNT && route_policy(route, class_size(class + 1)) == policy)
            continue;
        columns_add(&table, (const char *[]){text_size(class_size(first - 1)).s, text_size(class_size(class)).s,
                                             text_count(class + 1 - first).s, policy->name, policy->summary});
        first = class + 1;
    }
    columns_print(&table, stdout);
}

static int run(int count, char **arguments)
{
    (void)count;
    struct route route;
    char text[ROUTE_TEXT], why[SAY_LINE];
    if (!route_parse(arguments[0], &route, why, sizeof why))
        return say_failure("%s", why);
    route_print(&route, text, sizeof text);
    if (arguments_want_json())
        return print_json(&route, text);
    printf("route  %s\n\n", text);
    if (settings.all)
        print_all(&route);
    else
        print_ranges(&route);
    return EXIT_DONE;
}

static const struct command_option options[] = {
    {"all", 'a', NULL, "List each size class, also where neighbours have the same policy"},
    {0},
};

const struct command command_explain = {
    .name = "explain",
    .summary = "prints a route size class by size class",
    .arguments = "ROUTE",
    .examples = "  poolmark explain balanced\n"
                "  poolmark explain --all thread:32K,array:1M,native\n",
    .notes =
        "A request is served by the policy of its size class: the smallest class that holds it. `poolmark policies`\n"
        "lists what a route is made of.\n",
    .options = options,
    .accept = accept,
    .least = 1,
    .most = 1,
    .run = run,
};

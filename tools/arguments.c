/*
 * argp finds the options and would also report mistakes, but in two lines that hide the word; so it is told to be
 * silent, and after a failure find_mistake goes through the words once more to name the first bad one.
 */
#include "tools/arguments.h"

#include <argp.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "tools/paint.h"
#include "tools/say.h"

enum { OPTIONS_MOST = 32, KEY_JSON = 0x1000, KEY_COLOR, KEY_HELP };

// groups of the list: a verb's own options come first
enum { GROUP_COMMON = 90, GROUP_HELP };

static const struct argp_option common[] = {
    {"json", KEY_JSON, NULL, 0, "Print one JSON document, for programs", GROUP_COMMON},
    {"color", KEY_COLOR, "WHEN", 0, "Use colour: auto (on a terminal, unless NO_COLOR is set), always or never",
     GROUP_COMMON},
    {NULL, 'h', NULL, 0, "Show the short help", GROUP_HELP},
    {"help", KEY_HELP, NULL, 0, "Show the long help, examples first", GROUP_HELP},
};

struct parse {
    const struct command *command;
    struct arguments *ret;
    char **next; // where the next argument goes
};

static struct {
    bool json;
} state;

bool arguments_want_json(void)
{
    return state.json;
}

/* All options of the verb in argp's form, ends with {0}. */
static void list_options(const struct command *command, struct argp_option ret[OPTIONS_MOST])
{
    unsigned used = 0;
    memset(ret, 0, OPTIONS_MOST * sizeof ret[0]);
    for (const struct command_option *o = command->options; o->name; o++)
        ret[used++] = (struct argp_option){.name = o->name, .key = o->key, .arg = o->value, .doc = o->help};
    memcpy(ret + used, common, sizeof common);
}

static error_t take_argument(struct parse *parse, char *word, struct argp_state *argp)
{
    *parse->next++ = word;
    parse->ret->count++;
    if (!parse->command->runs_program)
        return 0;
    while (argp->next < argp->argc) {
        *parse->next++ = argp->argv[argp->next++];
        parse->ret->count++;
    }
    return 0;
}

/* What argp calls for each word. ECANCELED: what is wrong has been said. */
static error_t take(int key, char *value, struct argp_state *argp)
{
    struct parse *parse = argp->input;
    switch (key) {
    case KEY_JSON:
        state.json = true;
        return 0;
    case KEY_COLOR:
        if (paint_choose(value))
            return 0;
        say("--color: `%s` is none of auto, always, never", value);
        return ECANCELED;
    case 'h':
        parse->ret->help = HELP_SHORT;
        return 0;
    case KEY_HELP:
        parse->ret->help = HELP_LONG;
        return 0;
    case ARGP_KEY_ARG:
        return take_argument(parse, value, argp);
    case ARGP_KEY_ARGS:
    case ARGP_KEY_NO_ARGS:
    case ARGP_KEY_INIT:
    case ARGP_KEY_FINI:
    case ARGP_KEY_END:
    case ARGP_KEY_SUCCESS:
    case ARGP_KEY_ERROR:
        return ARGP_ERR_UNKNOWN;
    default:
        return parse->command->accept(key, value) ? 0 : ECANCELED;
    }
}

/* The option that `--name` means: exact, or the only one that begins so. *ret_many: more than one does. */
static const struct argp_option *find_long(const struct argp_option *options, const char *name, size_t length,
                                           bool *ret_many)
{
    const struct argp_option *found = NULL;
    *ret_many = false;
    for (const struct argp_option *o = options; o->name || o->key; o++) {
        if (!o->name || strncmp(o->name, name, length))
            continue;
        if (!o->name[length])
            return o;
        *ret_many = found != NULL;
        found = o;
    }
    return *ret_many ? NULL : found;
}

static void say_unknown_long(const char *verb, const struct argp_option *options, const char *name, size_t length)
{
    const char *best = NULL;
    unsigned distance = 3;
    char word[64];
    snprintf(word, sizeof word, "%.*s", (int)length, name);
    for (const struct argp_option *o = options; o->name || o->key; o++)
        if (o->name)
            say_nearest(word, o->name, &best, &distance);
    if (best)
        say("%s: unknown option `--%s`; did you mean `--%s`?", verb, word, best);
    else
        say("%s: unknown option `--%s`; see `poolmark %s -h`", verb, word, verb);
}

/* Checks a word that begins with `--`. True if it is the mistake and has been said; *ret_skip: it uses the next word. */
static bool is_bad_long(const char *verb, const struct argp_option *options, const char *word, bool last,
                        bool *ret_skip)
{
    const char *name = word + 2, *value = strchr(name, '=');
    size_t length = value ? (size_t)(value - name) : strlen(name);
    bool many;
    const struct argp_option *o = find_long(options, name, length, &many);
    *ret_skip = o && o->arg && !value;
    if (many)
        say("%s: `%s` is the beginning of several options", verb, word);
    else if (!o)
        say_unknown_long(verb, options, name, length);
    else if (!o->arg && value)
        say("%s: --%s takes no value, so `%s` is wrong", verb, o->name, word);
    else if (*ret_skip && last)
        say("%s: --%s needs a value (%s)", verb, o->name, o->arg);
    else
        return false;
    return true;
}

/* The same for a word of short options. */
static bool is_bad_short(const char *verb, const struct argp_option *options, const char *word, bool last,
                         bool *ret_skip)
{
    *ret_skip = false;
    for (const char *c = word + 1; *c; c++) {
        const struct argp_option *o = options;
        while ((o->name || o->key) && o->key != *c)
            o++;
        if (!o->name && !o->key) {
            say("%s: unknown option `-%c`%s%s; see `poolmark %s -h`", verb, *c, word[2] ? " in " : "",
                word[2] ? word : "", verb);
            return true;
        }
        if (!o->arg)
            continue;
        *ret_skip = !c[1];
        if (*ret_skip && last)
            say("%s: -%c needs a value (%s)", verb, *c, o->arg);
        return *ret_skip && last;
    }
    return false;
}

static void find_mistake(const struct command *command, const struct argp_option *options, int argc, char **argv)
{
    for (int i = 1; i < argc; i++) {
        const char *word = argv[i];
        bool skip = false, last = i + 1 == argc;
        if (!strcmp(word, "--"))
            break;
        if (word[0] != '-' || !word[1]) {
            if (command->runs_program)
                break;
            continue;
        }
        if (word[1] == '-' ? is_bad_long(command->name, options, word, last, &skip)
                           : is_bad_short(command->name, options, word, last, &skip))
            return;
        i += skip;
    }
    say("%s: bad options; see `poolmark %s -h`", command->name, command->name);
}

/* Names the first capital word of the usage line. */
static bool say_missing(const struct command *command)
{
    static const char capitals[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ";
    const char *word = strpbrk(command->arguments, capitals);
    return say_no("%s: %.*s is missing; see `poolmark %s -h`", command->name, (int)strspn(word, capitals), word,
                  command->name);
}

static bool is_count_right(const struct command *command, const struct arguments *arguments)
{
    if (arguments->help)
        return true;
    if (arguments->count < command->least)
        return say_missing(command);
    if (command->most >= 0 && arguments->count > command->most)
        return say_no("%s: `%s` is one argument too many", command->name, arguments->words[command->most]);
    return true;
}

bool arguments_parse(const struct command *command, int argc, char **argv, struct arguments *ret)
{
    struct argp_option options[OPTIONS_MOST];
    list_options(command, options);
    *ret = (struct arguments){.words = calloc((size_t)argc + 1, sizeof(char *))};
    char **copy = calloc((size_t)argc + 1, sizeof(char *));
    if (!copy || !ret->words)
        return say_no("out of memory");
    memcpy(copy, argv, (size_t)argc * sizeof(char *)); // argp changes the order
    struct argp argp = {.options = options, .parser = take};
    struct parse parse = {command, ret, ret->words};
    unsigned flags = ARGP_SILENT | (command->runs_program ? ARGP_IN_ORDER : 0);
    error_t error = argp_parse(&argp, argc, copy, flags, NULL, &parse);
    free(copy);
    if (error && error != ECANCELED)
        find_mistake(command, options, argc, argv);
    return !error && is_count_right(command, ret);
}

void arguments_print_options(const struct command *command)
{
    struct argp_option options[OPTIONS_MOST];
    list_options(command, options);
    struct argp argp = {.options = options};
    argp_help(&argp, stdout, ARGP_HELP_LONG, (char *)command->name);
}

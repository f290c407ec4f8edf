/*
 * Settings from the environment, before anything else of the library or the program has run.
 *
 * The idea: the environment is walked once, each entry is looked up in the table, and what is accepted is copied into
 * an arena that options.def itself has sized: the longest text of every row, summed up by the preprocessor, so it
 * cannot overflow. Programs move and overwrite the original environment (to show a status in process lists); nothing
 * here points into it afterwards. Pages of the arena that no setting needs are never touched.
 *
 * The price: some 11 KiB of address space. Dropped: getenv (the program may replace it, and it cannot see a misspelt
 * name), strtoul and friends (locale), one buffer per row (each would cost a page of its own when used).
 */
#define _GNU_SOURCE
#include "options.h"

#include "message.h"

enum {
    SHOWN = 48,       // bytes of a bad value that are shown
    SUGGESTIONS = 16, // lines about unknown names: an environment full of them must not fill a screen
};

/* How long the text of each type may be; the arena holds one of each row, with its NUL. */
enum {
    MAX_ROUTE = OPTION_WORD_MAX,
    MAX_CHOICE = OPTION_WORD_MAX,
    MAX_TARGET = OPTION_PATH_MAX,
    MAX_FOLDER = OPTION_PATH_MAX,
    MAX_SIGNAL = OPTION_WORD_MAX,
    MAX_TIME = OPTION_WORD_MAX,
    MAX_COUNT = OPTION_WORD_MAX,
    MAX_SIZE = OPTION_WORD_MAX,
#define OPTION(name, type, fallback, values, help) +(MAX_##type + 1)
    ARENA = 0
#include "options.def"
#undef OPTION
};

const struct option options[OPTION_COUNT] = {
#define OPTION(name, type, fallback, values, help) {#name, fallback, values, help, TYPE_##type},
#include "options.def"
#undef OPTION
};

struct option_value option_values[OPTION_COUNT] = {
#define OPTION(name, type, fallback, values, help) {fallback, 0, false},
#include "options.def"
#undef OPTION
};

static struct {
    char arena[ARENA]; // fixed after start: the accepted texts
    size_t used;       // fixed after start
    bool policy_set;   // fixed after start: POOL_POLICY has a value, good or bad
} state;

/* What an environment says: the value of each setting that it names, in its own memory. */
struct found {
    const char *values[OPTION_COUNT]; // NULL: not named, empty: as if not named
    unsigned suggestions;
};

static const char *default_text(enum option_id id)
{
    if (id == OPTION_POOL_STATS)
        return state.policy_set ? "stderr" : "off";
    return options[id].fallback;
}

static const char *text_keep(const char *text)
{
    size_t bytes = strlen(text) + 1;
    assert(bytes <= ARENA - state.used);
    char *copy = memcpy(state.arena + state.used, text, bytes);
    state.used += bytes;
    return copy;
}

/* Finds the setting of this name; OPTION_COUNT if there is none. */
static enum option_id name_find(const char *name)
{
    enum option_id id = 0;
    while (id < OPTION_COUNT && strcmp(options[id].name, name) != 0)
        id++;
    return id;
}

static void unknown_name(const char *name, struct found *found, void (*complain)(const char *line))
{
    const char *meant = NULL;
    unsigned best = OPTION_EDITS + 1;
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        unsigned edits = edit_distance(options[id].name, name, OPTION_EDITS);
        if (edits < best) {
            best = edits;
            meant = options[id].name;
        }
    }
    if (!meant || found->suggestions++ >= SUGGESTIONS)
        return;
    char shown[OPTION_NAME * 4], line[MESSAGE_LINE];
    message_escape(shown, sizeof(shown), name, OPTION_NAME);
    message_format(line, sizeof(line), "unknown setting %s: did you mean `%s`?", shown, meant);
    complain(line);
}

/* Looks at one "NAME=VALUE". Names that do not begin with a P are none of ours, nor misspellings of them. */
static void entry_read(const char *entry, struct found *found, void (*complain)(const char *line))
{
    char name[OPTION_NAME];
    if (*entry != 'P')
        return;
    size_t length = 0;
    while (entry[length] && entry[length] != '=') {
        if (length == sizeof(name) - 1)
            return;
        name[length] = entry[length];
        length++;
    }
    name[length] = '\0';
    if (!entry[length])
        return; // no "=": no variable
    enum option_id id = name_find(name);
    if (id == OPTION_COUNT)
        unknown_name(name, found, complain);
    else if (!found->values[id])
        found->values[id] = entry + length + 1;
}

static void fall_back(enum option_id id)
{
    const char *failed = option_parse(&options[id], default_text(id), &option_values[id]);
    assert(!failed);
    (void)failed;
}

static void bad_value(enum option_id id, const char *text, const char *reason, void (*complain)(const char *line))
{
    char shown[SHOWN], line[MESSAGE_LINE];
    message_escape(shown, sizeof(shown), text, OPTION_PATH_MAX);
    message_format(line, sizeof(line), "%s: bad value `%s`: %s; using the default `%s`", options[id].name, shown,
                   reason, default_text(id));
    complain(line);
}

static void value_read(enum option_id id, const char *text, void (*complain)(const char *line))
{
    const char *accepted = option_parse(&options[id], text, &option_values[id]);
    if (!accepted) {
        option_values[id].text = text_keep(text);
        option_values[id].from_environment = true;
        return;
    }
    char meant[OPTION_NAME], hint[OPTION_NAME + 32], reason[MESSAGE_LINE];
    hint[0] = '\0';
    if (option_suggest(&options[id], text, meant))
        message_format(hint, sizeof(hint), "did you mean `%s`? ", meant);
    message_format(reason, sizeof(reason), "%saccepted: %s", hint, accepted);
    bad_value(id, text, reason, complain);
}

void options_start(char **environment, void (*complain)(const char *line))
{
    int error = errno;
    struct found found = {0};
    for (char **entry = environment; entry && *entry; entry++)
        entry_read(*entry, &found, complain);
    const char *policy = found.values[OPTION_POOL_POLICY];
    state.policy_set = policy && *policy;
    state.used = 0;
    for (enum option_id id = 0; id < OPTION_COUNT; id++) {
        fall_back(id);
        const char *text = found.values[id];
        if (text && *text)
            value_read(id, text, complain);
    }
    errno = error;
}

void options_refuse(enum option_id id, const char *reason, void (*complain)(const char *line))
{
    const char *text = option_values[id].text;
    fall_back(id);
    bad_value(id, text, reason, complain);
}

/*
 * The settings of options.def, read once from the environment at start.
 *
 * A bad value, an unknown policy or an unknown POOL_* name within two edits of a known one gets one line that names
 * it and what is accepted, then the default. After start everything here is fixed: any thread may read it.
 */
#ifndef POOLMARK_OPTIONS_H
#define POOLMARK_OPTIONS_H

#include "base.h"

enum option_id {
#define OPTION(name, type, fallback, values, help) OPTION_##name,
#include "options.def"
#undef OPTION
    OPTION_COUNT
};

enum option_type {
    TYPE_ROUTE,
    TYPE_CHOICE,
    TYPE_TARGET,
    TYPE_FOLDER,
    TYPE_SIGNAL,
    TYPE_TIME,
    TYPE_COUNT,
    TYPE_SIZE,
};

enum {
    OPTION_NAME = 64,       // bytes of the longest name or word that is compared, with its NUL
    OPTION_WORD_MAX = 256,  // bytes of a value; more is refused
    OPTION_PATH_MAX = 4096, // the same for values that may be a path
    OPTION_EDITS = 2,       // a misspelling is at most this far from what was meant
};

/* One row of the table, for listings and for the parser. */
struct option {
    const char *name, *fallback, *values, *help;
    enum option_type type;
};

extern HIDDEN const struct option options[OPTION_COUNT];

/* What came of one row. */
struct option_value {
    const char *text; // the accepted text, a copy that lives as long as the process; never NULL
    uint64_t number;  // ROUTE, TARGET, FOLDER: 0. CHOICE: index. SIGNAL: number, 0 off. TIME: ns, UINT64_MAX off.
                      // COUNT, SIZE: the number; "auto" is 0
    bool from_environment;
};

extern HIDDEN struct option_value option_values[OPTION_COUNT]; // fixed after start

/*
 * Reads `environment` (NULL: defaults, as a setuid program should see). `complain` gets each line that the
 * user should see, without prefix or newline; several per call are possible, some 30 at most. Copies what it keeps.
 * Keeps errno. Once, at start.
 */
HIDDEN void options_start(char **environment, void (*complain)(const char *line));

/*
 * Puts a setting back to its default because what it was set to has turned out to be unusable (a route that names an
 * unknown policy), and says so: `reason` is what is wrong and what is accepted. At start only.
 */
HIDDEN void options_refuse(enum option_id id, const char *reason, void (*complain)(const char *line));

/*
 * Parses one value. Returns NULL and fills *ret (text: the argument itself) on success, else a constant text that says
 * what is accepted. Pure, async-signal-safe. ROUTE is only checked for shape here; route_parse does the rest.
 */
HIDDEN const char *option_parse(const struct option *option, const char *text, struct option_value *ret);

/*
 * The word of the row's `values` that `text` is a misspelling of (`of`, `OFF` for off), copied into `ret`. False if
 * there is none. Pure.
 */
HIDDEN bool option_suggest(const struct option *option, const char *text, char ret[OPTION_NAME]);

/*
 * Edits (insert, delete, replace, swap of neighbours) between two words, at most `limit` + 1. Words of more than 63
 * bytes are near to nothing but themselves.
 */
HIDDEN unsigned edit_distance(const char *a, const char *b, unsigned limit);

/* Parses "32K", "1M", "2G" (also 32KiB, 32KB, 32k), "4096": true and *ret, false on anything else (sign, overflow). */
HIDDEN bool size_parse(const char *text, size_t length, size_t *ret);

/* Parses "10s", "250ms", "2m": nanoseconds, less than UINT64_MAX. */
HIDDEN bool time_parse(const char *text, size_t length, uint64_t *ret);

#endif

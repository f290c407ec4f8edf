/*
 * The settings of options.def, read once from the environment at start.
 *
 * A bad value, an unknown policy or an unknown POOL_* name within two edits of a known one gets one line that names
 * it and what is accepted, then the default. After options_start everything here is fixed: any thread may read it.
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

enum option_type { OPTION_ROUTE, OPTION_CHOICE, OPTION_TARGET, OPTION_FOLDER, OPTION_SIGNAL, OPTION_TIME, OPTION_COUNT_OF, OPTION_SIZE };

/* One row of the table, for listings and for the parser. */
struct option {
    const char *name, *fallback, *values, *help;
    enum option_type type;
};

extern HIDDEN const struct option options[OPTION_COUNT];

/* What came of one row. */
struct option_value {
    const char *text;    // the accepted text, a copy that lives as long as the process; never NULL
    uint64_t number;     // ROUTE, TARGET, FOLDER: 0. CHOICE: index. SIGNAL: number, 0 off. TIME: ns, UINT64_MAX off.
                         // COUNT, SIZE: the number; "auto" is 0
    bool from_environment;
};

extern HIDDEN struct option_value option_values[OPTION_COUNT]; // fixed after options_start

/*
 * Reads the environment (secure_getenv, so a setuid program sees defaults). `complain` gets each line that the user
 * should see, without prefix or newline; several per call are possible. Copies what it keeps. Once, at start.
 */
HIDDEN void options_start(char **environment, void (*complain)(const char *line));

/*
 * Parses one value. Returns NULL and fills *ret on success, else a constant text that says what is accepted. Pure,
 * async-signal-safe. ROUTE is only checked for shape here; route_parse does the rest.
 */
HIDDEN const char *option_parse(const struct option *option, const char *text, struct option_value *ret);

/* Edits (insert, delete, replace, swap of neighbours) between two words, at most `limit` + 1. */
HIDDEN unsigned edit_distance(const char *a, const char *b, unsigned limit);

/* Parses "32K", "1M", "2G", "4096": true and *ret, false on anything else (sign, overflow, rest). */
HIDDEN bool size_parse(const char *text, size_t length, size_t *ret);

/* Parses "10s", "250ms", "2m": nanoseconds. */
HIDDEN bool time_parse(const char *text, size_t length, uint64_t *ret);

#endif

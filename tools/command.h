/*
 * A verb of the command `poolmark`, and the table of all verbs.
 *
 * A verb is one line in commands.def and one file cmd_VERB.c that exports one constant object, command_VERB. Help,
 * `poolmark help`, suggestions on misspelling and option parsing come from that object; the file itself only takes its
 * options (accept) and does its work (run).
 *
 * Results go to stdout, messages to stderr. Exit statuses are those of enum exit_status, or for verbs that run a
 * program the program's own.
 */
#ifndef POOLMARK_TOOLS_COMMAND_H
#define POOLMARK_TOOLS_COMMAND_H

#include <stdbool.h>

enum exit_status {
    EXIT_DONE = 0,
    EXIT_OBJECTION = 1,     // the verb worked, and what it looked at is not in order
    EXIT_OURS = 125,        // bad usage, or we failed
    EXIT_NO_EXEC = 126,     // the program was found but cannot be executed
    EXIT_NOT_FOUND = 127,   // the program was not found
    EXIT_SIGNAL_BASE = 128, // plus n: the program was ended by signal n
};

struct command_option {
    const char *name;  // without the dashes
    int key;           // its letter, or a number from COMMAND_KEY on for an option without one
    const char *value; // what follows it, for the help; NULL: nothing
    const char *help;
};

enum { COMMAND_KEY = 0x2000 };

struct command {
    const char *name, *summary;
    const char *arguments;                      // what follows the options in the usage line; "" for nothing
    const char *examples;                       // first in --help: one example per line, indented by two; "" for none
    const char *notes;                          // last in --help; "" for none
    const struct command_option *options;       // without the common ones of arguments.c; ends with {0}
    bool (*accept)(int key, const char *value); // takes one of `options`; false if it has said what is wrong
    bool runs_program;                          // the first argument is a program: all words after it are the program's
    int least, most;                            // number of arguments; most < 0: any
    int (*run)(int count, char **arguments);    // returns the exit status
};

/* The table of commands.def; ends with NULL. Defined in poolmark.c. */
extern const struct command *const commands[];

/* The verb of this name, NULL if there is none. */
const struct command *command_find(const char *name);

/* Says in one line that there is no such verb, with the nearest one; returns EXIT_OURS. */
int command_say_unknown(const char *name);

/* A verb without options of its own: its accept, never called. */
bool command_accepts_nothing(int key, const char *value);

#endif

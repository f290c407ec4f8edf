/*
 * The words after the verb: options by argp, then the verb's arguments.
 *
 * Every verb has -h, --help, --json and --color beside its own options. For a verb that runs a program the first word
 * that is no option ends ours: all after it is the program's. `--` ends the options too.
 */
#ifndef POOLMARK_TOOLS_ARGUMENTS_H
#define POOLMARK_TOOLS_ARGUMENTS_H

#include "tools/command.h"

enum arguments_help { HELP_NONE, HELP_SHORT, HELP_LONG };

struct arguments {
    enum arguments_help help; // which help was asked for
    int count;
    char **words; // the arguments, ends with NULL; points into argv
};

/*
 * Parses argv (argv[0] is the verb; its order may change). Returns true and fills *ret, or says in one line which word
 * is wrong and returns false.
 */
bool arguments_parse(const struct command *command, int argc, char **argv, struct arguments *ret);

/* Whether --json was given. */
bool arguments_want_json(void);

/* Prints the list of the verb's options, the common ones last. */
void arguments_print_options(const struct command *command);

#endif

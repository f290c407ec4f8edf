/*
 * Help, printed from the table of verbs: nothing here is written twice.
 */
#ifndef POOLMARK_TOOLS_HELP_H
#define POOLMARK_TOOLS_HELP_H

#include "tools/command.h"

/* The command as a whole: the short form lists the verbs, the long one begins with examples. */
void help_print_overview(bool complete);

/* One verb. */
void help_print(const struct command *command, bool complete);

#endif

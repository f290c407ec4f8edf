/*
 * poolmark help [COMMAND]: the long help of one verb, or of the whole command.
 */
#include <stdio.h>

#include "tools/help.h"
#include "tools/say.h"

static int run(int count, char **arguments)
{
    if (!count) {
        help_print_overview(true);
        return EXIT_DONE;
    }
    const struct command *command = command_find(arguments[0]);
    if (!command)
        return command_say_unknown(arguments[0]);
    help_print(command, true);
    return EXIT_DONE;
}

static const struct command_option options[] = {{0}};

const struct command command_help = {
    .name = "help",
    .summary = "tells all about one command",
    .arguments = "[COMMAND]",
    .examples = "  poolmark help run\n",
    .notes = "",
    .options = options,
    .accept = command_accepts_nothing,
    .most = 1,
    .run = run,
};

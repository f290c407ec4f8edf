/*
 * The lists of options are laid out by argp; the rest is ours, because argp has no place for examples at the top.
 */
#include "tools/help.h"

#include <stdio.h>

#include "tools/arguments.h"
#include "tools/paint.h"

static const char overview_examples[] =
    "  poolmark run python3 script.py        under the default route, ten lines at the end\n"
    "  poolmark run -p thread,native -- make -j4\n"
    "                                        a whole process tree under another route\n"
    "  poolmark explain balanced             which size goes to which policy\n"
    "  poolmark options                      all settings, and which are set now\n";

static const char exit_statuses[] =
    "  125 our failure or bad usage, 126 the program is not executable, 127 it was not found,\n"
    "  128+n it was ended by signal n; else the program's own status\n";

static void print_title(const char *title)
{
    printf("\n%s%s%s\n", paint(stdout, PAINT_TITLE), title, paint(stdout, PAINT_PLAIN));
}

void help_print_overview(bool complete)
{
    puts("poolmark runs existing programs under memory pools and says what that gains and costs.");
    if (complete) {
        print_title("Examples");
        fputs(overview_examples, stdout);
    }
    print_title("Usage");
    puts("  poolmark COMMAND [OPTION...] [ARGUMENT...]");
    print_title("Commands");
    for (const struct command *const *command = commands; *command; command++)
        printf("  %-10s %s\n", (*command)->name, (*command)->summary);
    print_title("Options");
    puts("  -h         this list\n"
         "  --help     the same with examples and exit statuses\n"
         "  --version  the version");
    if (complete) {
        print_title("Exit status");
        fputs(exit_statuses, stdout);
    }
    puts("\n`poolmark help COMMAND` tells all about one command.");
}

void help_print(const struct command *command, bool complete)
{
    printf("poolmark %s: %s\n", command->name, command->summary);
    if (complete && *command->examples) {
        print_title("Examples");
        fputs(command->examples, stdout);
    }
    print_title("Usage");
    printf("  poolmark %s [OPTION...] %s\n", command->name, command->arguments);
    print_title("Options");
    arguments_print_options(command);
    if (!complete)
        return;
    if (*command->notes)
        printf("\n%s", command->notes);
    if (command->runs_program) {
        print_title("Exit status");
        fputs(exit_statuses, stdout);
    }
}

/*
 * The command `poolmark`: finds the verb, parses its words, runs it.
 *
 * All that can be listed is in commands.def and in the objects that the cmd_*.c files export.
 */
#include <errno.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/help.h"
#include "tools/program.h"
#include "tools/say.h"

#define COMMAND(name) extern const struct command command_##name;
#include "tools/commands.def"
#undef COMMAND

#define COMMAND(name) &command_##name,
const struct command *const commands[] = {
#include "tools/commands.def"
    NULL,
};
#undef COMMAND

const struct command *command_find(const char *name)
{
    for (const struct command *const *command = commands; *command; command++)
        if (!strcmp((*command)->name, name))
            return *command;
    return NULL;
}

bool command_accepts_nothing(int key, const char *value)
{
    (void)key, (void)value;
    return false;
}

int command_say_unknown(const char *name)
{
    const char *best = NULL;
    unsigned distance = 3;
    for (const struct command *const *command = commands; *command; command++)
        say_nearest(name, (*command)->name, &best, &distance);
    if (best)
        return say_failure("unknown command `%s`; did you mean `%s`?", name, best);
    char *program = *name ? program_find(name) : NULL;
    free(program);
    if (program)
        return say_failure("unknown command `%s`; did you mean `poolmark run %s`?", name, name);
    return say_failure("unknown command `%s`; `poolmark -h` lists them", name);
}

static int run_option(const char *option)
{
    if (!strcmp(option, "-h") || !strcmp(option, "--help")) {
        help_print_overview(option[1] == '-');
        return EXIT_DONE;
    }
    if (!strcmp(option, "--version")) {
        puts("poolmark " POOLMARK_VERSION);
        return EXIT_DONE;
    }
    return say_failure("unknown option `%s`; the options of a command come after its name, see `poolmark -h`", option);
}

static int run_command(int argc, char **argv)
{
    const struct command *command = command_find(argv[0]);
    struct arguments arguments;
    if (!command)
        return command_say_unknown(argv[0]);
    if (!arguments_parse(command, argc, argv, &arguments))
        return EXIT_OURS;
    if (arguments.help) {
        help_print(command, arguments.help == HELP_LONG);
        return EXIT_DONE;
    }
    return command->run(arguments.count, arguments.words);
}

int main(int argc, char **argv)
{
    int status = EXIT_DONE;
    setlocale(LC_CTYPE, "");
    if (argc < 2)
        help_print_overview(false);
    else if (argv[1][0] == '-')
        status = run_option(argv[1]);
    else
        status = run_command(argc - 1, argv + 1);
    if ((fflush(stdout) || ferror(stdout)) && status == EXIT_DONE)
        return say_failure("cannot write the result: %s", strerror(errno));
    return status;
}

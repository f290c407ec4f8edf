/*
 * Messages are put together in a buffer and written by one call, so lines of several processes do not mix.
 */
#include "tools/say.h"

#include <stdarg.h>
#include <stdio.h>

#include "interpose/options.h"
#include "tools/command.h"

enum { LONG_WORD = 5 }; // of a shorter word one edit leaves enough to be sure

static void write_line(const char *format, va_list arguments)
{
    char line[SAY_LINE];
    size_t used = (size_t)snprintf(line, sizeof line, "poolmark: ");
    int wanted = vsnprintf(line + used, sizeof line - used, format, arguments);
    bool cut = wanted < 0 || (size_t)wanted >= sizeof line - used;
    for (char *c = line; *c; c++)
        if ((unsigned char)*c < ' ' || *c == 0x7f)
            *c = '?';
    fprintf(stderr, "%s%s\n", line, cut ? "..." : "");
}

void say(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
}

int say_failure(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
    return EXIT_OURS;
}

bool say_no(const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    write_line(format, arguments);
    va_end(arguments);
    return false;
}

void say_nearest(const char *word, const char *candidate, const char **best, unsigned *distance)
{
    unsigned most = strlen(candidate) < LONG_WORD ? 1 : 2;
    unsigned edits = edit_distance(word, candidate, most);
    if (edits > most || edits >= *distance)
        return;
    *best = candidate;
    *distance = edits;
}

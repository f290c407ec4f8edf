/*
 * Four styles and no library: what every terminal of the last thirty years understands.
 */
#include "tools/paint.h"

#include <langinfo.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

static struct {
    enum { COLOR_AUTO, COLOR_ALWAYS, COLOR_NEVER } when;
} state;

static const char *const escapes[] = {"\033[0m", "\033[1m", "\033[32m", "\033[2m"};

bool paint_choose(const char *when)
{
    static const char *const words[] = {"auto", "always", "never"};
    for (unsigned i = 0; i < 3; i++)
        if (!strcmp(when, words[i])) {
            state.when = i;
            return true;
        }
    return false;
}

static bool is_colored(FILE *stream)
{
    if (state.when != COLOR_AUTO)
        return state.when == COLOR_ALWAYS;
    const char *no_color = getenv("NO_COLOR"), *terminal = getenv("TERM");
    if (no_color && *no_color)
        return false;
    if (terminal && !strcmp(terminal, "dumb"))
        return false;
    return isatty(fileno(stream));
}

const char *paint(FILE *stream, enum paint_style style)
{
    return is_colored(stream) ? escapes[style] : "";
}

unsigned paint_columns(FILE *stream)
{
    struct winsize size;
    if (!isatty(fileno(stream)) || ioctl(fileno(stream), TIOCGWINSZ, &size))
        return 0;
    return size.ws_col;
}

bool paint_unicode(void)
{
    return !strcmp(nl_langinfo(CODESET), "UTF-8");
}

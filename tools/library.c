/*
 * The library is looked for from the executable on, so a build tree and an installed tree work without settings.
 */
#define _GNU_SOURCE
#include "tools/library.h"

#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "interpose/base.h"
#include "tools/say.h"

#define LIBRARY_NAME       "libpoolmark.so"
#define PRELOAD_SEPARATORS " :\t\n"

// relative to the executable's folder, except the last ones
static const char *const folders[] = {
    ".",
    "../lib",
    "../lib/poolmark",
    "../lib64",
    "../lib/x86_64-linux-gnu",
    "../lib/x86_64-linux-gnu/poolmark",
    "/usr/local/lib",
    "/usr/lib/x86_64-linux-gnu",
    "/usr/lib",
};

static char *find_from_environment(const char *path)
{
    char *library = realpath(path, NULL);
    if (!library || access(library, R_OK)) {
        say("POOLMARK_LIBRARY: `%s`: %s", path, strerror(errno));
        free(library);
        return NULL;
    }
    return library;
}

char *library_find(void)
{
    const char *asked = getenv("POOLMARK_LIBRARY");
    if (asked && *asked)
        return find_from_environment(asked);
    char own[PATH_MAX], path[2 * PATH_MAX];
    ssize_t length = readlink("/proc/self/exe", own, sizeof own - 1);
    if (length < 0)
        length = 0;
    own[length] = '\0';
    char *slash = strrchr(own, '/');
    if (slash)
        *slash = '\0';
    for (unsigned i = 0; i < ARRAY_LENGTH(folders); i++) {
        bool relative = folders[i][0] == '.';
        snprintf(path, sizeof path, "%s%s%s/" LIBRARY_NAME, relative ? own : "", relative ? "/" : "", folders[i]);
        char *library = access(path, R_OK) ? NULL : realpath(path, NULL);
        if (library)
            return library;
    }
    say(LIBRARY_NAME " was not found beside the command (%s) nor in ../lib; POOLMARK_LIBRARY can name it", own);
    return NULL;
}

/* A path to the library without separators: itself or a link to it. To be freed. */
static char *name_for_loader(const char *library, const char *folder)
{
    char *link;
    if (!strpbrk(library, PRELOAD_SEPARATORS))
        return strdup(library);
    if (strpbrk(folder, PRELOAD_SEPARATORS) || asprintf(&link, "%s/" LIBRARY_NAME, folder) < 0)
        return NULL;
    if (!symlink(library, link))
        return link;
    free(link);
    return NULL;
}

bool library_preload(const char *library, const char *folder)
{
    const char *others = getenv("LD_PRELOAD");
    char *name = name_for_loader(library, folder), *list = NULL;
    if (!name)
        return say_no("the library's path `%s` has a space or colon, where LD_PRELOAD is split: move the library, or "
                      "link it from another folder and set POOLMARK_LIBRARY",
                      library);
    bool others_there = others && *others;
    bool done = asprintf(&list, "%s%s%s", name, others_there ? ":" : "", others_there ? others : "") >= 0 &&
                !setenv("LD_PRELOAD", list, 1);
    free(name);
    free(list);
    return done ? true : say_no("out of memory");
}

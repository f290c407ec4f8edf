/*
 * A word with a slash is a path; any other is looked for in PATH.
 */
#define _GNU_SOURCE
#include "tools/program.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_executable(const char *path)
{
    struct stat status;
    return !stat(path, &status) && S_ISREG(status.st_mode) && !access(path, X_OK);
}

char *program_find(const char *name)
{
    if (!*name)
        return NULL;
    if (strchr(name, '/'))
        return is_executable(name) ? strdup(name) : NULL;
    const char *folders = getenv("PATH");
    if (!folders)
        folders = "/bin:/usr/bin"; // execvp's own default
    while (true) {
        size_t length = strcspn(folders, ":");
        char *path;
        if (asprintf(&path, "%.*s%s%s", (int)length, folders, length ? "/" : "./", name) < 0)
            return NULL;
        if (is_executable(path))
            return path;
        free(path);
        if (!folders[length])
            return NULL;
        folders += length + 1;
    }
}

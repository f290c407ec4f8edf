/*
 * Memory-backed folders come first: a page file is written at memory speed and no disk sees it. A folder with little
 * room is passed over, since containers often have a tiny /dev/shm.
 *
 * POOL_LIVE=off counts as not set: without pages there would be nothing to sum up, and the folder is gone afterwards.
 */
#define _GNU_SOURCE
#include "tools/live.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "interpose/base.h"
#include "tools/say.h"

enum { REMOVE_TRIES = 3 };

#define ROOM_WANTED MiB(32) // some 400 processes
#define ROOM_LEAST  KiB(96) // one

static bool has_room(const char *folder, size_t bytes)
{
    struct statvfs status;
    return !statvfs(folder, &status) && (uint64_t)status.f_bavail * status.f_frsize >= bytes;
}

/* A new private folder inside `parent`, NULL if it cannot be made. */
static char *make_inside(const char *parent)
{
    char *path;
    if (!parent || parent[0] != '/' || asprintf(&path, "%s/poolmark-run-XXXXXX", parent) < 0)
        return NULL;
    if (mkdtemp(path))
        return path;
    free(path);
    return NULL;
}

static char *make_private(void)
{
    const char *parents[] = {getenv("XDG_RUNTIME_DIR"), "/dev/shm", getenv("TMPDIR"), "/tmp"};
    char *path = NULL;
    for (unsigned i = 0; !path && i < ARRAY_LENGTH(parents); i++)
        if (parents[i] && has_room(parents[i], ROOM_WANTED))
            path = make_inside(parents[i]);
    for (unsigned i = 0; !path && i < ARRAY_LENGTH(parents); i++)
        path = make_inside(parents[i]);
    return path;
}

/* The folder that POOL_LIVE=on means to the library. */
static char *find_default(void)
{
    const char *runtime = getenv("XDG_RUNTIME_DIR");
    char *path;
    int length = runtime && *runtime ? asprintf(&path, "%s/poolmark", runtime)
                                     : asprintf(&path, "/dev/shm/poolmark-%u", (unsigned)geteuid());
    return length < 0 ? NULL : path;
}

bool live_start(struct live *ret)
{
    const char *users = getenv("POOL_LIVE");
    struct live live = {.temporary = make_private()};
    if (!live.temporary)
        return say_no("no folder for the counters can be made in XDG_RUNTIME_DIR, /dev/shm or /tmp: %s",
                      strerror(errno));
    if (!users || !*users || !strcmp(users, "off")) {
        setenv("POOL_LIVE", live.temporary, 1);
        live.pages = strdup(live.temporary);
    } else {
        live.pages = !strcmp(users, "on") ? find_default() : realpath(users, NULL);
    }
    if (!live.pages) {
        say("POOL_LIVE: `%s`: %s", users ? users : "", strerror(errno));
        live_end(&live);
        return false;
    }
    *ret = live;
    return true;
}

bool live_is_full(const struct live *live)
{
    return !has_room(live->pages, ROOM_LEAST);
}

static void remove_content(const char *folder)
{
    DIR *directory = opendir(folder);
    if (!directory)
        return;
    for (struct dirent *entry; (entry = readdir(directory));)
        if (strcmp(entry->d_name, ".") && strcmp(entry->d_name, ".."))
            unlinkat(dirfd(directory), entry->d_name, 0);
    closedir(directory);
}

void live_end(struct live *live)
{
    // a process of the tree that still runs may add a file meanwhile
    for (unsigned i = 0; i < REMOVE_TRIES; i++) {
        remove_content(live->temporary);
        if (!rmdir(live->temporary) || errno != ENOTEMPTY)
            break;
    }
    free(live->pages);
    free(live->temporary);
    *live = (struct live){0};
}

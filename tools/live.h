/*
 * The folder of page files (POOL_LIVE) of one run.
 */
#ifndef POOLMARK_TOOLS_LIVE_H
#define POOLMARK_TOOLS_LIVE_H

#include <stdbool.h>

struct live {
    char *pages;     // where page files appear
    char *temporary; // a private folder, removed afterwards; the same as `pages` unless the user has set POOL_LIVE
};

/*
 * Makes a private folder (0700) in $XDG_RUNTIME_DIR, /dev/shm or /tmp, and puts it into POOL_LIVE of our environment
 * unless that names a folder of the user's already. False if it has been said why not.
 */
bool live_start(struct live *ret);

/* Whether there was no room for one more page file: processes may be missing then. */
bool live_is_full(const struct live *live);

/* Removes the private folder with all that is in it. */
void live_end(struct live *live);

#endif

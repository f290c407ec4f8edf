/*
 * libpoolmark.so: where it is, and how a program gets it.
 */
#ifndef POOLMARK_TOOLS_LIBRARY_H
#define POOLMARK_TOOLS_LIBRARY_H

#include <stdbool.h>

/*
 * The absolute path of the library, to be freed: $POOLMARK_LIBRARY, else beside the command, else in ../lib or a
 * folder of it, else in the system's library folders. NULL if it has been said that there is none.
 */
char *library_find(void);

/*
 * Puts the library first in LD_PRELOAD of our environment, before what is there. ld.so separates by spaces and
 * colons; a path that has one is reached through a link in `folder`. False if it has been said why not.
 */
bool library_preload(const char *library, const char *folder);

#endif

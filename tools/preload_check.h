/*
 * Why a program can not be run under a preloaded library, read from its file without running it.
 *
 * ld.so loads a preload only where there is an ld.so (no static program), of the same architecture and the same libc,
 * and not where the program has more rights than its caller. It says nothing in most of these cases.
 */
#ifndef POOLMARK_TOOLS_PRELOAD_CHECK_H
#define POOLMARK_TOOLS_PRELOAD_CHECK_H

#include <stdbool.h>
#include <stddef.h>

/*
 * Returns true if `path` (as program_find gives it) can be run under `library`, as far as the files tell. Else false,
 * and `why` (of `size` bytes) is one line without the program's name: "it is a static program, ...". A script is
 * judged by its interpreter.
 */
bool preload_check(const char *path, const char *library, char *why, size_t size);

#endif

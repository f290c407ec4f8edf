/*
 * The memory limit of the control group that the process is in.
 */
#ifndef POOLMARK_MEMORY_LIMIT_H
#define POOLMARK_MEMORY_LIMIT_H

#include "base.h"

/* Whether the group's memory is at 90 % of its limit or above. Opens files: for a thread with descriptors of its own. */
HIDDEN bool memory_limit_is_near(void);

/*
 * What is behind that, for tests: from the text of /proc/self/cgroup, the folder of the group with the limit. False if
 * there is none or it is longer than `size`. *ret_v2: its files are those of version 2.
 */
HIDDEN bool memory_limit_folder(const char *cgroup, char *ret, size_t size, bool *ret_v2);

/* The number in such a file; UINT64_MAX for "max". */
HIDDEN uint64_t memory_limit_number(const char *text);

#endif

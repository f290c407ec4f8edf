/*
 * Page files: the counters of a process, read by another (counters.h describes the layout).
 */
#ifndef POOLMARK_TOOLS_PAGE_FILE_H
#define POOLMARK_TOOLS_PAGE_FILE_H

#include "interpose/counters.h"

/* Whether a file name is that of a page file: PID-STARTTIME-N.pool. */
bool page_file_is_name(const char *name);

/*
 * Reads a page file of the open folder into memory: a copy, to be freed, that stays as it is whatever the process
 * does, and in which every index is in range and every text ends. NULL if the file is no page of this version; `why`
 * (of `size` bytes) says so in a few words.
 */
struct page *page_file_read(int folder, const char *name, char *why, size_t size);

/*
 * The peak of resident memory in bytes, -1 if it is not known. *ret_least: a process that was killed could not read the
 * kernel's own peak, so it is the largest value of the time line, and the true one may be higher.
 */
int64_t page_file_resident(const struct page *page, bool *ret_least);

#endif

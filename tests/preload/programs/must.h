/* What the small programs of this folder share: a check that names itself, and the resident memory. */
#ifndef POOLMARK_MUST_H
#define POOLMARK_MUST_H

#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define MUST(holds) must((bool)(holds), #holds, __LINE__)

/* Says what does not hold and ends the process with status 1. */
static inline void must(bool holds, const char *what, int line)
{
    if (holds)
        return;
    dprintf(2, "line %d: not true: %s\n", line, what);
    _exit(1);
}

/* VmRSS in KiB, without a call of malloc. */
static inline long resident(void)
{
    char text[128] = "";
    long pages = 0;
    int fd = open("/proc/self/statm", O_RDONLY | O_CLOEXEC);
    if (read(fd, text, sizeof text - 1) > 0)
        sscanf(text, "%*d %ld", &pages);
    close(fd);
    return pages * (sysconf(_SC_PAGESIZE) / 1024);
}

#endif

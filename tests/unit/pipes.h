/*
 * Pipes for tests: one that is full, what has come out of one, and how long it took.
 */
#ifndef POOLMARK_TEST_PIPES_H
#define POOLMARK_TEST_PIPES_H

#include <fcntl.h>
#include <time.h>
#include <unistd.h>

static inline double seconds(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec / 1e9;
}

/* What has come out of a pipe since the last call. */
static inline const char *text_of(int fd)
{
    static char text[4096];
    fcntl(fd, F_SETFL, O_NONBLOCK);
    ssize_t length = read(fd, text, sizeof(text) - 1);
    text[length > 0 ? length : 0] = '\0';
    return text;
}

/* Fills a pipe or socket until it would block. */
static inline void fill(int fd)
{
    static const char block[4096];
    int flags = fcntl(fd, F_GETFL);
    fcntl(fd, F_SETFL, flags | O_NONBLOCK);
    while (write(fd, block, sizeof(block)) > 0) {
    }
    while (write(fd, block, 1) > 0) {
    }
    fcntl(fd, F_SETFL, flags);
}

#endif

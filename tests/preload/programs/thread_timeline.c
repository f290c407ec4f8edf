/* Eight threads busy on slow paths for longer than the time line's period: its points do not collide. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include <time.h>
#include "must.h"

enum { LIVE = 1000, STRETCH = 1000, BUSY_MS = 300 };

static long now_ms(void)
{
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * 1000 + now.tv_nsec / 1000000;
}

static void *run(void *argument)
{
    char *blocks[LIVE] = {0};
    unsigned random = (unsigned)(size_t)argument;
    long end = now_ms() + BUSY_MS;
    for (int i = 0; i % STRETCH || now_ms() < end; i++) {
        random = random * 1664525 + 1013904223;
        char **block = &blocks[(random >> 10) % LIVE];
        MUST(!*block || **block == 7);
        free(*block);
        *block = malloc(8 + (random >> 20) % 257);
        **block = 7;
    }
    for (int i = 0; i < LIVE; i++)
        free(blocks[i]);
    return NULL;
}

int main(void)
{
    pthread_t threads[8];
    for (size_t i = 0; i < 8; i++)
        MUST(pthread_create(&threads[i], NULL, run, (void *)(i + 1)) == 0);
    for (int i = 0; i < 8; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
}

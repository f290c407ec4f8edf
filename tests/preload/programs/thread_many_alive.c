/* Three thousand threads alive at once, each with blocks of its own; afterwards most of it has gone. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include "must.h"

enum { COUNT = 3000 };
static pthread_barrier_t all;

static void *run(void *unused)
{
    char *block = memset(malloc(3000), 7, 3000), *other = malloc(100);
    pthread_barrier_wait(&all);
    MUST(block[2999] == 7);
    free(block);
    free(other);
    return unused;
}

int main(void)
{
    static pthread_t threads[COUNT];
    pthread_attr_t attributes;
    pthread_attr_init(&attributes);
    pthread_attr_setstacksize(&attributes, 128 << 10);
    pthread_barrier_init(&all, NULL, COUNT);
    for (int i = 0; i < COUNT; i++)
        MUST(pthread_create(&threads[i], &attributes, run, NULL) == 0);
    for (int i = 0; i < COUNT; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
    MUST(resident() < 300 << 10);
}

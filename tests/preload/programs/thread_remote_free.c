/* One thread allocates, others only free; a bounded number of blocks is in flight and memory is bounded. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include "must.h"

enum { BATCH = 500 };

static void *only_frees(void *batch)
{
    for (int i = 0; i < BATCH; i++)
        free(((void **)batch)[i]);
    return NULL;
}

int main(void)
{
    static void *batch[BATCH];
    long before = 0;
    for (int round = 0; round < 2000; round++) {
        pthread_t thread;
        for (int i = 0; i < BATCH; i++)
            batch[i] = memset(malloc((size_t)(i * 5 + 1)), 1, (size_t)(i * 5 + 1));
        MUST(pthread_create(&thread, NULL, only_frees, batch) == 0 && pthread_join(thread, NULL) == 0);
        if (round == 200)
            before = resident();
    }
    MUST(resident() < before + 8192);
}

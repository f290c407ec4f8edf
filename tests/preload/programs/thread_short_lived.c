/* Ten thousand short threads, two at a time, free all they allocate or leave it to be freed; nothing grows. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include "must.h"

static void *run(void *given)
{
    void *blocks[40];
    free(given);
    for (int i = 0; i < 40; i++)
        blocks[i] = memset(malloc((size_t)(i * i * 11 + 1)), i, (size_t)(i * i * 11 + 1));
    for (int i = 0; i < 40; i++)
        free(blocks[i]);
    return malloc(777);
}

int main(void)
{
    long before = 0;
    for (int i = 0; i < 5000; i++) {
        pthread_t threads[2];
        void *left;
        for (int k = 0; k < 2; k++)
            MUST(pthread_create(&threads[k], NULL, run, malloc(2000)) == 0);
        for (int k = 0; k < 2; k++) {
            MUST(pthread_join(threads[k], &left) == 0);
            free(left);
        }
        if (i == 500)
            before = resident();
    }
    MUST(resident() < before + 4096);
}

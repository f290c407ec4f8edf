/* A child's first act is to start threads, which all allocate at once; its parent's pools were full. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include "must.h"

enum { THREADS = 4, LIVE = 64, STEPS = 20000, SIZE = 48 };

static void *work(void *number)
{
    unsigned char *blocks[LIVE] = {0}, mark = (unsigned char)(uintptr_t)number;
    unsigned state = mark * 7919u;
    for (int i = 0; i < STEPS; i++) {
        state = state * 1103515245 + 12345;
        unsigned at = (state >> 8) % LIVE;
        for (int j = 0; blocks[at] && j < SIZE; j++)
            MUST(blocks[at][j] == mark);
        free(blocks[at]);
        blocks[at] = malloc(SIZE);
        MUST(blocks[at]);
        memset(blocks[at], mark, SIZE);
    }
    for (int i = 0; i < LIVE; i++)
        free(blocks[i]);
    return NULL;
}

static void *nothing(void *unused)
{
    return unused;
}

static void start(pthread_t *threads, void *(*run)(void *))
{
    for (uintptr_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, run, (void *)(i + 2)) == 0);
}

static void join(pthread_t *threads)
{
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_join(threads[i], NULL) == 0);
}

int main(void)
{
    pthread_t threads[THREADS];
    void *blocks[LIVE];
    int status;
    start(threads, nothing); // their stacks are there for the child's
    join(threads);
    for (int i = 0; i < LIVE; i++)
        blocks[i] = malloc(SIZE);
    for (int i = 0; i < LIVE; i++)
        free(blocks[i]);
    pid_t child = fork();
    if (child == 0) {
        start(threads, work);
        work((void *)1);
        join(threads);
        exit(0);
    }
    MUST(waitpid(child, &status, 0) == child);
    MUST(status == 0);
    return 0;
}

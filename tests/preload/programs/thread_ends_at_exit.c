/* A hundred processes end while threads of theirs are ending too, full of free blocks: each record holds. Exits with 0. */
#include <pthread.h>
#include <sys/wait.h>
#include "must.h"

enum { COUNT = 150, THREADS = 4 };
static volatile bool over;

static void *run(void *unused)
{
    void *blocks[COUNT] = {NULL};
    for (size_t i = 0; !over; i++) {
        free(blocks[i % COUNT]);
        blocks[i % COUNT] = malloc(i * 7 % 2000);
    }
    for (size_t i = 0; i < COUNT; i++)
        free(blocks[i]);
    return unused;
}

static void child(unsigned turn)
{
    pthread_t thread;
    for (int i = 0; i < THREADS; i++)
        MUST(pthread_create(&thread, NULL, run, NULL) == 0);
    usleep(1000);
    over = true;
    usleep(turn % 10 * 15);
    exit(0);
}

int main(void)
{
    for (unsigned turn = 0; turn < 100; turn++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            child(turn);
        MUST(waitpid(pid, &status, 0) == pid && status == 0);
    }
}

/* A parent whose other threads allocate without pause forks 50 times; children allocate and make threads. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include "must.h"

static volatile bool over;

static void *busy(void *blocks)
{
    void **mine = blocks ? calloc(64, sizeof *mine) : NULL;
    for (unsigned i = 0; mine ? !over : i < 500; i++) {
        void *block = malloc(i * 37 % 9000 + 1);
        memset(block, 1, 1);
        if (mine) {
            free(mine[i % 64]);
            mine[i % 64] = block;
        } else
            free(block);
    }
    for (unsigned i = 0; mine && i < 64; i++)
        free(mine[i]);
    free(mine);
    return NULL;
}

static int child(void)
{
    pthread_t thread;
    alarm(20);
    busy(NULL);
    MUST(pthread_create(&thread, NULL, busy, NULL) == 0 && pthread_join(thread, NULL) == 0);
    return 5;
}

int main(void)
{
    pthread_t threads[3];
    for (int i = 0; i < 3; i++)
        MUST(pthread_create(&threads[i], NULL, busy, threads) == 0);
    for (int i = 0; i < 50; i++) {
        int status;
        pid_t pid = fork();
        if (pid == 0)
            exit(child());
        MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 5);
    }
    over = true;
    for (int i = 0; i < 3; i++)
        pthread_join(threads[i], NULL);
}

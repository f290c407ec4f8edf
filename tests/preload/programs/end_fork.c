/* Frees 20,000 blocks, then forks a child that frees 100 and exits in its own right. Exits with 8. */
#include <sys/wait.h>
#include "must.h"

int main(void)
{
    for (int i = 0; i < 20000; i++)
        free(malloc(1000));
    pid_t pid = fork();
    for (int i = 0; i < 100; i++)
        free(malloc(1000));
    if (pid == 0)
        exit(2);
    int status;
    MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 2);
    return 8;
}

/* Children of children, eight deep, use their ancestors' blocks and their own. Exits with 8. */
#include <string.h>
#include <sys/wait.h>
#include "must.h"

int main(void)
{
    char *blocks[9];
    for (int depth = 0; depth < 8; depth++) {
        blocks[depth] = memset(malloc((size_t)4000 * (depth + 1)), depth, (size_t)4000 * (depth + 1));
        pid_t pid = fork();
        MUST(pid >= 0);
        if (pid) {
            int status;
            MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
            MUST(blocks[depth][3999] == depth);
            free(blocks[depth]);
            return WEXITSTATUS(status);
        }
        for (int i = 0; i <= depth; i += 2)
            blocks[i] = realloc(blocks[i], 50);
        MUST(blocks[depth][49] == depth);
    }
    return 8;
}

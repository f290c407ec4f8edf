/* vfork children exec, fail to, are killed and leave; the parent's memory and end are its own. Exits with 9. */
#include <signal.h>
#include <sys/wait.h>
#include "must.h"

int main(void)
{
    const int wanted[] = {0, 1 << 8, SIGTERM, 3 << 8};
    free(malloc(100));
    for (int how = 0; how < 4; how++) {
        pid_t pid = vfork();
        if (pid == 0) {
            signal(SIGTERM, SIG_DFL);
            if (how == 0)
                execl("/bin/true", "true", (char *)NULL);
            else if (how == 1)
                execl("/nonexistent", "x", (char *)NULL);
            else if (how == 2)
                kill(getpid(), SIGTERM);
            _exit(how);
        }
        int status;
        MUST(waitpid(pid, &status, 0) == pid);
        MUST(status == wanted[how]);
    }
    return 9;
}

/* Started without descriptors 0 to 2, the program gets them for its own files and finds only its own bytes there.
 * Exits with 6. */
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include "must.h"

static int inner(void)
{
    for (int i = 0; i < 3; i++) {
        char name[] = {'f', (char)('0' + i), 0};
        if (open(name, O_RDWR | O_CREAT | O_TRUNC, 0600) != i)
            return 10 + i;
        free(malloc((size_t)1000 << (i * 5)));
        if (write(i, name, 2) != 2)
            return 20;
    }
    return open("/dev/null", O_RDONLY) == 3 ? 6 : 30;
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "inner"))
        return inner();
    pid_t pid = fork();
    if (pid == 0) {
        for (int fd = 0; fd < 256; fd++)
            close(fd);
        execl("/proc/self/exe", argv[0], "inner", NULL);
    }
    int status;
    MUST(waitpid(pid, &status, 0) == pid && WIFEXITED(status));
    struct stat file;
    for (int i = 0; i < 3; i++)
        MUST(stat((char[]){'f', (char)('0' + i), 0}, &file) == 0 && file.st_size == 2);
    return WEXITSTATUS(status);
}

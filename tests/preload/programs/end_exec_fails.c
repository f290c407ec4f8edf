/* Execs that come back set errno and leave the program running. Exits with 5. */
#include <errno.h>
#include "must.h"

int main(void)
{
    char *words[] = {"x", NULL}, **volatile nowhere = (char **)1;
    free(malloc(100));
    MUST(execv("/nonexistent", words) == -1 && errno == ENOENT);
    MUST(execv("/", words) == -1 && errno == EACCES);
    MUST(execvp("no-such-program-anywhere", words) == -1 && errno == ENOENT);
    MUST(execl("", "x", (char *)NULL) == -1 && errno == ENOENT);
    MUST(execve("/bin/true", words, nowhere) == -1 && errno == EFAULT); // after the dump
    return 5;
}

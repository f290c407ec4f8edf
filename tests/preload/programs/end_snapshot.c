/* Sends itself SIGUSR1 if POOL_SIGNAL is that, three times, and goes on. Exits with 7. */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include "must.h"

int main(void)
{
    const char *name = getenv("POOL_SIGNAL");
    for (int i = 0; i < 3 && name && strcmp(name, "USR1") == 0; i++) {
        free(malloc(100));
        errno = 42;
        MUST(raise(SIGUSR1) == 0 && errno == 42);
    }
    return 7;
}

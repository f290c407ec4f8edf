/* Calls _exit on a thread, with handlers that must not run. Exits with 4. */
#include <pthread.h>
#include "must.h"

static void never(void)
{
    abort();
}

static void *leave(void *nothing)
{
    free(malloc(100));
    _exit(4);
    return nothing;
}

int main(void)
{
    pthread_t thread;
    MUST(atexit(never) == 0 && pthread_create(&thread, NULL, leave, NULL) == 0);
    pthread_join(thread, NULL);
}

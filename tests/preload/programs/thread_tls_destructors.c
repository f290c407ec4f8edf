/* Destructors of thread-specific data free, allocate and set themselves again; so do C++-style ones. Exits with 0. */
#include <pthread.h>
#include <string.h>
#include "must.h"

extern int __cxa_thread_atexit_impl(void (*call)(void *), void *argument, void *dso);
extern void *__dso_handle;
static pthread_key_t key;

static void again(void *block)
{
    char *larger = realloc(block, 300000);
    if (larger[0]++ < 3)
        MUST(pthread_setspecific(key, larger) == 0);
    else
        free(larger);
    free(malloc(40));
}

static void *run(void *unused)
{
    pthread_setspecific(key, calloc(1, 30));
    __cxa_thread_atexit_impl(free, malloc(500), &__dso_handle);
    return unused;
}

int main(void)
{
    MUST(pthread_key_create(&key, again) == 0);
    long before = 0;
    for (int i = 0; i < 2000; i++) {
        pthread_t thread;
        MUST(pthread_create(&thread, NULL, run, NULL) == 0 && pthread_join(thread, NULL) == 0);
        if (i == 200)
            before = resident();
    }
    MUST(resident() < before + 4096);
}

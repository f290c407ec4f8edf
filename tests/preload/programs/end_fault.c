/* Reads address 0 on a thread with the smallest stack. Ends by SIGSEGV. */
#include <limits.h>
#include <pthread.h>
#include "must.h"

static void *fault(void *nothing)
{
    free(malloc(100));
    return *(void *volatile *)nothing;
}

int main(void)
{
    pthread_t thread;
    pthread_attr_t attributes;
    MUST(pthread_attr_init(&attributes) == 0);
    MUST(pthread_attr_setstacksize(&attributes, PTHREAD_STACK_MIN) == 0);
    MUST(pthread_create(&thread, &attributes, fault, NULL) == 0);
    pthread_join(thread, NULL);
    return 1;
}

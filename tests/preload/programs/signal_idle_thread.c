/* Handlers allocate and free, on threads that sleep and have never allocated, and on an alternate stack. Exits with 0. */
#include <pthread.h>
#include <signal.h>
#include <string.h>
#include "must.h"

enum { THREADS = 4, SIGNALS = 500 };
static char *volatile kept[THREADS];
static volatile sig_atomic_t handled[THREADS];
static __thread int own;

static void handler(int number)
{
    (void)number;
    char *block = calloc(1, (size_t)1 << handled[own] % 18);
    MUST(block && !block[0]);
    free(kept[own]);
    kept[own] = block;
    handled[own]++;
}

static void *idle(void *number)
{
    sigset_t none;
    char stack[65536];
    own = (int)(intptr_t)number;
    MUST(sigaltstack(&(stack_t){.ss_sp = stack, .ss_size = sizeof stack}, NULL) == 0);
    sigemptyset(&none);
    while (handled[own] < SIGNALS)
        sigsuspend(&none);
    return NULL;
}

int main(void)
{
    pthread_t threads[THREADS];
    struct sigaction action = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
    sigset_t signals;
    sigemptyset(&signals);
    sigaddset(&signals, SIGUSR1);
    MUST(sigaction(SIGUSR1, &action, NULL) == 0 && pthread_sigmask(SIG_BLOCK, &signals, NULL) == 0);
    for (intptr_t i = 0; i < THREADS; i++)
        MUST(pthread_create(&threads[i], NULL, idle, (void *)i) == 0);
    for (int turn = 0; turn < SIGNALS; turn++)
        for (int i = 0; i < THREADS; i++) {
            pthread_kill(threads[i], SIGUSR1);
            while (handled[i] <= turn)
                usleep(10);
        }
    for (int i = 0; i < THREADS; i++) {
        pthread_join(threads[i], NULL);
        free(kept[i]);
    }
}

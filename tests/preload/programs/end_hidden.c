/* No signal has a handler that the program did not set, by whatever function it asks. Exits with 11. */
#define _GNU_SOURCE
#include <signal.h>
#include "must.h"

#pragma GCC diagnostic ignored "-Wdeprecated-declarations" // sigset

static void handler(int number)
{
    (void)number;
}

int main(void)
{
    free(malloc(100));
    for (int number = 1; number < SIGRTMIN; number++) {
        struct sigaction old;
        if (number == SIGKILL || number == SIGSTOP || sigaction(number, NULL, &old) != 0)
            continue;
        if (old.sa_handler == SIG_IGN)
            continue;
        MUST(old.sa_handler == SIG_DFL && old.sa_flags == 0);
        MUST(signal(number, handler) == SIG_DFL && signal(number, SIG_DFL) == handler);
        MUST(sysv_signal(number, SIG_DFL) == SIG_DFL);
        MUST(sigset(number, SIG_HOLD) == SIG_DFL && sigset(number, SIG_DFL) == SIG_HOLD);
        MUST(sigset(number, SIG_DFL) == SIG_DFL);
    }
    return 11;
}

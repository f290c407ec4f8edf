/* Sees SIGTERM at its default, sets a handler and the default again, and is killed in sigsuspend. Ends by SIGTERM. */
#include <signal.h>
#include "must.h"

static void handler(int number)
{
    (void)number;
}

int main(void)
{
    struct sigaction old, own = {.sa_handler = handler}, by_default = {.sa_handler = SIG_DFL};
    sigset_t none, term;
    free(malloc(100));
    MUST(sigaction(SIGTERM, NULL, &old) == 0 && old.sa_handler == SIG_DFL && old.sa_flags == 0);
    MUST(sigaction(SIGTERM, &own, &old) == 0 && old.sa_handler == SIG_DFL);
    MUST(raise(SIGTERM) == 0);
    MUST(sigaction(SIGTERM, &by_default, &old) == 0 && old.sa_handler == handler);
    MUST(signal(SIGTERM, SIG_DFL) == SIG_DFL);
    sigemptyset(&none);
    sigemptyset(&term);
    sigaddset(&term, SIGTERM);
    MUST(sigprocmask(SIG_BLOCK, &term, NULL) == 0 && kill(getpid(), SIGTERM) == 0);
    sigsuspend(&none);
    return 1;
}

/* A handler that is used once ends the process by its own signal, as node does. Ends by SIGTERM. */
#include <signal.h>
#include "must.h"

static void handler(int number)
{
    raise(number);
}

int main(void)
{
    struct sigaction once = {.sa_handler = handler, .sa_flags = SA_RESETHAND};
    free(malloc(100));
    MUST(sigaction(SIGTERM, &once, NULL) == 0);
    raise(SIGTERM);
    return 1;
}

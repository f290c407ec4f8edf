/* Is killed without a word. Ends by SIGKILL. */
#include <signal.h>
#include "must.h"

int main(void)
{
    free(malloc(100));
    kill(getpid(), SIGKILL);
    pause();
}

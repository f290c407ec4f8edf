/* Calls quick_exit: its handlers run and allocate, those of exit do not run. Exits with 5. */
#include "must.h"

static char *kept;

static void quick(void)
{
    MUST(kept);
    free(kept);
    free(malloc(5000));
}

static void never(void)
{
    _exit(1);
}

int main(void)
{
    kept = malloc(100);
    MUST(at_quick_exit(quick) == 0 && atexit(never) == 0);
    quick_exit(5);
}

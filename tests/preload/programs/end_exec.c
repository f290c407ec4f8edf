/* Is replaced by `false`, which is looked for on PATH. Exits with 1. */
#include "must.h"

int main(void)
{
    free(malloc(100));
    execlp("false", "false", (char *)NULL);
    return 99;
}

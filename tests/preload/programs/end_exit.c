/* Calls exit with a status whose low byte counts, in an exit handler's presence. Exits with 3. */
#include "must.h"

static void handler(void)
{
    free(malloc(5000));
}

int main(void)
{
    MUST(atexit(handler) == 0);
    free(malloc(100));
    exit(0x203);
}

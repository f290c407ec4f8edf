/* With all memory locked, present and future, allocation works and locks no more than a program can bear. Exits with 0. */
#include <string.h>
#include <sys/mman.h>
#include "must.h"

int main(void)
{
    long before = resident();
    if (mlockall(MCL_CURRENT | MCL_FUTURE))
        return puts("skipped: may not lock memory") < 0;
    void *blocks[2000];
    for (int i = 0; i < 2000; i++)
        blocks[i] = memset(malloc((size_t)(i % 700 + 1)), 1, (size_t)(i % 700 + 1));
    for (int i = 0; i < 2000; i++)
        free(blocks[i]);
    char *large = calloc(1, 4 << 20);
    MUST(large && !large[4 << 19]);
    free(large);
    MUST(resident() < before + (64 << 10));
}

/* After malloc_trim, memory that was freed in a mixed burst is no longer resident. Exits with 0. */
#include <malloc.h>
#include <string.h>
#include "must.h"

enum { COUNT = 60000 };

int main(void)
{
    static void *blocks[COUNT];
    long before = resident();
    for (int i = 0; i < COUNT; i++)
        blocks[i] = memset(malloc((size_t)i % 3000 + 1), 1, (size_t)i % 3000 + 1);
    long during = resident();
    MUST(during > before + (64 << 10));
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    malloc_trim(0);
    MUST(resident() < before + (during - before) / 4);
}

/* The usable size is at least what was asked for, stays the same, and every byte of it is the program's. Exits with 0. */
#include <malloc.h>
#include <string.h>
#include "must.h"

int main(void)
{
    enum { COUNT = 300 };
    unsigned char *blocks[COUNT];
    size_t usable[COUNT];
    MUST(malloc_usable_size(NULL) == 0);
    for (int i = 0; i < COUNT; i++) {
        size_t size = (size_t)i * (i % 5 ? 13 : 1111);
        blocks[i] = i % 3 ? malloc(size) : memalign(64, size);
        usable[i] = malloc_usable_size(blocks[i]);
        MUST(usable[i] >= size);
        memset(blocks[i], i, usable[i]);
    }
    for (int i = 0; i < COUNT; i++) {
        MUST(malloc_usable_size(blocks[i]) == usable[i]);
        for (size_t k = 0; k < usable[i]; k++)
            MUST(blocks[i][k] == (unsigned char)i);
    }
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
}

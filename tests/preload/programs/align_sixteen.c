/* Blocks of every size, however made, are aligned to 16 bytes, and blocks of size 0 are unique. Exits with 0. */
#include "must.h"

int main(void)
{
    for (size_t size = 0; size < 70000; size += 1 + size / 50) {
        char *blocks[5] = {malloc(size), malloc(size), calloc(1, size), realloc(NULL, size),
                           realloc(malloc(1), size + 1)};
        for (int i = 0; i < 5; i++) {
            MUST(blocks[i] && (uintptr_t)blocks[i] % 16 == 0);
            for (int k = 0; k < i; k++)
                MUST(blocks[k] != blocks[i]);
        }
        for (int i = 0; i < 5; i++)
            free(blocks[i]);
    }
}

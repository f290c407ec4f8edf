/* calloc gives zeros where freed blocks of the same size were full of other bytes, for every size class. Exits with 0. */
#include <malloc.h>
#include <string.h>
#include "must.h"

int main(void)
{
    for (size_t size = 1; size < 9 << 20; size += 1 + size / 9) {
        unsigned char *blocks[6];
        unsigned count = size < 1 << 20 ? 6 : 2;
        for (unsigned i = 0; i < count; i++) {
            blocks[i] = malloc(size);
            memset(blocks[i], 0xDD, malloc_usable_size(blocks[i]));
        }
        for (unsigned i = 0; i < count; i++)
            free(blocks[i]);
        for (unsigned i = 0; i < count; i++) {
            blocks[i] = i % 2 ? calloc(size, 1) : calloc(1, size);
            MUST(blocks[i][0] == 0 && memcmp(blocks[i], blocks[i] + 1, size - 1) == 0);
        }
        for (unsigned i = 0; i < count; i++)
            free(blocks[i]);
    }
}

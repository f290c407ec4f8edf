/* Growing and shrinking between all kinds of size keeps the smaller size's bytes. Exits with 0. */
#include <string.h>
#include "must.h"

int main(void)
{
    static const size_t sizes[] = {1, 16, 17, 100, 1024, 5000, 40000, 70000, 300000, 1 << 20, 5000000, 33 << 20};
    enum { COUNT = sizeof sizes / sizeof *sizes };
    for (unsigned from = 0; from < COUNT; from++)
        for (unsigned to = 0; to < COUNT; to++) {
            unsigned char *block = malloc(sizes[from]), *neighbour = memset(malloc(sizes[to]), 0xEE, 1);
            size_t kept = sizes[from] < sizes[to] ? sizes[from] : sizes[to], step = 1 + kept / 3000;
            for (size_t i = 0; i < sizes[from]; i += step)
                block[i] = (unsigned char)(i / step * 7);
            block = realloc(block, sizes[to]);
            MUST(block);
            for (size_t i = 0; i < kept; i += step)
                MUST(block[i] == (unsigned char)(i / step * 7));
            MUST(*neighbour == 0xEE);
            free(block);
            free(neighbour);
        }
}

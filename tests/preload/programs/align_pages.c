/* valloc and pvalloc give page-aligned blocks, pvalloc whole pages; free, realloc and usable size take them. Exits with 0. */
#include <malloc.h>
#include <string.h>
#include "must.h"

int main(void)
{
    for (size_t size = 0; size < 300000; size = size * 3 + 1) {
        char *one = valloc(size), *other = pvalloc(size);
        size_t pages = (size + 4095) & ~4095ul;
        MUST((uintptr_t)one % 4096 == 0 && (uintptr_t)other % 4096 == 0);
        MUST(malloc_usable_size(one) >= size && malloc_usable_size(other) >= pages);
        memset(one, 1, size);
        memset(other, 2, pages);
        one = realloc(one, size + 10000);
        MUST(one && (size == 0 || one[size - 1] == 1));
        free(one);
        free(other);
    }
}

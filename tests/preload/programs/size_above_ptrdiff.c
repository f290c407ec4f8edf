/* No function gives more than PTRDIFF_MAX bytes, nor a product that overflows: NULL and ENOMEM, the old block stays.
 * Exits with 0. */
#include <errno.h>
#include <malloc.h>
#include <string.h>
#include "must.h"

#define REFUSED(call) (errno = 0, MUST((call) == NULL), MUST(errno == ENOMEM))

int main(void)
{
    for (int i = 0; i < 5; i++) {
        volatile size_t size =
            (size_t[]){(size_t)PTRDIFF_MAX + 1, SIZE_MAX, SIZE_MAX - 16, SIZE_MAX - 4096, SIZE_MAX / 2 + 99}[i];
        volatile size_t half = SIZE_MAX / 2 + 2;
        char *old = strdup("old"), *keep = old;
        REFUSED(malloc(size));
        REFUSED(calloc(1, size));
        REFUSED(calloc(size, 1));
        REFUSED(calloc(half, 2));
        REFUSED(realloc(old, size));
        REFUSED(realloc(NULL, size));
        REFUSED(reallocarray(old, size, 1));
        REFUSED(reallocarray(old, half, 2));
        REFUSED(aligned_alloc(64, size));
        REFUSED(memalign(4096, size));
        REFUSED(memalign(16, size));
        REFUSED(valloc(size));
        REFUSED(pvalloc(size));
        void *ret = &ret;
        MUST(posix_memalign(&ret, 64, size) == ENOMEM && ret == &ret);
        MUST(old == keep && !strcmp(old, "old"));
        free(old);
    }
}

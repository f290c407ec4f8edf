/* free keeps errno, for all sizes and kinds of block; a failed request sets ENOMEM. Exits with 0. */
#include <errno.h>
#include <string.h>
#include "must.h"

int main(void)
{
    for (size_t size = 0; size < 64 << 20; size = size * 2 + 1) {
        void *blocks[3] = {malloc(size), calloc(1, size), aligned_alloc(4096, (size + 4095) & ~4095ul)};
        for (int i = 0; i < 3; i++) {
            MUST(blocks[i]);
            errno = 1234;
            free(blocks[i]);
            MUST(errno == 1234);
        }
    }
    errno = 1234;
    free(NULL);
    MUST(errno == 1234);
    char untouched[1];
    volatile size_t huge = SIZE_MAX / 4;
    void *block = malloc(10);
    errno = 0;
    MUST(!malloc(huge) && errno == ENOMEM);
    errno = 0;
    MUST(!realloc(block, huge) && errno == ENOMEM);
    errno = 1234;
    void *ret = untouched;
    MUST(posix_memalign(&ret, 64, huge) == ENOMEM && ret == untouched);
    free(block);
}

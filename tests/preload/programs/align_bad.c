/* Alignments that are no power of two: EINVAL from posix_memalign; never a misaligned block or a crash. Exits with 0. */
#include <errno.h>
#include <malloc.h>
#include "must.h"

int main(void)
{
    static const size_t bad[] = {0, 1, 2, 4, 3, 12, 24, 48, 1000, SIZE_MAX / 2 + 1};
    for (unsigned i = 0; i < sizeof bad / sizeof *bad; i++) {
        void *ret = &ret;
        volatile size_t align = bad[i];
        int status = posix_memalign(&ret, align, 100);
        MUST((status == EINVAL || (i == 9 && status == ENOMEM)) && ret == &ret);
        if (i > 3) {
            errno = 0;
            void *block = aligned_alloc(align, 100);
            MUST(block || errno == EINVAL || errno == ENOMEM);
            free(block);
            free(memalign(align, 100));
        }
    }
    void *block = NULL;
    MUST(posix_memalign(&block, 8, 100) == 0 && block);
    free(block);
}

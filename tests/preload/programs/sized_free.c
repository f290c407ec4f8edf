/* free_sized and free_aligned_sized (C23, not in glibc 2.36) free, take NULL and keep errno. Exits with 0. */
#include <dlfcn.h>
#include <errno.h>
#include "must.h"

int main(void)
{
    void (*sized)(void *, size_t) = (void (*)(void *, size_t))dlsym(RTLD_DEFAULT, "free_sized");
    void (*aligned)(void *, size_t, size_t) =
        (void (*)(void *, size_t, size_t))dlsym(RTLD_DEFAULT, "free_aligned_sized");
    if (!sized || !aligned)
        return getenv("LD_PRELOAD") ? 1 : puts("skipped: no such functions") < 0;
    long before = 0;
    for (int i = 0; i < 200000; i++) {
        size_t size = (size_t)i % 3000;
        errno = 77;
        sized(malloc(size), size);
        sized(calloc(size, 2), size * 2);
        aligned(aligned_alloc(64, size), 64, size);
        MUST(errno == 77);
        if (i == 10000)
            before = resident();
    }
    sized(NULL, 0);
    aligned(NULL, 16, 5);
    MUST(resident() < before + 2048);
}

/* Aligned blocks are aligned, or refused, when address space runs out too. Exits with 0. */
#include <string.h>
#include <sys/resource.h>
#include "must.h"

enum { COUNT = 2000 };

static void fill_up(size_t align, size_t size)
{
    static void *blocks[COUNT];
    int count = 0;
    while (count < COUNT && posix_memalign(&blocks[count], align, size) == 0) {
        MUST((uintptr_t)blocks[count] % align == 0);
        memset(blocks[count++], 'a', 64);
    }
    while (count)
        free(blocks[--count]);
}

int main(int argc, char **argv)
{
    if (argc == 1 || strcmp(argv[1], "limited")) {
        rlim_t bytes = (rlim_t)60 << 20;
        MUST(setrlimit(RLIMIT_AS, &(struct rlimit){bytes, bytes}) == 0);
        execl("/proc/self/exe", argv[0], "limited", NULL);
    }
    for (size_t align = 32; align <= 1 << 20; align *= 2)
        for (size_t size = 64; size <= 1 << 20; size *= 4)
            fill_up(align, size);
    return 0;
}

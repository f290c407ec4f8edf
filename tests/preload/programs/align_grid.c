/* Every alignment from 16 to 64 KiB meets every interesting size, with neighbours alive; then huge ones. Exits with 0. */
#include <malloc.h>
#include <string.h>
#include "must.h"

static void *aligned(unsigned how, size_t align, size_t size)
{
    void *block = NULL;
    if (how == 0)
        return memalign(align, size);
    if (how == 1)
        return aligned_alloc(align, size);
    MUST(posix_memalign(&block, align, size) == 0);
    return block;
}

int main(void)
{
    for (size_t align = 16; align <= 64 << 10; align *= 2)
        for (unsigned kind = 0; kind < 9; kind++) {
            size_t size = (size_t[]){0, 1, 256, 512, 1024, align - 1, align, align + 1, align * 2}[kind];
            void *blocks[12];
            for (unsigned i = 0; i < 12; i++) {
                blocks[i] = aligned(i % 3, align, size);
                MUST(blocks[i] && (uintptr_t)blocks[i] % align == 0 && malloc_usable_size(blocks[i]) >= size);
                memset(blocks[i], 1, size);
            }
            for (unsigned i = 0; i < 12; i++)
                free(blocks[i]);
        }
    for (unsigned i = 0; i < 9; i++) {
        size_t align = (size_t[]){2 << 20, 64 << 20, 1 << 30}[i / 3];
        char *block = aligned(i % 3, align, 16), *grown;
        MUST(block && (uintptr_t)block % align == 0);
        memcpy(block, "fifteen letters", 16);
        grown = realloc(block, 100000);
        MUST(grown && !strcmp(grown, "fifteen letters"));
        free(grown);
    }
    MUST(resident() < 64 << 10);
}

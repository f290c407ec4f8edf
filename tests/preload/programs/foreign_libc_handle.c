/* malloc taken from a handle on libc.so.6 gives blocks that the program's free and realloc accept. Exits with 0. */
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include "must.h"

int main(void)
{
    void *libc = dlopen("libc.so.6", RTLD_NOW);
    void *(*their_malloc)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
    void *(*their_memalign)(size_t, size_t) = (void *(*)(size_t, size_t))dlsym(libc, "memalign");
    for (size_t size = 8; size < 1 << 20; size *= 2) {
        char *block = their_malloc(size);
        memset(block, 'x', size);
        block = realloc(block, size * 3);
        MUST(block && block[size - 1] == 'x' && malloc_usable_size(block) >= size * 3);
        free(block);
        free(their_memalign(256, size));
    }
}

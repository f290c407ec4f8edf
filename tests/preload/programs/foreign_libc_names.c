/* The __libc_malloc family and the public names are one allocator, in every mixture. Exits with 0. */
#include <malloc.h>
#include <string.h>
#include "must.h"

extern void *__libc_malloc(size_t), *__libc_calloc(size_t, size_t), *__libc_realloc(void *, size_t);
extern void *__libc_memalign(size_t, size_t), __libc_free(void *);

int main(void)
{
    for (size_t size = 1; size < 2 << 20; size = size * 3 + 5) {
        char *block = realloc(memset(__libc_malloc(size), 'a', size), size + 100);
        MUST(block && block[size - 1] == 'a' && malloc_usable_size(block) >= size + 100);
        __libc_free(block);
        block = __libc_realloc(memset(malloc(size), 'b', size), size * 2);
        MUST(block && block[size - 1] == 'b');
        free(block);
        free(__libc_calloc(size, 2));
        block = __libc_memalign(1024, size);
        MUST((uintptr_t)block % 1024 == 0);
        free(block);
        __libc_free(aligned_alloc(64, size));
    }
}

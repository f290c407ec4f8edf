/* A plug-in loaded with RTLD_DEEPBIND uses libc's own malloc; its blocks can be measured, grown, freed here. Plugin.
 * Exits with 0. */
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include "must.h"

#ifdef PLUGIN
void *give(size_t size)
{
    return memset(malloc(size), 'f', size);
}
#else
int main(int argc, char **argv)
{
    MUST(argc == 2);
    void *library = dlopen(argv[1], RTLD_NOW | RTLD_DEEPBIND);
    MUST(library);
    void *(*give)(size_t) = (void *(*)(size_t))dlsym(library, "give");
    for (size_t size = 1; size < 3 << 20; size = size * 3 + 1) {
        char *one = give(size), *other = give(size);
        MUST(malloc_usable_size(one) >= size);
        one = realloc(one, size + 5000);
        MUST(one && one[0] == 'f' && one[size - 1] == 'f');
        memset(one, 'm', size + 5000);
        free(one);
        free(other);
    }
    free(malloc(100));
}
#endif

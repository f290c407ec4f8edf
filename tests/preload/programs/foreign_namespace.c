/* A small block from the libc of another link-map namespace can be measured and freed without harm. Exits with 0. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <malloc.h>
#include <string.h>
#include "must.h"

int main(void)
{
    void *libc = dlmopen(LM_ID_NEWLM, "libc.so.6", RTLD_NOW);
    MUST(libc);
    void *(*their_malloc)(size_t) = (void *(*)(size_t))dlsym(libc, "malloc");
    char *block = memset(their_malloc(100), 'n', 100), *own = strdup("own");
    MUST(malloc_usable_size(block) >= 100);
    free(block);
    MUST(!strcmp(own, "own"));
    free(own);
}

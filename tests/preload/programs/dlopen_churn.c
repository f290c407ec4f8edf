/* A plug-in that allocates in its constructor and frees in its destructor is loaded 500 times. Plugin. Exits with 0. */
#include <dlfcn.h>
#include <string.h>
#include "must.h"

#ifdef PLUGIN
static char *own;
static __thread char many[3000];

__attribute__((constructor)) static void loaded(void)
{
    own = strdup("own");
}

__attribute__((destructor)) static void unloaded(void)
{
    free(own);
}

void *give(void)
{
    return memset(malloc(900), many[2999]++, 900);
}
#else
int main(int argc, char **argv)
{
    long before = 0;
    MUST(argc == 2);
    for (int i = 0; i < 500; i++) {
        void *library = dlopen(argv[1], RTLD_NOW);
        MUST(library);
        void *(*give)(void) = (void *(*)(void))dlsym(library, "give");
        char *given = give();
        MUST(dlclose(library) == 0 && given[899] == 0);
        free(given);
        if (i == 50)
            before = resident();
    }
    MUST(resident() < before + 2048);
}
#endif

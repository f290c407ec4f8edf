/* realloc(p, 0) frees and returns NULL; a million times over it does not leak. Exits with 0. */
#include "must.h"

int main(void)
{
    volatile size_t none = 0;
    long before = 0;
    for (int i = 0; i < 1000000; i++) {
        void *block = malloc(400);
        MUST(block && !realloc(block, none));
        if (i == 1000)
            before = resident();
    }
    MUST(!realloc(malloc(5 << 20), none));
    MUST(resident() < before + 2048);
    void *block = realloc(NULL, none);
    MUST(block);
    free(block);
}

/* In an empty root directory, allocation, threads and the end of the process work. Exits with 4. */
#include <pthread.h>
#include <string.h>
#include "must.h"

static void *run(void *size)
{
    return memset(malloc((size_t)size), 'c', (size_t)size);
}

int main(void)
{
    char folder[] = "/tmp/poolmark-root.XXXXXX";
    MUST(mkdtemp(folder) && chdir(folder) == 0 && rmdir(folder) == 0);
    if (chroot("."))
        return puts("skipped: may not chroot") < 0 ? 1 : 4;
    for (size_t size = 1; size < 8 << 20; size *= 7) {
        pthread_t thread;
        void *block = NULL;
        MUST(pthread_create(&thread, NULL, run, (void *)size) == 0 && pthread_join(thread, &block) == 0);
        MUST(((char *)block)[size - 1] == 'c');
        free(block);
    }
    return 4;
}

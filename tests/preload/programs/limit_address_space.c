/* Under `ulimit -v` of 256 MiB the program starts, runs out with ENOMEM, and goes on after a free. Exits with 0. */
#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include "must.h"

int main(int argc, char **argv)
{
    if (argc == 1 || strcmp(argv[1], "limited")) {
        struct rlimit limit = {256 << 20, 256 << 20};
        MUST(setrlimit(RLIMIT_AS, &limit) == 0);
        execl("/proc/self/exe", argv[0], "limited", NULL);
    }
    static char *blocks[100000];
    for (size_t size = 100; size <= 10 << 20; size *= 10) {
        unsigned count = 0;
        errno = 0;
        while (count < 100000 && (blocks[count] = malloc(size)))
            memset(blocks[count++], 'l', 100);
        MUST(count == 100000 || errno == ENOMEM);
        MUST(size < 10000 || (count >= (100 << 20) / size && count <= (256 << 20) / size));
        for (unsigned i = 0; i < count; i++) {
            MUST(blocks[i][99] == 'l');
            free(blocks[i]);
        }
        free(malloc(size));
    }
}

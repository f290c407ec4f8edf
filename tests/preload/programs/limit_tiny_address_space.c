/* With only 32 MiB of address space a program still starts and gets small and medium blocks. Exits with 3. */
#include <string.h>
#include <sys/resource.h>
#include "must.h"

int main(int argc, char **argv)
{
    if (argc == 1 || strcmp(argv[1], "limited")) {
        struct rlimit limit = {32 << 20, 32 << 20};
        MUST(setrlimit(RLIMIT_AS, &limit) == 0);
        execl("/proc/self/exe", argv[0], "limited", NULL);
    }
    char *blocks[200];
    for (int i = 0; i < 200; i++) {
        blocks[i] = malloc((size_t)i * 50 + 1);
        MUST(blocks[i]);
        memset(blocks[i], i, (size_t)i * 50 + 1);
    }
    for (int i = 0; i < 200; i++)
        free(blocks[i]);
    MUST(!malloc(1 << 30));
    return 3;
}

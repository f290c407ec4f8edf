/* mallinfo2 follows what the program holds, up and down; the other queries answer. Exits with 0. */
#include <malloc.h>
#include "must.h"

enum { COUNT = 20000 };

static size_t held(void)
{
    struct mallinfo2 info = mallinfo2();
    return info.uordblks + info.hblkhd;
}

int main(void)
{
    static void *blocks[COUNT];
    size_t sum = 0, before = held();
    for (int i = 0; i < COUNT; i++) {
        blocks[i] = malloc((size_t)i % 4000 + 1);
        sum += malloc_usable_size(blocks[i]);
    }
    size_t during = held() - before;
    MUST(during >= sum - sum / 64 - 4096 && during <= sum + sum / 10 + (1 << 20));
    void *large = malloc(300 << 20);
    MUST(held() - before >= during + (300 << 20) - 4096);
    free(large);
    for (int i = 0; i < COUNT; i++)
        free(blocks[i]);
    MUST(held() <= before + (1 << 20));
    MUST(mallopt(M_MMAP_THRESHOLD, 1 << 20) == 1 && malloc_trim(0) >= 0);
    FILE *out = tmpfile();
    MUST(malloc_info(0, out) == 0 && ftell(out) > 20);
    fclose(out);
}

/* Exit handlers and destructors allocate, grow, free, and register more handlers. Exits with 7. */
#include <string.h>
#include "must.h"

static char *kept;

static void later(void)
{
    kept = realloc(kept, 100000);
    MUST(!strcmp(kept, "kept"));
    free(kept);
}

static void handler(void)
{
    free(calloc(1000, 3));
    MUST(atexit(later) == 0);
}

__attribute__((destructor(101))) static void last(void)
{
    char *block = strdup("last");
    MUST(block && !strcmp(block, "last"));
    free(block);
}

int main(void)
{
    kept = strdup("kept");
    MUST(atexit(handler) == 0);
    return 7;
}

/* The first allocation is made in .preinit_array, before any constructor; the blocks live on. Exits with 0. */
#include <string.h>
#include "must.h"

static char *grown, *zeroed, *large;

static void early(int argc, char **argv, char **environment)
{
    (void)argc, (void)argv, (void)environment;
    grown = strdup("early");
    zeroed = calloc(100, 10);
    large = malloc(5 << 20);
    free(malloc(1));
}

__attribute__((section(".preinit_array"), used)) static void (*hook)(int, char **, char **) = early;

int main(void)
{
    MUST(grown && zeroed && large);
    memset(large, 1, 5 << 20);
    grown = realloc(grown, 70000);
    MUST(!strcmp(grown, "early") && !zeroed[999]);
    free(grown);
    free(zeroed);
    free(large);
}

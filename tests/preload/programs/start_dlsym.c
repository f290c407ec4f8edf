/* dlsym fails in the first constructor, which makes libdl allocate before anything else has. Exits with 0. */
#include <dlfcn.h>
#include "must.h"

static void *found;
static bool said;

__attribute__((constructor(101))) static void first(void)
{
    found = dlsym(RTLD_DEFAULT, "no_such_function_anywhere");
    said = dlerror() != NULL;
}

int main(void)
{
    MUST(!found && said);
    MUST(!dlopen("/no/such/library.so", RTLD_NOW) && dlerror());
    free(malloc(10));
}

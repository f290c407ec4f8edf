/* Aborts. Ends by SIGABRT. */
#include "must.h"

int main(void)
{
    free(malloc(100));
    abort();
}

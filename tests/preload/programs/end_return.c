/* Returns from main after the work of 3,000 blocks. Exits with 6. */
#include "must.h"

int main(void)
{
    for (size_t size = 1; size <= 3000; size++)
        free(malloc(size));
    return 6;
}

/*
 * Size classes: every size has the smallest class that holds it, and the promises of class.h about waste hold.
 */
#include <criterion/criterion.h>

#include "interpose/class.h"

Test(class, sizes_rise_and_find_their_class)
{
    cr_assert_eq(class_size(CLASS_NONE), 0);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        size_t size = class_size(class);
        size_t below = class_size(class - 1);
        cr_assert_gt(size, below, "class %u", class);
        cr_assert_eq(size % MALLOC_ALIGN, 0, "class %u", class);
        cr_assert_eq(class_of(size), class, "class %u", class);
        cr_assert_eq(class_of(below + 1), class, "class %u", class);
        cr_assert_eq(class_floor(size), class, "class %u", class);
        cr_assert_eq(class_floor(size - 1), class - 1, "class %u", class);
    }
}

Test(class, every_small_size_fits_with_little_waste)
{
    for (size_t size = 1; size <= MiB(4); size += size < KiB(64) ? 1 : 61) {
        size_t block = class_size(class_of(size));
        cr_assert_geq(block, size);
        if (size > CLASS_STEP_LIMIT)
            cr_assert_leq(4 * block, 5 * size + 4, "%zu bytes in a block of %zu", size, block);
        if (size > MiB(1))
            cr_assert_leq(8 * block, 9 * size + 8, "%zu bytes in a block of %zu", size, block);
    }
}

Test(class, powers_of_two_are_classes)
{
    for (unsigned log2 = 4; log2 <= 47; log2++) {
        size_t size = (size_t)1 << log2;
        cr_assert_eq(class_size(class_of(size)), size, "2^%u", log2);
    }
}

Test(class, landmarks)
{
    cr_assert_eq(class_size(CLASS_OF_1M), MiB(1));
    cr_assert_eq(class_size(CLASS_OF_1G), GiB(1));
    cr_assert_eq(class_size(CLASS_COUNT - 1), CLASS_SIZE_MAX);
    cr_assert_eq(class_of(0), CLASS_FIRST, "malloc(0) is a block");
}

Test(class, beyond_the_ends)
{
    cr_assert_eq(class_of(CLASS_SIZE_MAX + 1), CLASS_NONE);
    cr_assert_eq(class_of(PTRDIFF_MAX), CLASS_NONE);
    cr_assert_eq(class_of(SIZE_MAX), CLASS_NONE);
    cr_assert_eq(class_size(CLASS_COUNT), 0);
    cr_assert_eq(class_size(~0u), 0);
    cr_assert_eq(class_floor(SIZE_MAX), CLASS_COUNT - 1);
    for (size_t size = 0; size < MALLOC_ALIGN; size++)
        cr_assert_eq(class_floor(size), CLASS_NONE);
}

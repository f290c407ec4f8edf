/*
 * Size classes: sizes from a constant table, classes computed. Nothing has to be filled in before the first use.
 */
#include "class.h"

#define STEP(p, n, of) (((size_t)1 << (p)) + (((size_t)1 << (p)) / (of)) * (n))
#define FOUR(p)        STEP(p, 1, 4), STEP(p, 2, 4), STEP(p, 3, 4), STEP(p, 4, 4)
#define EIGHT(p)                                                                                                       \
    STEP(p, 1, 8), STEP(p, 2, 8), STEP(p, 3, 8), STEP(p, 4, 8), STEP(p, 5, 8), STEP(p, 6, 8), STEP(p, 7, 8),           \
        STEP(p, 8, 8)

// clang-format off
const size_t class_sizes[CLASS_COUNT] = {
    0, 16, 32, 48, 64, 80, 96, 112, 128,
    FOUR(7), FOUR(8), FOUR(9), FOUR(10), FOUR(11), FOUR(12), FOUR(13), FOUR(14), FOUR(15), FOUR(16), FOUR(17),
    FOUR(18), FOUR(19),
    EIGHT(20), EIGHT(21), EIGHT(22), EIGHT(23), EIGHT(24), EIGHT(25), EIGHT(26), EIGHT(27), EIGHT(28), EIGHT(29),
    FOUR(30), FOUR(31), FOUR(32), FOUR(33), FOUR(34), FOUR(35), FOUR(36), FOUR(37), FOUR(38), FOUR(39), FOUR(40),
    FOUR(41), FOUR(42), FOUR(43), FOUR(44), FOUR(45), FOUR(46),
};
// clang-format on

/* One stretch of sizes with the same number of classes per doubling. */
struct stretch {
    unsigned first;      // class of the first size above `from`
    unsigned from_log2;  // the stretch begins above 2^from_log2
    unsigned steps_log2; // classes per doubling, as a power of two
};

static const struct stretch stretches[] = {
    {CLASS_OF_1G + 1, 30, 2},
    {CLASS_OF_1M + 1, 20, 3},
    {9, 7, 2},
};

unsigned class_of(size_t size)
{
    if (size <= CLASS_STEP_LIMIT)
        return size ? (unsigned)(size + 15) / 16 : CLASS_FIRST;
    if (size > CLASS_SIZE_MAX)
        return CLASS_NONE;
    const struct stretch *s = stretches;
    while (size <= (size_t)1 << s->from_log2)
        s++;
    unsigned log2 = 63 - (unsigned)__builtin_clzl(size - 1); // 2^log2 < size <= 2^(log2+1)
    unsigned step = (unsigned)((size - 1) >> (log2 - s->steps_log2)) - (1u << s->steps_log2);
    return s->first + ((log2 - s->from_log2) << s->steps_log2) + step;
}

unsigned class_floor(size_t usable)
{
    if (usable >= CLASS_SIZE_MAX)
        return CLASS_COUNT - 1;
    unsigned class = class_of(usable);
    return class_size(class) == usable ? class : class - 1;
}

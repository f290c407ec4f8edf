/*
 * Size classes, computed: no table to fill, so they work before anything has been initialised.
 */
#include "class.h"

/* One stretch of sizes with the same number of classes per doubling. */
struct stretch {
    unsigned first;       // class of the first size above `from`
    unsigned from_log2;   // the stretch begins above 2^from_log2
    unsigned steps_log2;  // classes per doubling, as a power of two
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

size_t class_size(unsigned class)
{
    if (class < 9)
        return (size_t)class * 16;
    if (class >= CLASS_COUNT)
        return 0;
    const struct stretch *s = stretches;
    while (class < s->first)
        s++;
    unsigned n = class - s->first;
    size_t power = (size_t)1 << (s->from_log2 + (n >> s->steps_log2));
    return power + (power >> s->steps_log2) * ((n & ((1u << s->steps_log2) - 1)) + 1);
}

unsigned class_floor(size_t usable)
{
    if (usable >= CLASS_SIZE_MAX)
        return CLASS_COUNT - 1;
    unsigned class = class_of(usable);
    return class_size(class) == usable ? class : class - 1;
}

/*
 * The functions of the malloc family that we replace: they check arguments, nothing else.
 *
 * C17 and C23, POSIX, glibc's extensions, and glibc's __libc_ names, which some programs call directly: all are one
 * allocator. C++ operators are not here: libstdc++'s reach us through malloc, throw and call the new-handler as they
 * should, and a program's own replacements stay in force.
 */
#include "hot.h"

EXPORT void *malloc(size_t size)
{
    return hot_malloc(size);
}

EXPORT void free(void *block)
{
    hot_free(block);
}

EXPORT void *calloc(size_t count, size_t size)
{
    size_t bytes;
    if (unlikely(__builtin_mul_overflow(count, size, &bytes))) {
        errno = ENOMEM;
        return NULL;
    }
    void *block = hot_take(bytes);
    return likely(block) ? memset(block, 0, bytes) : slow_calloc(bytes);
}

EXPORT void *realloc(void *block, size_t size)
{
    if (!block)
        return hot_malloc(size);
    if (!size) {
        hot_free(block);
        return NULL;
    }
    return slow_realloc(block, size);
}

EXPORT void *reallocarray(void *block, size_t count, size_t size)
{
    size_t bytes;
    if (unlikely(__builtin_mul_overflow(count, size, &bytes))) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(block, bytes);
}

static bool is_power_of_two(size_t n)
{
    return n && !(n & (n - 1));
}

static void *aligned(size_t align, size_t size)
{
    return align <= MALLOC_ALIGN ? hot_malloc(size) : slow_aligned(align, size);
}

EXPORT int posix_memalign(void **ret_block, size_t align, size_t size)
{
    if (!is_power_of_two(align) || align % sizeof(void *))
        return EINVAL;
    int saved = errno;
    void *block = aligned(align, size);
    errno = saved;
    if (!block)
        return ENOMEM;
    *ret_block = block;
    return 0;
}

EXPORT void *aligned_alloc(size_t align, size_t size)
{
    if (!is_power_of_two(align)) {
        errno = EINVAL;
        return NULL;
    }
    return aligned(align, size);
}

EXPORT void *memalign(size_t align, size_t size)
{
    // glibc rounds an alignment that is no power of two up to one, and refuses what it cannot round
    if (align > ((size_t)1 << 62)) {
        errno = EINVAL;
        return NULL;
    }
    size_t power = MALLOC_ALIGN;
    while (power < align)
        power *= 2;
    return aligned(power, size);
}

EXPORT void *valloc(size_t size)
{
    return aligned(OS_PAGE, size);
}

EXPORT void *pvalloc(size_t size)
{
    if (size > PTRDIFF_MAX) {
        errno = ENOMEM;
        return NULL;
    }
    return aligned(OS_PAGE, size ? align_up(size, OS_PAGE) : OS_PAGE);
}

EXPORT size_t malloc_usable_size(void *block)
{
    return block ? slow_usable(block) : 0;
}

EXPORT void cfree(void *block)
{
    hot_free(block);
}

EXPORT void free_sized(void *block, size_t size)
{
    (void)size;
    hot_free(block);
}

EXPORT void free_aligned_sized(void *block, size_t align, size_t size)
{
    (void)align, (void)size;
    hot_free(block);
}

EXPORT void *__libc_malloc(size_t size) __attribute__((alias("malloc")));
EXPORT void __libc_free(void *block) __attribute__((alias("free")));
EXPORT void *__libc_calloc(size_t count, size_t size) __attribute__((alias("calloc")));
EXPORT void *__libc_realloc(void *block, size_t size) __attribute__((alias("realloc")));
EXPORT void *__libc_memalign(size_t align, size_t size) __attribute__((alias("memalign")));
EXPORT void *__libc_valloc(size_t size) __attribute__((alias("valloc")));
EXPORT void *__libc_pvalloc(size_t size) __attribute__((alias("pvalloc")));

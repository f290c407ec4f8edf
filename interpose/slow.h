/*
 * The slow halves of the entry points: everything that a bin at hand does not settle.
 *
 * libc's contracts: NULL and errno ENOMEM when there is no memory or a size is above PTRDIFF_MAX; free keeps errno.
 * Any thread, at any time of the process's life, also before start and after the last destructor.
 */
#ifndef POOLMARK_SLOW_H
#define POOLMARK_SLOW_H

#include "base.h"

HIDDEN void *slow_malloc(size_t size);
HIDDEN void *slow_calloc(size_t size); // zeroed

/* Frees whatever malloc-like functions of this process have made; NULL is nothing. After hot_free has given up. */
HIDDEN void slow_free(void *block);

/* As realloc with both arguments given: block not NULL, size not 0. */
HIDDEN void *slow_realloc(void *block, size_t size);

/* A block aligned to a power of two above 16. */
HIDDEN void *slow_aligned(size_t align, size_t size);

/* Bytes that may be used; block not NULL. */
HIDDEN size_t slow_usable(void *block);

#endif

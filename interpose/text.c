/*
 * The string functions that start-up uses, small and slow, for this library only.
 *
 * libc's are chosen by processor and lie in pages that a small program never touches otherwise: calling ten of them on
 * ten short names made 130 KiB of libc resident in every process. Hidden, so nobody else gets these; memcpy and memset,
 * which move the program's data, stay libc's.
 */
#include "base.h"

HIDDEN size_t strlen(const char *text)
{
    size_t n = 0;
    while (text[n])
        n++;
    return n;
}

HIDDEN size_t strnlen(const char *text, size_t most)
{
    size_t n = 0;
    while (n < most && text[n])
        n++;
    return n;
}

HIDDEN int memcmp(const void *a, const void *b, size_t count)
{
    const unsigned char *x = a, *y = b;
    for (size_t i = 0; i < count; i++)
        if (x[i] != y[i])
            return x[i] - y[i];
    return 0;
}

HIDDEN int strncmp(const char *a, const char *b, size_t most)
{
    for (size_t i = 0; i < most; i++)
        if (a[i] != b[i] || !a[i])
            return (unsigned char)a[i] - (unsigned char)b[i];
    return 0;
}

HIDDEN int strcmp(const char *a, const char *b)
{
    return strncmp(a, b, SIZE_MAX);
}

HIDDEN char *strchrnul(const char *text, int wanted)
{
    while (*text && *text != (char)wanted)
        text++;
    return (char *)(uintptr_t)text;
}

HIDDEN char *strchr(const char *text, int wanted)
{
    char *at = strchrnul(text, wanted);
    return *at == (char)wanted ? at : NULL;
}

HIDDEN char *strrchr(const char *text, int wanted)
{
    const char *last = NULL;
    for (;; text++) {
        if (*text == (char)wanted)
            last = text;
        if (!*text)
            return (char *)(uintptr_t)last;
    }
}

HIDDEN void *memchr(const void *bytes, int wanted, size_t count)
{
    const unsigned char *at = bytes;
    for (; count; count--, at++)
        if (*at == (unsigned char)wanted)
            return (void *)(uintptr_t)at;
    return NULL;
}

HIDDEN size_t strcspn(const char *text, const char *stop)
{
    size_t n = 0;
    while (text[n] && !strchr(stop, text[n]))
        n++;
    return n;
}

HIDDEN size_t strspn(const char *text, const char *accepted)
{
    size_t n = 0;
    while (text[n] && strchr(accepted, text[n]))
        n++;
    return n;
}

HIDDEN char *strstr(const char *text, const char *wanted)
{
    size_t length = strlen(wanted);
    for (;; text++) {
        if (strncmp(text, wanted, length) == 0)
            return (char *)(uintptr_t)text;
        if (!*text)
            return NULL;
    }
}

HIDDEN char *strncpy(char *restrict to, const char *restrict from, size_t size)
{
    size_t n = 0;
    for (; n < size && from[n]; n++)
        to[n] = from[n];
    for (; n < size; n++)
        to[n] = '\0';
    return to;
}

HIDDEN char *strpbrk(const char *text, const char *wanted)
{
    while (*text && !strchr(wanted, *text))
        text++;
    return *text ? (char *)(uintptr_t)text : NULL;
}

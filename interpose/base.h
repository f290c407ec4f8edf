/*
 * Words of the compiler and constants of the build: the bottom of every file.
 *
 * All conditional compilation of the project is here: the processor, NDEBUG, and the two special builds
 * (POOLMARK_TINY makes rare paths common; a thread sanitizer build makes owner-only stores visible to it).
 */
#ifndef POOLMARK_BASE_H
#define POOLMARK_BASE_H

#ifndef _GNU_SOURCE
#define _GNU_SOURCE
#endif

#include <assert.h>
#include <errno.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if !defined(__x86_64__) || !defined(__linux__)
#error "poolmark is written for x86-64 Linux with glibc"
#endif

#define HIDDEN                __attribute__((visibility("hidden")))
#define EXPORT                __attribute__((visibility("default")))
#define COLD                  __attribute__((cold, noinline))
#define NOINLINE              __attribute__((noinline))
#define ALWAYS_INLINE         inline __attribute__((always_inline))
#define FORMAT(string, first) __attribute__((format(printf, string, first)))
#define likely(x)             __builtin_expect(!!(x), 1)
#define unlikely(x)           __builtin_expect(!!(x), 0)

#define KiB(n)          ((size_t)(n) << 10)
#define MiB(n)          ((size_t)(n) << 20)
#define GiB(n)          ((size_t)(n) << 30)
#define ARRAY_LENGTH(a) (sizeof(a) / sizeof((a)[0]))

#define POOLMARK_VERSION "0.1.0"

enum {
    CACHE_LINE = 64,
    OS_PAGE = 4096,
    MALLOC_ALIGN = 16, // what malloc promises for every size
};

/*
 * The tiny build: bins of two blocks, spans of few blocks, a depot of two lists. Every rare path (refill, spill,
 * exchange, drop, a span that empties) then runs thousands of times in each test.
 */
#ifdef POOLMARK_TINY
enum { TINY = 1 };
#else
enum { TINY = 0 };
#endif

/*
 * A field that only its owner writes and others may read as a hint. Plain instructions, so that the fast path may
 * add to memory directly; in the thread sanitizer's build relaxed atomics, which say the same to the tool.
 */
#ifdef __SANITIZE_THREAD__
enum { LEAVE_EARLY = 1 }; // the tool itself is gone in a thread's last round of destructors
#define owner_set(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)
#define owner_get(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define owner_add(field, value) owner_set((field), owner_get(field) + (value))
#define owner_drop(field)       __atomic_sub_fetch(&(field), 1, __ATOMIC_RELAXED)
#else
enum { LEAVE_EARLY = 0 };
#define owner_set(field, value) ((void)((field) = (value)))
#define owner_get(field)        (field)
#define owner_add(field, value) ((void)((field) += (value)))
#define owner_drop(field)       (--(field))
#endif
#define hint_get(field)        __atomic_load_n(&(field), __ATOMIC_RELAXED)
#define hint_set(field, value) __atomic_store_n(&(field), (value), __ATOMIC_RELAXED)

static inline size_t align_up(size_t n, size_t power_of_two)
{
    return (n + power_of_two - 1) & ~(power_of_two - 1);
}

static inline size_t align_down(size_t n, size_t power_of_two)
{
    return n & ~(power_of_two - 1);
}

static inline size_t min_size(size_t a, size_t b)
{
    return a < b ? a : b;
}

static inline size_t max_size(size_t a, size_t b)
{
    return a > b ? a : b;
}

#endif

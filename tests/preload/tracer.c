/*
 * An exact count of a single-threaded program's heap, made by another way than poolmark's own.
 *
 * It stands before the library (LD_PRELOAD="tracer.so libpoolmark.so"), hands every call of the malloc family on to it
 * and adds up. TRACER_OUT names a file that gets one line of JSON per process image:
 *
 *     {"pid", "allocs", "frees", "live", "peak", "peak_overlap"}
 *
 * Bytes are malloc_usable_size of live blocks. `peak` takes a realloc as one step from the old size to the new one,
 * `peak_overlap` counts both blocks while a block moves, as a copy does.
 *
 * Both sides are read at the same moment: calls go on in and after destructors, so after the program's own atexit
 * handlers (from an on_exit handler registered before main) the tracer flushes stdio, writes its line and ends the
 * process by the library's _exit(), which dumps. Nothing can be allocated between the two.
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* How a realloc that keeps its address counts: the rule of the library under test. */
static bool counts_as_alloc_and_free(bool moved, size_t old_size, size_t new_size)
{
    return moved || old_size != new_size;
}

static struct {
    void *(*malloc)(size_t);
    void (*free)(void *);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    size_t (*malloc_usable_size)(void *);
    void (*exit_now)(int);
} next;

static struct {
    size_t allocs, frees, live, peak, peak_overlap;
} seen;

/* What dlsym needs before it has told where malloc is: handed out once, never given back, not counted. */
static _Alignas(16) char early[8192];
static size_t early_used;

static bool is_early(const void *block)
{
    return (const char *)block >= early && (const char *)block < early + sizeof early;
}

static void *early_alloc(size_t size)
{
    size = (size + 15) & ~(size_t)15;
    if (size > sizeof early - early_used)
        abort();
    void *block = early + early_used;
    early_used += size;
    return block;
}

/* False while the functions are being looked up: the caller is dlsym itself. */
static bool ready(void)
{
    static bool looking;
    if (next.exit_now)
        return true;
    if (looking)
        return false;
    looking = true;
    next.malloc = dlsym(RTLD_NEXT, "malloc");
    next.free = dlsym(RTLD_NEXT, "free");
    next.calloc = dlsym(RTLD_NEXT, "calloc");
    next.realloc = dlsym(RTLD_NEXT, "realloc");
    next.memalign = dlsym(RTLD_NEXT, "memalign");
    next.malloc_usable_size = dlsym(RTLD_NEXT, "malloc_usable_size");
    next.exit_now = dlsym(RTLD_NEXT, "_exit");
    looking = false;
    return true;
}

static void count_peaks(size_t also)
{
    if (seen.live > seen.peak)
        seen.peak = seen.live;
    if (seen.live + also > seen.peak_overlap)
        seen.peak_overlap = seen.live + also;
}

static void *count_alloc(void *block)
{
    if (block) {
        seen.allocs++;
        seen.live += next.malloc_usable_size(block);
        count_peaks(0);
    }
    return block;
}

static void count_free(void *block)
{
    seen.frees++;
    seen.live -= next.malloc_usable_size(block);
}

void *malloc(size_t size)
{
    return ready() ? count_alloc(next.malloc(size)) : early_alloc(size);
}

void free(void *block)
{
    if (!block || is_early(block) || !ready())
        return;
    count_free(block);
    next.free(block);
}

void *calloc(size_t count, size_t size)
{
    return ready() ? count_alloc(next.calloc(count, size)) : early_alloc(count * size);
}

void *realloc(void *old, size_t size)
{
    if (!old)
        return malloc(size);
    if (!ready() || is_early(old)) {
        void *block = malloc(size);
        return block ? memcpy(block, old, size < 256 ? size : 256) : NULL;
    }
    size_t old_size = next.malloc_usable_size(old);
    void *block = next.realloc(old, size);
    if (!block && size)
        return NULL;
    size_t new_size = block ? next.malloc_usable_size(block) : 0;
    if (!block)
        seen.frees++;
    else if (counts_as_alloc_and_free(block != old, old_size, new_size)) {
        seen.allocs++;
        seen.frees++;
    }
    seen.live += new_size - old_size;
    count_peaks(block && block != old ? old_size : 0);
    return block;
}

void *reallocarray(void *old, size_t count, size_t size)
{
    size_t bytes;
    if (__builtin_mul_overflow(count, size, &bytes)) {
        errno = ENOMEM;
        return NULL;
    }
    return realloc(old, bytes);
}

void *memalign(size_t align, size_t size)
{
    return ready() ? count_alloc(next.memalign(align, size)) : early_alloc(size);
}

void *aligned_alloc(size_t align, size_t size)
{
    return memalign(align, size);
}

void *valloc(size_t size)
{
    return memalign(4096, size);
}

void *pvalloc(size_t size)
{
    return memalign(4096, (size + 4095) & ~(size_t)4095);
}

int posix_memalign(void **ret, size_t align, size_t size)
{
    int saved = errno;
    void *block = memalign(align, size);
    errno = saved;
    if (!block)
        return ENOMEM;
    *ret = block;
    return 0;
}

static void write_line(void)
{
    char line[256];
    const char *path = getenv("TRACER_OUT");
    int fd = path ? open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600) : -1;
    if (fd < 0)
        return;
    int length = snprintf(line, sizeof line,
                          "{\"pid\": %d, \"allocs\": %zu, \"frees\": %zu, \"live\": %zu, \"peak\": %zu, "
                          "\"peak_overlap\": %zu}\n",
                          (int)getpid(), seen.allocs, seen.frees, seen.live, seen.peak, seen.peak_overlap);
    if (write(fd, line, (size_t)length) != length)
        abort();
    close(fd);
}

static void at_exit(int status, void *unused)
{
    (void)unused;
    fflush(NULL);
    _exit(status);
}

void _exit(int status)
{
    ready();
    write_line();
    next.exit_now(status);
    __builtin_unreachable();
}

void _Exit(int status)
{
    _exit(status);
}

__attribute__((constructor)) static void start(void)
{
    ready();
    on_exit(at_exit, NULL);
}

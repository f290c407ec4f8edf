/*
 * The kernel's side: maps, clocks, processors, futexes.
 *
 * errno is the program's: every function here puts it back, so that a purge inside free() or a refused reservation
 * that has a fallback leaves no trace.
 */
#include "os.h"

#include <fcntl.h>
#include <linux/futex.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static void *map(void *where, size_t bytes, int protection, int flags, int fd)
{
    int saved = errno;
    void *start = mmap(where, bytes, protection, flags, fd, 0);
    errno = saved;
    return start == MAP_FAILED ? NULL : start;
}

static struct {
    _Atomic size_t now, peak; // any thread
    _Atomic uint64_t peak_at; // hint
} mapped;

static void mapped_add(size_t bytes)
{
    size_t now = atomic_fetch_add_explicit(&mapped.now, bytes, memory_order_relaxed) + bytes;
    size_t peak = atomic_load_explicit(&mapped.peak, memory_order_relaxed);
    while (now > peak)
        if (atomic_compare_exchange_weak_explicit(&mapped.peak, &peak, now, memory_order_relaxed,
                                                  memory_order_relaxed)) {
            atomic_store_explicit(&mapped.peak_at, os_clock_coarse(), memory_order_relaxed);
            return;
        }
}

static void mapped_sub(size_t bytes)
{
    atomic_fetch_sub_explicit(&mapped.now, bytes, memory_order_relaxed);
}

size_t os_mapped(size_t *ret_peak, uint64_t *ret_peak_at)
{
    *ret_peak = atomic_load_explicit(&mapped.peak, memory_order_relaxed);
    *ret_peak_at = atomic_load_explicit(&mapped.peak_at, memory_order_relaxed);
    return atomic_load_explicit(&mapped.now, memory_order_relaxed);
}

void *os_map(size_t bytes)
{
    void *start = map(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1);
    if (start)
        mapped_add(bytes);
    return start;
}

void *os_reserve(size_t bytes, size_t align)
{
    // one page more than needed always suffices to align, since the kernel aligns to pages itself
    size_t slack = align - OS_PAGE;
    if (bytes + slack < bytes)
        return NULL;
    char *start = map(NULL, bytes + slack, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
    if (!start)
        return NULL;
    char *aligned = (char *)align_up((uintptr_t)start, align);
    if (aligned > start)
        os_unmap(start, (size_t)(aligned - start), 0);
    size_t tail = (size_t)(start + slack - aligned);
    if (tail)
        os_unmap(aligned + bytes, tail, 0);
    return aligned;
}

bool os_commit(void *start, size_t bytes)
{
    int saved = errno;
    bool done = mprotect(start, bytes, PROT_READ | PROT_WRITE) == 0;
    errno = saved;
    if (done)
        mapped_add(bytes);
    return done;
}

bool os_populate(void *start, size_t bytes)
{
    int saved = errno;
    bool done = madvise(start, bytes, MADV_POPULATE_WRITE) == 0 || errno == EINVAL; // EINVAL: before Linux 5.14
    errno = saved;
    return done;
}

bool os_purge(void *start, size_t bytes)
{
    int saved = errno;
    bool done = madvise(start, bytes, MADV_DONTNEED) == 0;
    errno = saved;
    return done;
}

void os_no_huge_pages(void *start, size_t bytes)
{
    int saved = errno;
    madvise(start, bytes, MADV_NOHUGEPAGE);
    errno = saved;
}

void os_unmap(void *start, size_t bytes, size_t usable)
{
    int saved = errno;
    if (munmap(start, bytes) == 0)
        mapped_sub(usable);
    errno = saved;
}

void *os_remap(void *start, size_t old_bytes, size_t new_bytes)
{
    int saved = errno;
    void *moved = mremap(start, old_bytes, new_bytes, MREMAP_MAYMOVE);
    errno = saved;
    if (moved == MAP_FAILED)
        return NULL;
    mapped_add(new_bytes);
    mapped_sub(old_bytes);
    return moved;
}

void *os_map_file(int fd, size_t bytes, void *where)
{
    return map(where, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | (where ? MAP_FIXED : 0), fd);
}

bool os_map_private_at(void *where, size_t bytes)
{
    return map(where, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1) != NULL;
}

const unsigned char *os_fork_mark(void)
{
    unsigned char *mark = os_map(OS_PAGE);
    if (!mark)
        return NULL;
    int saved = errno;
    bool wiped = madvise(mark, OS_PAGE, MADV_WIPEONFORK) == 0;
    errno = saved;
    if (!wiped) {
        os_unmap(mark, OS_PAGE, OS_PAGE);
        return NULL;
    }
    *mark = 1;
    return mark;
}

void os_fork_mark_renew(const unsigned char *mark)
{
    *(unsigned char *)(uintptr_t)mark = 1;
}

static uint64_t clock_read(clockid_t clock)
{
    struct timespec t;
    int saved = errno;
    uint64_t ns = clock_gettime(clock, &t) == 0 ? (uint64_t)t.tv_sec * 1000000000u + (uint64_t)t.tv_nsec : 0;
    errno = saved;
    return ns;
}

uint64_t os_clock(void)
{
    return clock_read(CLOCK_MONOTONIC);
}

uint64_t os_clock_coarse(void)
{
    return clock_read(CLOCK_MONOTONIC_COARSE);
}

uint64_t os_realtime(void)
{
    return clock_read(CLOCK_REALTIME);
}

unsigned os_processor(void)
{
    // glibc 2.35 and later register an rseq area per thread; the kernel keeps cpu_id current (-1: not registered)
    if (__rseq_size) {
        struct rseq *area = (struct rseq *)((char *)__builtin_thread_pointer() + __rseq_offset);
        int cpu = (int)__atomic_load_n(&area->cpu_id, __ATOMIC_RELAXED);
        if (cpu >= 0)
            return (unsigned)cpu;
    }
    int saved = errno;
    int cpu = sched_getcpu();
    errno = saved;
    return cpu < 0 ? 0 : (unsigned)cpu;
}

unsigned os_processor_count(void)
{
    // by system call: sysconf opens files in /sys and may allocate
    static _Atomic unsigned known; // any thread: all write the same value
    unsigned count = atomic_load_explicit(&known, memory_order_relaxed);
    if (count)
        return count;
    cpu_set_t set;
    int saved = errno;
    long bytes = syscall(SYS_sched_getaffinity, 0, sizeof(set), &set);
    errno = saved;
    if (bytes > 0)
        for (size_t i = 0; i < (size_t)bytes / sizeof(unsigned long); i++)
            count += (unsigned)__builtin_popcountl(((unsigned long *)&set)[i]);
    count = count ? count : 1;
    atomic_store_explicit(&known, count, memory_order_relaxed);
    return count;
}

size_t os_address_limit(void)
{
    struct rlimit limit;
    int saved = errno;
    bool known = getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY;
    errno = saved;
    return known ? (size_t)limit.rlim_cur : SIZE_MAX;
}

int os_pid(void)
{
    return (int)syscall(SYS_getpid);
}

void os_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAIT_PRIVATE, value, NULL, NULL, 0);
    errno = saved;
}

void os_futex_wake(_Atomic uint32_t *word)
{
    int saved = errno;
    syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0);
    errno = saved;
}

size_t os_read_file(const char *path, char *buffer, size_t size)
{
    int saved = errno;
    size_t used = 0;
    int fd = (int)syscall(SYS_openat, AT_FDCWD, path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        ssize_t got;
        while (used + 1 < size && (got = read(fd, buffer + used, size - 1 - used)) > 0)
            used += (size_t)got;
        syscall(SYS_close, fd);
    }
    buffer[used] = '\0';
    errno = saved;
    return used;
}

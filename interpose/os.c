/*
 * The kernel's side: maps, clocks, processors, futexes.
 *
 * System calls are made here, not through libc's wrappers: they leave errno alone, which is the program's, and a small
 * program is not charged for the pages of libc that the wrappers lie in (some 60 KiB of /bin/true's resident memory).
 */
#include "os.h"

#include <elf.h>
#include <fcntl.h>
#include <linux/futex.h>
#include <linux/mman.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/rseq.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <time.h>

enum { ERRORS = 4095 }; // the kernel answers -errno in the last page of addresses

/* A system call of up to six arguments; -errno on failure. */
static long call6(long number, long a, long b, long c, long d, long e, long f)
{
    long ret;
    register long r10 __asm__("r10") = d;
    register long r8 __asm__("r8") = e;
    register long r9 __asm__("r9") = f;
    __asm__ volatile("syscall"
                     : "=a"(ret)
                     : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                     : "rcx", "r11", "memory");
    return ret;
}

static long call3(long number, long a, long b, long c)
{
    return call6(number, a, b, c, 0, 0, 0);
}

static void *pointer_or_null(long ret)
{
    return (unsigned long)ret >= (unsigned long)-ERRORS ? NULL : (void *)ret;
}

static void *map(void *where, size_t bytes, int protection, int flags, int fd)
{
    return pointer_or_null(call6(SYS_mmap, (long)where, (long)bytes, protection, flags, fd, 0));
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
            atomic_store_explicit(&mapped.peak_at, os_clock(), memory_order_relaxed);
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
    if (call3(SYS_mprotect, (long)start, (long)bytes, PROT_READ | PROT_WRITE))
        return false;
    mapped_add(bytes);
    return true;
}

static long advise(void *start, size_t bytes, int advice)
{
    return call3(SYS_madvise, (long)start, (long)bytes, advice);
}

bool os_populate(void *start, size_t bytes)
{
    long ret = advise(start, bytes, MADV_POPULATE_WRITE);
    return !ret || ret == -EINVAL; // EINVAL: before Linux 5.14
}

bool os_purge(void *start, size_t bytes)
{
    return !advise(start, bytes, MADV_DONTNEED);
}

void os_no_huge_pages(void *start, size_t bytes)
{
    advise(start, bytes, MADV_NOHUGEPAGE);
}

void os_unmap(void *start, size_t bytes, size_t usable)
{
    if (!call3(SYS_munmap, (long)start, (long)bytes, 0))
        mapped_sub(usable);
}

void *os_remap(void *start, size_t old_bytes, size_t new_bytes)
{
    long ret = call6(SYS_mremap, (long)start, (long)old_bytes, (long)new_bytes, MREMAP_MAYMOVE, 0, 0);
    void *moved = pointer_or_null(ret);
    if (moved) {
        mapped_add(new_bytes);
        mapped_sub(old_bytes);
    }
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
    if (mark && advise(mark, OS_PAGE, MADV_WIPEONFORK)) {
        os_unmap(mark, OS_PAGE, OS_PAGE);
        return NULL;
    }
    if (mark)
        *mark = 1;
    return mark;
}

void os_fork_mark_renew(const unsigned char *mark)
{
    *(unsigned char *)(uintptr_t)mark = 1;
}

static uint64_t nanoseconds(const struct timespec *t)
{
    return (uint64_t)t->tv_sec * 1000000000u + (uint64_t)t->tv_nsec;
}

static uint64_t clock_call(clockid_t clock)
{
    struct timespec t = {0};
    call3(SYS_clock_gettime, clock, (long)&t, 0);
    return nanoseconds(&t);
}

uint64_t os_clock(void)
{
    return clock_call(CLOCK_MONOTONIC);
}

uint64_t os_realtime(void)
{
    return clock_call(CLOCK_REALTIME);
}

uint64_t os_clock_coarse(void)
{
    struct timespec t = {0};
    int saved = errno;
    clock_gettime(CLOCK_MONOTONIC_COARSE, &t);
    errno = saved;
    return nanoseconds(&t);
}

bool os_is_secure(char **environment)
{
    while (*environment)
        environment++;
    const Elf64_auxv_t *entry = (const Elf64_auxv_t *)(environment + 1);
    while (entry->a_type != AT_NULL && entry->a_type != AT_SECURE)
        entry++;
    return entry->a_type == AT_SECURE && entry->a_un.a_val;
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
    long bytes = call3(SYS_sched_getaffinity, 0, sizeof(set), (long)&set);
    for (long i = 0; i < bytes / (long)sizeof(unsigned long); i++)
        count += (unsigned)__builtin_popcountl(((unsigned long *)&set)[i]);
    count = count ? count : 1;
    atomic_store_explicit(&known, count, memory_order_relaxed);
    return count;
}

size_t os_address_limit(void)
{
    struct rlimit limit;
    long ret = call6(SYS_prlimit64, 0, RLIMIT_AS, 0, (long)&limit, 0, 0);
    return ret || limit.rlim_cur == RLIM_INFINITY ? SIZE_MAX : (size_t)limit.rlim_cur;
}

int os_pid(void)
{
    return (int)call3(SYS_getpid, 0, 0, 0);
}

void os_futex_wait(_Atomic uint32_t *word, uint32_t value)
{
    call6(SYS_futex, (long)word, FUTEX_WAIT_PRIVATE, value, 0, 0, 0);
}

void os_futex_wake(_Atomic uint32_t *word)
{
    call3(SYS_futex, (long)word, FUTEX_WAKE_PRIVATE, 1);
}

bool os_stat(int fd, struct stat *ret)
{
    return call3(SYS_fstat, fd, (long)ret, 0) == 0;
}

void os_host(char *ret, size_t size)
{
    struct utsname host;
    ret[0] = '\0';
    if (call3(SYS_uname, (long)&host, 0, 0) == 0)
        strncpy(ret, host.nodename, size - 1)[size - 1] = '\0';
}

size_t os_read_file(const char *path, char *buffer, size_t size)
{
    size_t used = 0;
    long fd = call3(SYS_openat, AT_FDCWD, (long)path, O_RDONLY | O_CLOEXEC);
    if (fd >= 0) {
        long got;
        while (used + 1 < size && (got = call3(SYS_read, fd, (long)(buffer + used), (long)(size - 1 - used))) > 0)
            used += (size_t)got;
        call3(SYS_close, fd, 0, 0);
    }
    buffer[used] = '\0';
    return used;
}

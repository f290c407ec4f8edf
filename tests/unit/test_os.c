/*
 * The kernel's side: maps are counted and given back, errno is never touched, refusals are NULL or false.
 */
#include <criterion/criterion.h>

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/resource.h>

#include "interpose/os.h"
#include "started.h"

static size_t mapped_now(void)
{
    size_t peak;
    uint64_t peak_at;
    return os_mapped(&peak, &peak_at);
}

Test(os, map_is_zeroed_counted_and_given_back)
{
    size_t before = mapped_now(), peak;
    uint64_t peak_at;
    char *start = os_map(MiB(1));
    cr_assert(is_filled(start, 0, MiB(1)));
    memset(start, 1, MiB(1));
    cr_assert_eq(mapped_now(), before + MiB(1));
    os_unmap(start, MiB(1), MiB(1));
    cr_assert_eq(os_mapped(&peak, &peak_at), before);
    cr_assert_eq(peak, before + MiB(1));
    cr_assert_gt(peak_at, 0);
    cr_assert_not(is_readable(start));
}

Test(os, refusals_leave_errno_alone)
{
    errno = 4242;
    cr_assert_null(os_map((size_t)1 << 48));
    cr_assert_null(os_reserve((size_t)1 << 48, OS_PAGE));
    cr_assert_null(os_reserve(SIZE_MAX - OS_PAGE + 1, MiB(1)), "the sum overflows");
    cr_assert_not(os_commit((void *)OS_PAGE, OS_PAGE));
    cr_assert_not(os_purge((void *)(OS_PAGE + 1), OS_PAGE));
    cr_assert_null(os_remap((void *)OS_PAGE, OS_PAGE, 2 * OS_PAGE));
    cr_assert_null(os_map_file(-1, OS_PAGE, NULL));
    char text[8];
    cr_assert_eq(os_read_file("/nonexistent", text, sizeof(text)), 0);
    cr_assert_eq(errno, 4242);
    cr_assert_eq(mapped_now(), 0);
}

Test(os, reservation_is_aligned_and_takes_no_memory_before_commit)
{
    for (size_t align = OS_PAGE; align <= GiB(1); align *= 4) {
        char *start = os_reserve(MiB(2), align);
        cr_assert_not_null(start);
        cr_assert_eq((uintptr_t)start % align, 0, "%p, align %zu", (void *)start, align);
        cr_assert_not(is_readable(start));
        cr_assert_eq(mapped_now(), 0);
        cr_assert(os_commit(start + OS_PAGE, OS_PAGE));
        cr_assert_eq(mapped_now(), OS_PAGE);
        cr_assert(is_filled(start + OS_PAGE, 0, OS_PAGE));
        cr_assert_not(is_readable(start));
        cr_assert_not(is_readable(start + 2 * OS_PAGE));
        os_unmap(start, MiB(2), OS_PAGE);
        cr_assert_eq(mapped_now(), 0);
        cr_assert_not(is_readable(start + OS_PAGE));
    }
}

Test(os, purged_pages_read_as_zeros)
{
    char *start = os_map(4 * OS_PAGE);
    os_no_huge_pages(start, 4 * OS_PAGE);
    memset(start, 7, 4 * OS_PAGE);
    cr_assert(os_purge(start + OS_PAGE, 2 * OS_PAGE));
    cr_assert(is_filled(start, 7, OS_PAGE));
    cr_assert(is_filled(start + OS_PAGE, 0, 2 * OS_PAGE));
    cr_assert(is_filled(start + 3 * OS_PAGE, 7, OS_PAGE));
    start[OS_PAGE] = 1;
    if (!SANITIZED && mlock(start, OS_PAGE) == 0) // sanitizers make mlock do nothing
        cr_assert_not(os_purge(start, OS_PAGE), "locked");
}

Test(os, remap_keeps_the_content_and_the_account)
{
    unsigned char *start = os_map(4 * OS_PAGE);
    memset(start, 9, 4 * OS_PAGE);
    start = os_remap(start, 4 * OS_PAGE, MiB(8));
    cr_assert_not_null(start);
    cr_assert_eq(mapped_now(), MiB(8));
    cr_assert(is_filled(start, 9, 4 * OS_PAGE));
    cr_assert(is_filled(start + 4 * OS_PAGE, 0, MiB(8) - 4 * OS_PAGE));
    cr_assert_null(os_remap(start, MiB(8), (size_t)1 << 48));
    cr_assert_eq(mapped_now(), MiB(8));
    start = os_remap(start, MiB(8), OS_PAGE);
    cr_assert(is_filled(start, 9, OS_PAGE));
    cr_assert_eq(mapped_now(), OS_PAGE);
}

Test(os, file_is_shared_until_made_private)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    cr_assert_eq(ftruncate(fd, 2 * OS_PAGE), 0);
    char *one = os_map_file(fd, 2 * OS_PAGE, NULL);
    char *other = os_map(2 * OS_PAGE);
    cr_assert_eq(os_map_file(fd, 2 * OS_PAGE, other), other, "in the place of what was there");
    one[5] = 'x';
    cr_assert_eq(other[5], 'x');
    cr_assert(os_map_private_at(other, 2 * OS_PAGE));
    cr_assert_eq(other[5], 0);
    other[5] = 'y';
    cr_assert_eq(one[5], 'x');
}

Test(os, populate_notices_a_file_without_room)
{
    int fd = memfd_create("test", MFD_CLOEXEC);
    cr_assert_eq(ftruncate(fd, OS_PAGE), 0);
    char *start = os_map_file(fd, 2 * OS_PAGE, NULL);
    if (madvise(start, OS_PAGE, MADV_POPULATE_WRITE))
        cr_skip_test("before Linux 5.14");
    cr_assert(os_populate(start, OS_PAGE));
    errno = 4242;
    cr_assert_not(os_populate(start, 2 * OS_PAGE), "the second page lies behind the end");
    cr_assert_eq(errno, 4242);
}

static const unsigned char *mark;

static bool child_sees_the_fork(void)
{
    bool wiped = *(const volatile unsigned char *)mark == 0;
    os_fork_mark_renew(mark);
    return wiped && *(const volatile unsigned char *)mark == 1 && os_pid() == getpid();
}

Test(os, fork_mark)
{
    mark = os_fork_mark();
    cr_assert_not_null(mark);
    cr_assert_eq(*mark, 1);
    cr_assert_eq(in_child(child_sees_the_fork), 0);
    cr_assert_eq(*mark, 1);
    cr_assert_eq(os_pid(), getpid());
}

Test(os, clocks_never_go_back)
{
    uint64_t fine = os_clock(), coarse = os_clock_coarse();
    cr_assert_gt(coarse, 0);
    for (unsigned i = 0; i < 10000; i++) {
        uint64_t next = os_clock(), next_coarse = os_clock_coarse();
        cr_assert_geq(next, fine);
        cr_assert_geq(next_coarse, coarse);
        cr_assert_leq(next_coarse, os_clock(), "the coarse clock is the last tick's");
        fine = next;
        coarse = next_coarse;
    }
    cr_assert_gt(os_realtime() / 1000000000u, 1577836800u, "after 2020");
}

Test(os, processors)
{
    cpu_set_t set;
    cr_assert_eq(sched_getaffinity(0, sizeof(set), &set), 0);
    cr_assert_eq(os_processor_count(), (unsigned)CPU_COUNT(&set));
    for (int cpu = 0; cpu < CPU_SETSIZE; cpu++) {
        if (!CPU_ISSET(cpu, &set))
            continue;
        cpu_set_t one;
        CPU_ZERO(&one);
        CPU_SET(cpu, &one);
        cr_assert_eq(sched_setaffinity(0, sizeof(one), &one), 0);
        cr_assert_eq(os_processor(), (unsigned)cpu);
    }
}

Test(os, address_limit)
{
    struct rlimit limit = {GiB(4), RLIM_INFINITY};
    cr_assert_eq(os_address_limit(), SIZE_MAX);
    if (SANITIZED)
        return;
    cr_assert_eq(setrlimit(RLIMIT_AS, &limit), 0);
    cr_assert_eq(os_address_limit(), GiB(4));
}

static _Atomic uint32_t word;

static void *sleeper(void *unused)
{
    while (atomic_load(&word) == 1)
        os_futex_wait(&word, 1);
    return unused;
}

Test(os, futex_wakes_and_does_not_sleep_on_another_value, .timeout = 60)
{
    errno = 4242;
    os_futex_wait(&word, 1);
    cr_assert_eq(errno, 4242);
    pthread_t thread;
    atomic_store(&word, 1);
    cr_assert_eq(pthread_create(&thread, NULL, sleeper, NULL), 0);
    atomic_store(&word, 2);
    os_futex_wake(&word);
    cr_assert_eq(pthread_join(thread, NULL), 0);
}

Test(os, reads_small_files)
{
    char text[64], cut[4] = "###";
    int fd = dup(0);
    close(fd);
    cr_assert_gt(os_read_file("/proc/self/statm", text, sizeof(text)), 5);
    cr_assert_not_null(strchr(text, '\n'));
    cr_assert_eq(os_read_file("/proc/self/statm", cut, sizeof(cut)), 3);
    cr_assert_eq(strncmp(cut, text, 1), 0);
    cr_assert_eq(strlen(cut), 3);
    cr_assert_eq(dup(0), fd, "no descriptor stays open");
}

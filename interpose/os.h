/*
 * The kernel: the only file that maps memory, and the only one that reads clocks and processor numbers.
 *
 * All functions keep errno, never allocate, take no locks and are async-signal-safe.
 */
#ifndef POOLMARK_OS_H
#define POOLMARK_OS_H

#include "base.h"

/* Readable, writable, zeroed memory of `bytes` (a multiple of OS_PAGE). NULL if refused. */
HIDDEN void *os_map(size_t bytes);

/* Address space without memory, `bytes` long and aligned to `align` (a power of two >= OS_PAGE). NULL if refused. */
HIDDEN void *os_reserve(size_t bytes, size_t align);

/* Makes a part of a reservation readable and writable; its pages are zero at first touch. False if refused. */
HIDDEN bool os_commit(void *start, size_t bytes);

/* Makes the pages of a range present now. False if memory or the file system behind it has no room. */
HIDDEN bool os_populate(void *start, size_t bytes);

/* Gives the pages back; the range stays usable and reads as zeros. False if the kernel refused (locked memory). */
HIDDEN bool os_purge(void *start, size_t bytes);

/* Keeps huge pages out of a range: they would make memory resident that nobody has touched. */
HIDDEN void os_no_huge_pages(void *start, size_t bytes);

/* Gives address space and memory back. `usable`: how much of it was mapped or committed. */
HIDDEN void os_unmap(void *start, size_t bytes, size_t usable);

/* Bytes that are mapped or committed now, whether resident or not; their peak, and the clock (os_clock_coarse) then. */
HIDDEN size_t os_mapped(size_t *ret_peak, uint64_t *ret_peak_at);

/* Moves or resizes a mapping (mremap, may move). NULL if refused: the old mapping is then unchanged. */
HIDDEN void *os_remap(void *start, size_t old_bytes, size_t new_bytes);

/* Maps `bytes` of an open file, shared, at `where` if not NULL (replacing what is there). NULL if refused. */
HIDDEN void *os_map_file(int fd, size_t bytes, void *where);

/* Replaces what is mapped at `where` by private zeroed memory. False if refused. */
HIDDEN bool os_map_private_at(void *where, size_t bytes);

/*
 * A byte that is 1, and reads 0 in every child that got a copy of this memory (fork, clone without CLONE_VM), however
 * it was made: MADV_WIPEONFORK. NULL if the kernel cannot.
 */
HIDDEN const unsigned char *os_fork_mark(void);
HIDDEN void os_fork_mark_renew(const unsigned char *mark);

struct stat;

/* What fstat says of a descriptor; false if it is not open. */
HIDDEN bool os_stat(int fd, struct stat *ret);

/* The machine's name, cut if it is longer. */
HIDDEN void os_host(char *ret, size_t size);

/* Nanoseconds of CLOCK_MONOTONIC: by system call; the coarse one, from the vdso, costs some 5 ns and is right to some
 * 4 ms. */
HIDDEN uint64_t os_clock(void);
HIDDEN uint64_t os_clock_coarse(void);
HIDDEN uint64_t os_realtime(void);

/* The processor that the caller runs on, from the rseq area that glibc has registered, else by getcpu. */
HIDDEN unsigned os_processor(void);
HIDDEN unsigned os_processor_count(void);

/* The limit of RLIMIT_AS in bytes, SIZE_MAX if there is none. */
HIDDEN size_t os_address_limit(void);

/*
 * Whether the program runs with rights that its caller has not (setuid, file capabilities): AT_SECURE, from the vector
 * that the kernel has put behind the environment. `environment` as a constructor gets it. (getauxval would make another
 * 64 KiB of libc resident.)
 */
HIDDEN bool os_is_secure(char **environment);

/* The process's id, by system call: right in every kind of child. */
HIDDEN int os_pid(void);

/* Sleeps until *word is no longer `value`, or a wake. Wakes one sleeper. */
HIDDEN void os_futex_wait(_Atomic uint32_t *word, uint32_t value);
HIDDEN void os_futex_wake(_Atomic uint32_t *word);

/*
 * Reads a small file of /proc into buffer, NUL-terminated; returns its length, 0 on any failure. The descriptor is
 * closed on exec and lives only during the call.
 */
HIDDEN size_t os_read_file(const char *path, char *buffer, size_t size);

#endif

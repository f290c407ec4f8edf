/*
 * exit, quick_exit and _exit, caught; and the start of all that watches for ends.
 *
 * Two of the three tell us by themselves. A handler of on_exit gets the status, and handlers run in the order opposite
 * to their registration: ours, registered before the program starts, runs after all of the program's and after the
 * destructors of all libraries (libc registers those when main is about to start). at_quick_exit works alike, but does
 * not tell the status, so quick_exit is replaced to note it. Both lists have room for 32 entries before they allocate,
 * and at start they are nearly empty. _exit and _Exit tell nobody and are replaced.
 *
 * Not seen here: libc's own calls of _exit (the parent in daemon), syscall(SYS_exit_group), SIGKILL. POOL_LIVE is.
 */
#define _GNU_SOURCE
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "dump.h"
#include "elf.h"
#include "end.h"
#include "exits.h"
#include "signals.h"

enum { STATUS_MASK = 0xff, STATUS_UNKNOWN = -1 };

static _Atomic int quick_status = STATUS_UNKNOWN; // any thread: what quick_exit was called with

/* The lock of stdio's list of streams, which libc takes in the last step of exit. No header has it any more. */
__attribute__((weak)) void _IO_list_lock(void);
__attribute__((weak)) void _IO_list_unlock(void);

/*
 * A second thread that calls exit finds no handlers left and would end the process in the middle of our dump, but for
 * stdio, where it has to pass and we hold the lock.
 */
static void at_exit(int status, void *argument)
{
    (void)argument;
    if (!end_is_possible())
        return;
    bool lockable = _IO_list_lock && _IO_list_unlock;
    if (lockable)
        _IO_list_lock();
    end_dump(END_EXIT, status & STATUS_MASK);
    if (lockable)
        _IO_list_unlock();
}

static void at_quick(void)
{
    end_dump(END_QUICK, atomic_load_explicit(&quick_status, memory_order_relaxed));
}

static void __attribute__((noreturn)) leave(int status)
{
    for (;;)
        syscall(SYS_exit_group, status);
}

void exits_start(bool fatal, int snapshot)
{
    int saved = errno;
    end_start();
    on_exit(at_exit, NULL);
    at_quick_exit(at_quick);
    signals_start(fatal, snapshot);
    errno = saved;
}

EXPORT void _exit(int status)
{
    end_dump(END_NOW, status & STATUS_MASK);
    leave(status);
}

EXPORT void _Exit(int status)
{
    end_dump(END_NOW, status & STATUS_MASK);
    leave(status);
}

/*
 * Many programs (all of GNU's) close stderr in their last exit handler, to notice a full disk: what is to be written
 * there must be written before. It is a snapshot, since the program may go on.
 */
EXPORT int fclose(FILE *stream)
{
    static int (*_Atomic real)(FILE *); // any thread: all find the same
    if (!atomic_load_explicit(&real, memory_order_relaxed))
        atomic_store_explicit(&real, elf_symbol("libc.so.", "fclose"), memory_order_relaxed);
    if (stream == stderr && dump_goes_to_stderr())
        end_dump(END_SNAPSHOT, 0);
    return atomic_load_explicit(&real, memory_order_relaxed)(stream);
}

EXPORT void quick_exit(int status)
{
    if (end_is_possible())
        atomic_store_explicit(&quick_status, status & STATUS_MASK, memory_order_relaxed);
    void (*real)(int) = elf_symbol("libc.so.", "quick_exit");
    if (real)
        real(status);
    leave(status);
}

/*
 * Signals that end the process by default, caught and hidden.
 *
 * The handler dumps, gives the signal its default action back and lets it act, so that the wait status, the core flag
 * and the registers in the core are those without us. A fault happens again when the handler returns to the faulting
 * instruction; any other signal is sent to the thread again, waits while the handler runs (all signals are blocked),
 * and acts at the return. For that it must not be blocked there: a signal that came in sigsuspend or ppoll returns
 * to the mask from before, hence the change of uc_sigmask.
 *
 * Differences to SIG_DFL that were weighed:
 *   - A handler for a fatal signal never returns to the program, so no call is seen to fail with EINTR.
 *   - SA_ONSTACK uses the program's alternate stack if it has one; the dump has its own (end.c). A thread that has
 *     overflowed its stack and has no alternate one is killed by the kernel with the same status, without a dump.
 *   - Process 1 of a pid namespace is immune to signals at SIG_DFL, not to handlers: there only faults are caught.
 *   - Programs that ask the kernel themselves (Go) see our handler and may pass signals on to it; it then kills.
 *   - A handler with SA_RESETHAND leaves a real SIG_DFL behind. raise, with which such programs (node) then end
 *     themselves, is replaced to catch the signal again.
 *   - What libc does by itself (system, abort, posix_spawn) goes past these wrappers; it restores what it found.
 *   - TRAP belongs to debuggers; PROF, VTALRM, IO, PWR and real-time signals are rare ends: POOL_LIVE shows those.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#include "end.h"
#include "os.h"
#include "signals.h"

/* libc's own, by the second names that it has for them. We leave those alone. */
int __sigaction(int sig, const struct sigaction *action, struct sigaction *ret_old);
sighandler_t ssignal(int sig, sighandler_t handler);
int gsignal(int sig);

static const uint8_t faults[] = {SIGILL, SIGBUS, SIGFPE, SIGSEGV};
static const uint8_t others[] = {SIGHUP,  SIGINT,  SIGQUIT, SIGABRT, SIGPIPE, SIGALRM,
                                 SIGTERM, SIGXCPU, SIGXFSZ, SIGSYS,  SIGUSR1, SIGUSR2};

static struct {
    _Atomic uint64_t caught; // bit per signal: fatal ones that we catch
    _Atomic int snapshot;    // 0: none
} state;

static uint64_t bit(int sig)
{
    return (uint64_t)1 << (sig - 1);
}

/* Whether the signal comes again by itself when the handler returns. */
static bool repeats(int sig, const siginfo_t *info)
{
    if (info->si_code <= 0) // sent by somebody
        return false;
    if (sig == SIGBUS && info->si_code == BUS_MCEERR_AO) // a memory error found elsewhere
        return false;
    return sig == SIGSEGV || sig == SIGBUS || sig == SIGFPE || sig == SIGILL;
}

static void handle_fatal(int sig, siginfo_t *info, void *context)
{
    int saved = errno;
    end_dump(END_SIGNAL, sig);
    struct sigaction by_default = {.sa_handler = SIG_DFL};
    if (__sigaction(sig, &by_default, NULL) != 0)
        syscall(SYS_exit_group, 128 + sig); // a sandbox that we have not seen; never fault for ever
    if (!repeats(sig, info)) {
        syscall(SYS_tgkill, os_pid(), syscall(SYS_gettid), sig);
        sigdelset(&((ucontext_t *)context)->uc_sigmask, sig);
    }
    errno = saved;
}

static void handle_snapshot(int sig, siginfo_t *info, void *context)
{
    (void)info, (void)context;
    end_dump(END_SNAPSHOT, sig);
}

static bool is_ours(const struct sigaction *action)
{
    return action->sa_flags & SA_SIGINFO &&
           (action->sa_sigaction == handle_fatal || action->sa_sigaction == handle_snapshot);
}

/* Fills *ret with what stands for SIG_DFL of `sig`; false if that is SIG_DFL itself. */
static bool stand_in(int sig, struct sigaction *ret)
{
    bool snapshot = sig == atomic_load_explicit(&state.snapshot, memory_order_relaxed);
    uint64_t caught = atomic_load_explicit(&state.caught, memory_order_relaxed);
    if (sig < 1 || sig > 64 || !(snapshot || caught & bit(sig)))
        return false;
    *ret = (struct sigaction){.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_RESTART};
    ret->sa_sigaction = snapshot ? handle_snapshot : handle_fatal;
    sigfillset(&ret->sa_mask); // the first of several signals decides, as it does by default
    return true;
}

static void catch_if_default(int sig)
{
    struct sigaction now, ours;
    if (__sigaction(sig, NULL, &now) == 0 && now.sa_handler == SIG_DFL && stand_in(sig, &ours))
        __sigaction(sig, &ours, NULL);
}

void signals_start(bool fatal, int snapshot)
{
    uint64_t caught = 0;
    for (size_t i = 0; fatal && i < ARRAY_LENGTH(faults); i++)
        caught |= bit(faults[i]);
    for (size_t i = 0; fatal && os_pid() != 1 && i < ARRAY_LENGTH(others); i++)
        caught |= bit(others[i]);
    struct sigaction now;
    if (snapshot != 0 && (__sigaction(snapshot, NULL, &now) != 0 || now.sa_handler != SIG_DFL))
        snapshot = 0;
    int saved = errno;
    atomic_store_explicit(&state.snapshot, snapshot, memory_order_relaxed);
    atomic_store_explicit(&state.caught, caught, memory_order_relaxed);
    for (int sig = 1; sig <= 64; sig++)
        if (sig == snapshot || caught & bit(sig))
            catch_if_default(sig);
    errno = saved;
}

void signals_stop(void)
{
    atomic_store_explicit(&state.caught, 0, memory_order_relaxed);
    atomic_store_explicit(&state.snapshot, 0, memory_order_relaxed);
    struct sigaction now, by_default = {.sa_handler = SIG_DFL};
    for (int sig = 1; sig <= 64; sig++)
        if (__sigaction(sig, NULL, &now) == 0 && is_ours(&now))
            __sigaction(sig, &by_default, NULL);
}

EXPORT int sigaction(int sig, const struct sigaction *action, struct sigaction *old)
{
    struct sigaction ours;
    if (action && action->sa_handler == SIG_DFL && stand_in(sig, &ours))
        action = &ours;
    int failed = __sigaction(sig, action, old);
    if (!failed && old && is_ours(old))
        *old = (struct sigaction){.sa_handler = SIG_DFL};
    return failed;
}

/* libc's signal knows what siginterrupt has said about the signal, so it is asked for all real handlers. */
EXPORT sighandler_t signal(int sig, sighandler_t handler)
{
    struct sigaction old = {.sa_handler = SIG_DFL}, ours;
    if (handler == SIG_DFL && stand_in(sig, &ours))
        return sigaction(sig, &ours, &old) == 0 ? old.sa_handler : SIG_ERR;
    old.sa_flags = SA_SIGINFO; // so that is_ours looks
    old.sa_handler = ssignal(sig, handler);
    return is_ours(&old) ? SIG_DFL : old.sa_handler;
}

EXPORT sighandler_t bsd_signal(int sig, sighandler_t handler)
{
    return signal(sig, handler);
}

/* System V's way: the handler is used once and does not block its signal. */
EXPORT sighandler_t __sysv_signal(int sig, sighandler_t handler)
{
    if (handler == SIG_ERR) {
        errno = EINVAL;
        return SIG_ERR;
    }
    struct sigaction old, action = {.sa_handler = handler, .sa_flags = SA_RESETHAND | SA_NODEFER | SA_INTERRUPT};
    return sigaction(sig, &action, &old) == 0 ? old.sa_handler : SIG_ERR;
}

EXPORT sighandler_t sysv_signal(int sig, sighandler_t handler)
{
    return __sysv_signal(sig, handler);
}

/* X/Open's: SIG_HOLD blocks the signal, anything else unblocks it; says SIG_HOLD if it was blocked. */
EXPORT sighandler_t sigset(int sig, sighandler_t handler)
{
    struct sigaction old, action = {.sa_handler = handler};
    sigset_t one, before;
    sigemptyset(&one);
    if (handler == SIG_ERR || sigaddset(&one, sig) != 0) {
        errno = EINVAL;
        return SIG_ERR;
    }
    bool hold = handler == SIG_HOLD;
    if (sigaction(sig, hold ? NULL : &action, &old) != 0)
        return SIG_ERR;
    if (pthread_sigmask(hold ? SIG_BLOCK : SIG_UNBLOCK, &one, &before) != 0)
        return SIG_ERR;
    return sigismember(&before, sig) ? SIG_HOLD : old.sa_handler;
}

EXPORT int raise(int sig)
{
    int saved = errno;
    catch_if_default(sig);
    errno = saved;
    return gsignal(sig);
}

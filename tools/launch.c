/*
 * fork and exec. A pipe that exec closes brings back why exec failed, so "not found" is never mistaken for the
 * program's own status.
 *
 * Signals are blocked from before the fork until the pid is known, and again before the pid is given up by the last
 * wait: the handler can never signal somebody else's process.
 */
#define _GNU_SOURCE
#include "tools/launch.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "interpose/base.h"
#include "tools/command.h"
#include "tools/say.h"

static const int watched[] = {SIGINT, SIGQUIT, SIGTERM, SIGHUP};

static struct {
    volatile pid_t pid;
    sigset_t mask;                                   // the mask that we were started with
    struct sigaction actions[ARRAY_LENGTH(watched)]; // and the dispositions
} state;

static uint64_t read_clock(clockid_t clock)
{
    struct timespec now;
    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

static void forward(int signal)
{
    int saved = errno;
    kill(state.pid, signal);
    errno = saved;
}

static void block_signals(void)
{
    sigset_t set;
    sigemptyset(&set);
    for (unsigned i = 0; i < ARRAY_LENGTH(watched); i++)
        sigaddset(&set, watched[i]);
    sigprocmask(SIG_BLOCK, &set, NULL);
}

/* What was ignored at our start (nohup) stays ignored. */
static void catch_signals(void)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(watched); i++) {
        bool terminal = watched[i] == SIGINT || watched[i] == SIGQUIT;
        struct sigaction action = {.sa_handler = terminal ? SIG_IGN : forward, .sa_flags = SA_RESTART};
        sigaction(watched[i], NULL, &state.actions[i]);
        if (state.actions[i].sa_handler != SIG_IGN)
            sigaction(watched[i], &action, NULL);
    }
}

static void release_signals(void)
{
    for (unsigned i = 0; i < ARRAY_LENGTH(watched); i++)
        sigaction(watched[i], &state.actions[i], NULL);
    sigprocmask(SIG_SETMASK, &state.mask, NULL);
}

static void become_program(char *const *words, int report)
{
    sigprocmask(SIG_SETMASK, &state.mask, NULL);
    execvp(words[0], words);
    int error = errno;
    ssize_t written = write(report, &error, sizeof error);
    (void)written;
    _exit(EXIT_NOT_FOUND);
}

static void wait_for(struct launch *launch)
{
    siginfo_t info;
    while (waitid(P_PID, (id_t)launch->pid, &info, WEXITED | WNOWAIT) && errno == EINTR) {
    }
    block_signals();
    while (waitpid(launch->pid, &launch->status, 0) < 0 && errno == EINTR) {
    }
}

bool launch_run(char *const *words, struct launch *ret)
{
    int report[2];
    if (pipe2(report, O_CLOEXEC))
        return say_no("cannot make a pipe: %s", strerror(errno));
    *ret = (struct launch){.start_real = read_clock(CLOCK_REALTIME)};
    uint64_t start = read_clock(CLOCK_MONOTONIC);
    sigprocmask(SIG_SETMASK, NULL, &state.mask);
    block_signals();
    ret->pid = fork();
    if (!ret->pid)
        become_program(words, report[1]);
    close(report[1]);
    if (ret->pid > 0) {
        state.pid = ret->pid;
        catch_signals();
        sigprocmask(SIG_SETMASK, &state.mask, NULL);
        if (read(report[0], &ret->exec_errno, sizeof ret->exec_errno) != sizeof ret->exec_errno)
            ret->exec_errno = 0;
        wait_for(ret);
        release_signals();
    } else {
        say("cannot start a process: %s", strerror(errno));
        sigprocmask(SIG_SETMASK, &state.mask, NULL);
    }
    close(report[0]);
    ret->nanoseconds = read_clock(CLOCK_MONOTONIC) - start;
    return ret->pid > 0;
}

int launch_exit_status(const struct launch *launch)
{
    if (launch->exec_errno)
        return launch->exec_errno == ENOENT || launch->exec_errno == ENOTDIR ? EXIT_NOT_FOUND : EXIT_NO_EXEC;
    if (WIFSIGNALED(launch->status))
        return EXIT_SIGNAL_BASE + WTERMSIG(launch->status);
    return WEXITSTATUS(launch->status);
}

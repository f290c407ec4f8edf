/*
 * Runs a program and waits for it, as a shell would: standard streams and process group are ours.
 *
 * While it runs, SIGINT and SIGQUIT do nothing to us (the terminal sends them to the program too), SIGTERM and SIGHUP
 * are passed on. Its signal mask and dispositions are those that we were started with.
 */
#ifndef POOLMARK_TOOLS_LAUNCH_H
#define POOLMARK_TOOLS_LAUNCH_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

struct launch {
    pid_t pid;
    int exec_errno;       // why the program could not be started; 0: it was
    int status;           // as waitpid gives it
    uint64_t start_real;  // CLOCK_REALTIME in ns, shortly before the start
    uint64_t nanoseconds; // from start to end
};

/* Runs words[0], found in PATH, with our environment. False if it has been said why we could not even try. */
bool launch_run(char *const *words, struct launch *ret);

/* The exit status that stands for the program's end: its own, 128+n, 126 or 127. */
int launch_exit_status(const struct launch *launch);

#endif

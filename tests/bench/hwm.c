/*
 * hwm [-o FILE] PROGRAM ARGUMENT...: runs a program and tells the largest memory it had resident.
 *
 * VmHWM of /proc/PID/status, read when the process is about to end (PTRACE_O_TRACEEXIT): then it is complete and its
 * memory still there. Never ru_maxrss, which a process inherits from its launcher across exec. Children are followed.
 * Writes {"root": KiB, "largest": KiB, "program": "name of the largest"} to stderr or FILE; -1 is not known. Exit status:
 * the program's own, 128+n for a signal, 127 if it could not be run.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

/* VmHWM in KiB and the name of a stopped process; -1 if it cannot be read. */
static long high_water(pid_t pid, char name[64])
{
    char path[64], line[256];
    long kib = -1;
    snprintf(path, sizeof path, "/proc/%d/status", (int)pid);
    FILE *status = fopen(path, "re");
    while (status && fgets(line, sizeof line, status)) {
        sscanf(line, "Name: %63s", name);
        sscanf(line, "VmHWM: %ld", &kib);
    }
    if (status)
        fclose(status);
    return kib;
}

static pid_t start(char **argv)
{
    pid_t pid = fork();
    if (pid == 0) {
        ptrace(PTRACE_TRACEME, 0, NULL, NULL);
        raise(SIGSTOP);
        execvp(argv[0], argv);
        fprintf(stderr, "hwm: cannot run %s: %s\n", argv[0], strerror(errno));
        _exit(127);
    }
    int status;
    if (pid < 0 || waitpid(pid, &status, 0) != pid || !WIFSTOPPED(status))
        exit(125);
    ptrace(PTRACE_SETOPTIONS, pid, NULL,
           PTRACE_O_TRACEEXIT | PTRACE_O_TRACEFORK | PTRACE_O_TRACEVFORK | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL);
    ptrace(PTRACE_CONT, pid, NULL, NULL);
    return pid;
}

int main(int argc, char **argv)
{
    FILE *out = stderr;
    char name[64] = "", largest_name[64] = "";
    long root_kib = -1, largest = -1;
    int status, root_status = 0;
    if (argc > 2 && !strcmp(argv[1], "-o")) {
        out = fopen(argv[2], "we");
        argv += 2;
        argc -= 2;
    }
    if (argc < 2 || !out)
        return fprintf(stderr, "usage: hwm [-o FILE] PROGRAM ARGUMENT...\n"), 125;
    pid_t root = start(argv + 1), pid;
    while ((pid = waitpid(-1, &status, __WALL)) > 0 || errno == EINTR) {
        if (!WIFSTOPPED(status)) {
            if (pid == root)
                root_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
            continue;
        }
        int number = WSTOPSIG(status), event = status >> 16;
        if (event == PTRACE_EVENT_EXIT) {
            long kib = high_water(pid, name);
            if (pid == root)
                root_kib = kib;
            if (kib > largest) {
                largest = kib;
                memcpy(largest_name, name, sizeof name);
            }
        }
        // stops of our own making are not passed on: events, and the first stop of a new child
        ptrace(PTRACE_CONT, pid, NULL, (void *)(long)(event || number == SIGSTOP || number == SIGTRAP ? 0 : number));
    }
    fprintf(out, "{\"root\": %ld, \"largest\": %ld, \"program\": \"%s\"}\n", root_kib, largest, largest_name);
    return root_status;
}

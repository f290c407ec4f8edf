/*
 * message_write: pipes, signals, limits and sandboxes that it must survive, and that the program must not notice.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>

#include "interpose/message.h"
#include "pipes.h"

static bool is_blocked_or_pending(int signal)
{
    sigset_t pending, mask;
    sigpending(&pending);
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&pending, signal) || sigismember(&mask, signal);
}

Test(write, broken_pipe_is_no_signal)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    close(ends[0]);
    errno = 77;
    cr_assert_not(message_write(ends[1], "abc", 3));
    cr_assert_eq(errno, 77);
    cr_assert_not(is_blocked_or_pending(SIGPIPE));
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    close(pair[0]);
    cr_assert_not(message_write(pair[1], "abc", 3));
    cr_assert_not(is_blocked_or_pending(SIGPIPE));
}

Test(write, pending_signal_of_the_program_stays)
{
    sigset_t set, pending;
    sigemptyset(&set);
    sigaddset(&set, SIGPIPE);
    sigprocmask(SIG_BLOCK, &set, NULL);
    raise(SIGPIPE);
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    close(ends[0]);
    cr_assert_not(message_write(ends[1], "abc", 3));
    sigpending(&pending);
    cr_assert(sigismember(&pending, SIGPIPE));
}

Test(write, file_size_limit_is_no_signal)
{
    int file = open("/tmp", O_TMPFILE | O_RDWR, 0600);
    if (file < 0)
        cr_skip_test("no O_TMPFILE here");
    struct rlimit limit = {10, 10};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    cr_assert_not(message_write(file, "0123456789abcdef", 16));
    cr_assert_not(is_blocked_or_pending(SIGXFSZ));
}

Test(write, full_pipe_is_given_up_in_about_a_second)
{
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    fill(ends[1]);
    double start = seconds();
    cr_assert_not(message_write(ends[1], "abc", 3));
    cr_assert_leq(seconds() - start, 3.0);
    cr_assert_geq(seconds() - start, 0.5);
}

Test(write, full_non_blocking_socket_is_given_up)
{
    int pair[2];
    cr_assert_eq(socketpair(AF_UNIX, SOCK_STREAM, 0, pair), 0);
    fill(pair[1]);
    fcntl(pair[1], F_SETFL, O_NONBLOCK);
    double start = seconds();
    cr_assert_not(message_write(pair[1], "abc", 3));
    cr_assert_leq(seconds() - start, 3.0);
}

static void nothing(int signal)
{
    (void)signal;
}

Test(write, interrupted_all_the_time_still_ends)
{
    struct sigaction action = {.sa_handler = nothing};
    sigaction(SIGALRM, &action, NULL);
    struct itimerval period = {{0, 2000}, {0, 2000}};
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    fill(ends[1]);
    double start = seconds();
    setitimer(ITIMER_REAL, &period, NULL);
    cr_assert_not(message_write(ends[1], "abc", 3));
    period = (struct itimerval){{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &period, NULL);
    cr_assert_leq(seconds() - start, 4.0);
}

static void *reader(void *argument)
{
    size_t *total = argument;
    char buffer[3000];
    ssize_t length;
    while ((length = read((int)*total, buffer, sizeof(buffer))) > 0)
        total[1] += (size_t)length;
    return NULL;
}

Test(write, everything_arrives_at_a_reader)
{
    static char bytes[1 << 20];
    int ends[2];
    cr_assert_eq(pipe(ends), 0);
    size_t total[2] = {(size_t)ends[0], 0};
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, reader, total), 0);
    cr_assert(message_write(ends[1], bytes, sizeof(bytes)));
    close(ends[1]);
    pthread_join(thread, NULL);
    cr_assert_eq(total[1], sizeof(bytes));
}

/* A sandbox in which only write, the signal mask and the end of the process are left; the rest is EPERM. */
static bool sandbox_enter(void)
{
    static const int allowed[] = {SYS_write, SYS_rt_sigprocmask, SYS_exit_group};
    enum { COUNT = ARRAY_LENGTH(allowed) };
    struct sock_filter filter[COUNT + 3];
    unsigned used = 0;
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr));
    for (unsigned i = 0; i < COUNT; i++)
        filter[used++] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, (unsigned)allowed[i], COUNT - i, 0);
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    filter[used++] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {(unsigned short)used, filter};
    return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

Test(write, sandbox_that_refuses_everything_else)
{
    int broken[2], good[2];
    cr_assert_eq(pipe(broken), 0);
    cr_assert_eq(pipe(good), 0);
    close(broken[0]);
    pid_t child = fork();
    if (child == 0) {
        if (!sandbox_enter())
            _exit(77);
        bool refused = !message_write(broken[1], "abc", 3);
        bool arrived = message_write(good[1], "abc", 3);
        message_line("never seen: fstat is refused");
        syscall(SYS_exit_group, refused && arrived ? 13 : 1); // not _exit: sanitizers do things before it
    }
    int status;
    cr_assert_eq(waitpid(child, &status, 0), child);
    cr_assert(WIFEXITED(status), "status 0x%x", status);
    if (WEXITSTATUS(status) == 77)
        cr_skip_test("no seccomp here");
    cr_assert_eq(WEXITSTATUS(status), 13);
    cr_assert_str_eq(text_of(good[0]), "abc");
}

Test(write, bad_descriptors)
{
    cr_assert_not(message_write(-1, "abc", 3));
    cr_assert_not(message_write(9999, "abc", 3));
    int file = open("/dev/full", O_WRONLY);
    cr_assert_not(message_write(file, "abc", 3));
    file = open("/dev/null", O_RDONLY);
    cr_assert_not(message_write(file, "abc", 3));
    cr_assert(message_write(file, "", 0));
}

static void *cancelled_writer(void *argument)
{
    int *ends = argument;
    pthread_cancel(pthread_self());
    message_write(ends[1], "abc", 3); // a cancellation point must not be one inside the allocator
    ends[2] = 1;
    pthread_testcancel();
    ends[2] = 2;
    return NULL;
}

Test(write, is_no_cancellation_point)
{
    int ends[3] = {0};
    cr_assert_eq(pipe(ends), 0);
    pthread_t thread;
    cr_assert_eq(pthread_create(&thread, NULL, cancelled_writer, ends), 0);
    pthread_join(thread, NULL);
    cr_assert_eq(ends[2], 1);
    cr_assert_str_eq(text_of(ends[0]), "abc");
}

/*
 * Dumps that cannot be: impossible paths, no room, no descriptors, no permission. One line is said, nothing is left
 * behind, and the process goes on.
 */
#include "dump_folder.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>

TestSuite(dump_refused, .init = folder_start, .fini = folder_stop, .timeout = 60);

static void assert_no_dump(const char *target, const char *reason)
{
    cr_assert_eq(truncate("said", 0), 0);
    cr_assert_not(dump_to(target));
    cr_assert(strstr(said(), "poolmark: no dump: "), "%s", said());
    cr_assert(strstr(said(), reason), "%s", said());
}

Test(dump_refused, impossible_paths_are_said)
{
    static char longest[5000];
    memset(longest, 'x', sizeof(longest) - 1);
    write_file("file", "keep");
    assert_no_dump(longest, "too long");
    assert_no_dump(longest + 4000, "File name too long");
    assert_no_dump("missing/dir/x", "No such file or directory: /");
    assert_no_dump("missing/dir/x", "/missing/dir/x\n");
    assert_no_dump("missing/", "no such folder");
    assert_no_dump("file/x", "Not a directory");
    assert_no_dump("/proc/self/nothing", "/proc/self/nothing");
    cr_assert_str_eq(read_file("file"), "keep");
    cr_assert_eq(count_files("."), 1);
}

Test(dump_refused, long_names_work)
{
    char name[NAME_MAX + 1] = "";
    memset(name, 'n', NAME_MAX);
    cr_assert(dump_to(name));
    cr_assert_eq(access(name, F_OK), 0);
    cr_assert_eq(count_files("."), 1);
}

Test(dump_refused, left_temporary_files_do_no_harm)
{
    char name[64];
    for (unsigned i = 0; i < 3; i++) {
        snprintf(name, sizeof(name), ".x.4242.tmp%u", i);
        write_file(name, "keep");
    }
    cr_assert(dump_to("x"));
    cr_assert_str_eq(read_file(".x.4242.tmp2"), "keep");
    cr_assert_eq(count_files("."), 4);
}

Test(dump_refused, planted_symlink_is_not_written_through)
{
    write_file("other", "keep");
    cr_assert_eq(symlink("other", ".x.4242.tmp0"), 0);
    cr_assert(dump_to("x"));
    cr_assert_str_eq(read_file("other"), "keep");
}

Test(dump_refused, full_disk_keeps_the_old_dump)
{
    write_file("x", "old");
    signal(SIGXFSZ, SIG_DFL);
    struct rlimit small = {100, 100};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &small), 0);
    cr_assert_not(dump_to("x"));
    cr_assert_str_eq(read_file("x"), "old");
    cr_assert_eq(count_files("."), 1);
    cr_assert(strstr(said(), "could not be written whole"), "%s", said());
}

Test(dump_refused, no_descriptor_is_left)
{
    struct rlimit none = {0, 0}, before;
    getrlimit(RLIMIT_NOFILE, &before);
    none.rlim_max = before.rlim_max;
    dump_start("x");
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &none), 0);
    bool done = dump_write(sample_page());
    setrlimit(RLIMIT_NOFILE, &before);
    cr_assert_not(done);
    cr_assert_eq(count_files("."), 0);
    cr_assert(strstr(said(), "Too many open files"), "%s", said());
}

/* Runs in a child, since the parent has to say how it went. */
static int status_of(void (*work)(void))
{
    pid_t pid = fork();
    if (!pid) {
        work();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static void dump_without_descriptors(void)
{
    close(0);
    close(1);
    close(2);
    bool done = dump_write(sample_page());
    _exit(!done || fcntl(0, F_GETFD) >= 0 || fcntl(1, F_GETFD) >= 0 || fcntl(2, F_GETFD) >= 0);
}

/* Descriptors above 2 are refused, so a dump can only work with a low one: it must not. */
static void dump_with_low_descriptors_only(void)
{
    close(0);
    close(1);
    close(2);
    struct rlimit three = {3, 3};
    setrlimit(RLIMIT_NOFILE, &three);
    _exit(dump_write(sample_page()) || fcntl(0, F_GETFD) >= 0);
}

Test(dump_refused, low_descriptors_are_not_used)
{
    dump_start("x");
    cr_assert_eq(status_of(dump_without_descriptors), 0);
    cr_assert_eq(access("x", F_OK), 0);
    dump_start("y");
    cr_assert_eq(status_of(dump_with_low_descriptors_only), 0);
    cr_assert_neq(access("y", F_OK), 0);
    cr_assert_eq(count_files("."), 1);
}

static void dump_in_sandbox(void)
{
    static const int allowed[] = {SYS_read,       SYS_write, SYS_close,     SYS_rt_sigprocmask,
                                  SYS_exit_group, SYS_fstat, SYS_newfstatat};
    enum { ALLOWED = ARRAY_LENGTH(allowed) };
    struct sock_filter filter[ALLOWED + 3] = {BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0)};
    for (unsigned i = 0; i < ALLOWED; i++)
        filter[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i], ALLOWED - i, 0);
    filter[ALLOWED + 1] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
    filter[ALLOWED + 2] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
    struct sock_fprog program = {ALLOWED + 3, filter};
    if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program))
        _exit(77);
    struct page *page = sample_page();
    bool done = dump_write(page);
    dump_read_resident(page);
    syscall(SYS_exit_group, done || page->resident.now != 9437184); // the address sanitizer's _exit calls for more
}

Test(dump_refused, sandbox_gets_no_dump)
{
    dump_start("x");
    int status = status_of(dump_in_sandbox);
    cr_assert(WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == 77), "status %x", status);
    cr_assert_eq(count_files("."), 0);
}

static void dump_to_broken_pipe(void)
{
    int ends[2];
    signal(SIGPIPE, SIG_DFL);
    if (pipe(ends) || dup2(ends[1], STDERR_FILENO) < 0)
        _exit(77);
    close(ends[0]);
    close(ends[1]);
    message_start();
    dump_write(sample_page());
    _exit(11);
}

Test(dump_refused, broken_pipe_does_not_kill)
{
    dump_start("stderr");
    int status = status_of(dump_to_broken_pipe);
    cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 11, "status %x", status);
}

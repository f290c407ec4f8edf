/*
 * Seccomp filters that the program puts on itself (the idea is in sandbox.h).
 *
 * A filter is a small program without loops for the classic BPF machine. It is run here for each system call in
 * question, with arguments that are zero where we cannot know them. Only the instructions that filter compilers make
 * are known; a filter with any other is taken for one that kills.
 *
 * Tried and dropped: asking the kernel at the end (PR_GET_SECCOMP and /proc/self/status are themselves calls that may
 * kill); looking only whether the filter can kill at all (each filter of libseccomp kills on a wrong architecture).
 */
#define _GNU_SOURCE
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <fcntl.h>
#include <stdarg.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "end.h"
#include "sandbox.h"
#include "signals.h"

/* What a dump and its messages call: an error is as good as success. */
static const struct seccomp_data for_dumps[] = {
    {.nr = SYS_openat, .args = {(uint64_t)AT_FDCWD, 0, O_RDONLY | O_CLOEXEC}},
    {.nr = SYS_openat, .args = {(uint64_t)AT_FDCWD, 0, O_PATH | O_DIRECTORY | O_CLOEXEC}},
    {.nr = SYS_openat, .args = {3, 0, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600}},
    {.nr = SYS_read, .args = {3}},
    {.nr = SYS_write, .args = {2}},
    {.nr = SYS_write, .args = {3}},
    {.nr = SYS_close, .args = {3}},
    {.nr = SYS_fstat, .args = {2}},
    {.nr = SYS_newfstatat, .args = {3}},
    {.nr = SYS_newfstatat, .args = {(uint64_t)AT_FDCWD}},
    {.nr = SYS_faccessat2, .args = {(uint64_t)AT_FDCWD}},
    {.nr = SYS_renameat, .args = {3, 0, 3}},
    {.nr = SYS_unlinkat, .args = {3}},
    {.nr = SYS_fcntl, .args = {3, F_DUPFD_CLOEXEC, 3}},
    {.nr = SYS_poll},
    {.nr = SYS_futex},
    {.nr = SYS_getpid},
    {.nr = SYS_gettid},
    {.nr = SYS_rt_sigprocmask},
    {.nr = SYS_rt_sigtimedwait},
};

/* What the handler of a fatal signal must not be refused, or the process would not end as it should. */
static const struct seccomp_data for_handlers[] = {
    {.nr = SYS_rt_sigaction}, {.nr = SYS_rt_sigreturn}, {.nr = SYS_tgkill}, {.nr = SYS_getpid}, {.nr = SYS_gettid},
};

/* The jump's offset, or -1 if the instruction is not known. */
static long jump(const struct sock_filter *code, uint32_t accumulator)
{
    switch (BPF_OP(code->code)) {
    case BPF_JA:
        return code->k;
    case BPF_JEQ:
        return accumulator == code->k ? code->jt : code->jf;
    case BPF_JGT:
        return accumulator > code->k ? code->jt : code->jf;
    case BPF_JGE:
        return accumulator >= code->k ? code->jt : code->jf;
    case BPF_JSET:
        return accumulator & code->k ? code->jt : code->jf;
    }
    return -1;
}

/* What the filter answers to one call; SECCOMP_RET_KILL_PROCESS if that cannot be told. */
static uint32_t answer(const struct sock_fprog *filter, const struct seccomp_data *call)
{
    uint32_t accumulator = 0;
    for (size_t at = 0; at < filter->len; at++) {
        const struct sock_filter *code = &filter->filter[at];
        long offset;
        switch (code->code) {
        case BPF_LD | BPF_W | BPF_ABS:
            if (code->k > sizeof(*call) - sizeof(accumulator))
                return SECCOMP_RET_KILL_PROCESS;
            memcpy(&accumulator, (const char *)call + code->k, sizeof(accumulator));
            break;
        case BPF_ALU | BPF_AND | BPF_K:
            accumulator &= code->k;
            break;
        case BPF_RET | BPF_K:
            return code->k & SECCOMP_RET_ACTION_FULL;
        default:
            offset = BPF_CLASS(code->code) == BPF_JMP && BPF_SRC(code->code) == BPF_K ? jump(code, accumulator) : -1;
            if (offset < 0)
                return SECCOMP_RET_KILL_PROCESS;
            at += (size_t)offset;
        }
    }
    return SECCOMP_RET_KILL_PROCESS;
}

/* Whether all calls would be let through, or refused if that is `harmless`. */
static bool answers(const struct sock_fprog *filter, const struct seccomp_data *calls, size_t count, bool harmless)
{
    for (size_t i = 0; i < count; i++) {
        struct seccomp_data call = calls[i];
        call.arch = AUDIT_ARCH_X86_64;
        uint32_t action = answer(filter, &call);
        if (action != SECCOMP_RET_ALLOW && action != SECCOMP_RET_LOG && !(harmless && action == SECCOMP_RET_ERRNO))
            return false;
    }
    return true;
}

bool sandbox_allows_dumps(const struct sock_fprog *filter)
{
    return answers(filter, for_dumps, ARRAY_LENGTH(for_dumps), true);
}

bool sandbox_allows_handlers(const struct sock_fprog *filter)
{
    return answers(filter, for_handlers, ARRAY_LENGTH(for_handlers), false);
}

/* The program is about to ask for strict mode or a filter. */
static void entering(bool strict, const struct sock_fprog *filter)
{
    int saved = errno;
    if (!strict && !filter) // a probe, the kernel says EFAULT
        return;
    bool dumps = !strict && sandbox_allows_dumps(filter);
    if (!dumps) {
        end_dump(END_SNAPSHOT, 0);
        end_stop();
    }
    if (!dumps || !sandbox_allows_handlers(filter))
        signals_stop();
    errno = saved;
}

EXPORT int prctl(int option, ...)
{
    unsigned long a[4];
    va_list list;
    va_start(list, option);
    for (size_t i = 0; i < ARRAY_LENGTH(a); i++)
        a[i] = va_arg(list, unsigned long);
    va_end(list);
    if (option == PR_SET_SECCOMP)
        entering(a[0] == SECCOMP_MODE_STRICT, (const struct sock_fprog *)a[1]);
    return (int)syscall(SYS_prctl, option, a[0], a[1], a[2], a[3]);
}

/* Called by syscall for SYS_seccomp with its arguments. */
__attribute__((used)) HIDDEN void sandbox_seccomp(long number, unsigned operation, unsigned flags, const void *filter)
{
    (void)number, (void)flags;
    if (operation == SECCOMP_SET_MODE_STRICT || operation == SECCOMP_SET_MODE_FILTER)
        entering(operation == SECCOMP_SET_MODE_STRICT, filter);
}

/* Called by syscall when the kernel has said -error. */
__attribute__((used)) HIDDEN long sandbox_failed(long error)
{
    errno = (int)-error;
    return -1;
}

/*
 * syscall(number, ...): the same instructions as libc's, and one comparison. Not in C: a child of clone may come back
 * from it on another stack.
 */
_Static_assert(SYS_seccomp == 317, "the comparison below");
__asm__(".text\n"
        ".p2align 4\n"
        ".globl syscall\n"
        ".type syscall, @function\n"
        "syscall:\n"
        ".cfi_startproc\n"
        "    cmpq $317, %rdi\n"
        "    je 2f\n"
        "1:  movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsi\n"
        "    movq %rcx, %rdx\n"
        "    movq %r8, %r10\n"
        "    movq %r9, %r8\n"
        "    movq 8(%rsp), %r9\n"
        "    syscall\n"
        "    cmpq $-4095, %rax\n"
        "    jae 3f\n"
        "    ret\n"
        "2:  pushq %rdi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    pushq %rsi\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    pushq %rdx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    pushq %rcx\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    subq $8, %rsp\n"
        ".cfi_adjust_cfa_offset 8\n"
        "    call sandbox_seccomp\n"
        "    addq $8, %rsp\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    popq %rcx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    popq %rdx\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    popq %rsi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    popq %rdi\n"
        ".cfi_adjust_cfa_offset -8\n"
        "    jmp 1b\n" // seccomp takes three arguments: r8 and r9 need not be kept
        "3:  movq %rax, %rdi\n"
        "    jmp sandbox_failed\n"
        ".cfi_endproc\n"
        ".size syscall, .-syscall\n");

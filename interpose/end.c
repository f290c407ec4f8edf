/*
 * One end at a time: the guard around process_ends (the table is in end.h).
 *
 * The state is one word: how far the end is, and which thread of which process it is. With the process in it, a forked
 * child finds a word that is not its own and takes it for none. Waiting is by short sleeps: it is rare, it is bounded,
 * and nobody has to be woken by a thread that no longer exists.
 *
 * Tried and dropped: letting late comers go on to end at once. A thread that calls _exit while another thread's crash
 * is being written then decides the wait status, which without us the crash had decided long before.
 */
#define _GNU_SOURCE
#include <linux/futex.h>
#include <pthread.h>
#include <signal.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "end.h"
#include "os.h"
#include "process.h"

enum {
    WAIT_ROUNDS = 2000, // of a millisecond each
    STACK_BYTES = KiB(128),
    PHASE_SHIFT = 60, // above two ids of 30 bits
    ID_SHIFT = 30,
};

enum phase {
    PHASE_NONE,
    PHASE_WRITING, // the dump is on its way
    PHASE_LEAVING, // dumped; the process is about to be gone by exec or a signal
    PHASE_OVER,    // dumped; what is left of exit runs
};

struct job {
    enum page_end end;
    int detail;
};

static struct {
    _Atomic uint64_t word; // phase, process, thread; 0: none. Acquired by whoever takes it, released when it is set
    _Atomic bool open;     // any thread: between end_start and end_stop
    char stack[STACK_BYTES] __attribute__((aligned(CACHE_LINE))); // of the thread in PHASE_WRITING
} state;

/* call_on_stack(function, argument, top): calls function(argument) with the stack pointer at `top`. */
HIDDEN void call_on_stack(void (*function)(void *), void *argument, void *top);

__asm__(".text\n"
        ".p2align 4\n"
        ".globl call_on_stack\n"
        ".hidden call_on_stack\n"
        ".type call_on_stack, @function\n"
        "call_on_stack:\n"
        ".cfi_startproc\n"
        "    pushq %rbp\n"
        ".cfi_def_cfa_offset 16\n"
        ".cfi_offset %rbp, -16\n"
        "    movq %rsp, %rbp\n"
        ".cfi_def_cfa_register %rbp\n" // so unwinders find the way back to the caller's stack
        "    movq %rdi, %rax\n"
        "    movq %rsi, %rdi\n"
        "    movq %rdx, %rsp\n"
        "    call *%rax\n"
        "    leave\n"
        ".cfi_def_cfa %rsp, 8\n"
        "    ret\n"
        ".cfi_endproc\n"
        ".size call_on_stack, .-call_on_stack\n");

static uint64_t word_of(enum phase phase)
{
    uint64_t thread = (uint64_t)syscall(SYS_gettid);
    return (uint64_t)phase << PHASE_SHIFT | (uint64_t)os_pid() << ID_SHIFT | thread;
}

static enum phase phase_of(uint64_t word)
{
    return (enum phase)(word >> PHASE_SHIFT);
}

static bool is_same_process(uint64_t a, uint64_t b)
{
    uint64_t ids = ((uint64_t)1 << PHASE_SHIFT) - 1;
    return (a & ids) >> ID_SHIFT == (b & ids) >> ID_SHIFT;
}

static bool is_same_thread(uint64_t a, uint64_t b)
{
    return (a ^ b) << (64 - PHASE_SHIFT) == 0;
}

static void sleep_a_little(void)
{
    uint32_t never = 0;
    struct timespec time = {.tv_nsec = 1000000};
    syscall(SYS_futex, &never, FUTEX_WAIT_PRIVATE, 0, &time, NULL, 0);
}

enum verdict { TAKE, SKIP, WAIT };

/* The table of end.h: what `end` does on finding `found`. */
static enum verdict judge(uint64_t found, uint64_t mine, enum page_end end)
{
    if (phase_of(found) == PHASE_NONE || !is_same_process(found, mine))
        return TAKE;
    if (end == END_SNAPSHOT)
        return SKIP;
    if (phase_of(found) == PHASE_OVER)
        return end == END_EXEC || end == END_SIGNAL ? TAKE : SKIP;
    if (!is_same_thread(found, mine))
        return WAIT;
    // our own: a fault inside the dump, or a signal that was to kill us and did not
    return phase_of(found) == PHASE_LEAVING ? TAKE : SKIP;
}

static bool take(enum page_end end)
{
    uint64_t mine = word_of(PHASE_WRITING);
    uint64_t found = atomic_load_explicit(&state.word, memory_order_relaxed);
    for (unsigned round = 0; round < WAIT_ROUNDS;) {
        switch (judge(found, mine, end)) {
        case TAKE:
            if (atomic_compare_exchange_weak_explicit(&state.word, &found, mine, memory_order_acquire,
                                                      memory_order_relaxed))
                return true;
            break;
        case SKIP:
            return false;
        case WAIT:
            sleep_a_little();
            found = atomic_load_explicit(&state.word, memory_order_relaxed);
            round++;
            break;
        }
    }
    return false;
}

static enum phase phase_after(enum page_end end)
{
    if (end == END_SNAPSHOT)
        return PHASE_NONE;
    return end == END_EXEC || end == END_SIGNAL ? PHASE_LEAVING : PHASE_OVER;
}

static void set_phase(enum phase phase)
{
    uint64_t word = phase == PHASE_NONE ? 0 : word_of(phase);
    atomic_store_explicit(&state.word, word, memory_order_release);
}

static void work(void *argument)
{
    const struct job *job = argument;
    process_ends(job->end, job->detail);
}

void end_start(void)
{
    atomic_store_explicit(&state.open, true, memory_order_relaxed);
}

void end_stop(void)
{
    atomic_store_explicit(&state.open, false, memory_order_relaxed);
}

bool end_is_possible(void)
{
    return atomic_load_explicit(&state.open, memory_order_relaxed) && process_is_ours();
}

bool end_dump(enum page_end end, int detail)
{
    if (!end_is_possible())
        return false;
    int saved = errno, cancel;
    struct job job = {.end = end, .detail = detail};
    sigset_t all, before;
    sigfillset(&all);
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    bool taken = take(end);
    if (taken) {
        call_on_stack(work, &job, state.stack + STACK_BYTES);
        set_phase(phase_after(end));
    }
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return taken;
}

void end_withdraw(void)
{
    process_resume();
    page->end_detail = 0;
    __atomic_store_n(&page->end, END_RUNNING, __ATOMIC_RELAXED);
    set_phase(PHASE_NONE);
}

/*
 * How much stack a function takes.
 */
#ifndef POOLMARK_STACK_USE_H
#define POOLMARK_STACK_USE_H

#include <stddef.h>
#include <string.h>
#include <ucontext.h>

extern void __asan_init(void) __attribute__((weak)); // there in a build with the address sanitizer only

/* A limit, wider in a build that makes frames much larger. */
static inline size_t stack_limit(size_t bytes)
{
    return __asan_init ? 4 * bytes : bytes;
}

/* Bytes of stack that `work` takes, run twice: the first time binds libc's symbols, which takes some of its own. */
static inline size_t stack_use(void (*work)(void))
{
    static unsigned char stack[1 << 17];
    ucontext_t here, there;
    work();
    memset(stack, 0xa5, sizeof(stack));
    getcontext(&there);
    there.uc_stack.ss_sp = stack;
    there.uc_stack.ss_size = sizeof(stack);
    there.uc_link = &here;
    makecontext(&there, work, 0);
    swapcontext(&here, &there);
    size_t untouched = 0;
    while (untouched < sizeof(stack) && stack[untouched] == 0xa5)
        untouched++;
    return sizeof(stack) - untouched;
}

#endif

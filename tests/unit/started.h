/*
 * The core, started by hand as start.c starts it, for tests that link libcore.a and keep libc's malloc for themselves;
 * and what such tests look at afterwards. Needs no Criterion: stress tests use it too.
 */
#ifndef POOLMARK_TEST_STARTED_H
#define POOLMARK_TEST_STARTED_H

#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/bin.h"
#include "interpose/dispatch.h"
#include "interpose/hot.h"
#include "interpose/message.h"
#include "interpose/native.h"
#include "interpose/options.h"
#include "interpose/process.h"
#include "interpose/report.h"
#include "interpose/route.h"

/*
 * Under a sanitizer a low limit of address space is no test: it needs terabytes itself. And the thread sanitizer does not
 * see how libc and mimalloc, which it has not compiled, hand a block from one thread to another.
 */
#if defined(__SANITIZE_THREAD__)
enum { SANITIZED = 1, TSAN = 1 };
#elif defined(__SANITIZE_ADDRESS__)
enum { SANITIZED = 1, TSAN = 0 };
#else
enum { SANITIZED = 0, TSAN = 0 };
#endif

static inline void start_complaint(const char *line)
{
    fprintf(stderr, "start_core: %s\n", line);
    abort();
}

/* As in start.c. */
static inline bool start_needs_native(const struct route *route)
{
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++)
        if (route_policy(route, class_size(class))->on_native)
            return true;
    return false;
}

/* Starts with these settings, as they would stand in the environment ("POOL_POLICY=thread"); the last one is NULL. */
static inline void start_core(const char *setting, ...)
{
    char *environment[16] = {NULL};
    char *arguments[] = {(char *)"started", NULL};
    va_list more;
    va_start(more, setting);
    for (unsigned i = 0; setting && i < ARRAY_LENGTH(environment) - 1; i++) {
        environment[i] = strdup(setting);
        setting = va_arg(more, const char *);
    }
    va_end(more);
    thread_leave(thread_enter());
    message_start();
    options_start(environment, start_complaint);
    struct route route;
    char why[MESSAGE_LINE];
    if (!route_parse(option_values[OPTION_POOL_POLICY].text, &route, why, sizeof(why)))
        start_complaint(why);
    route_print(&route, page->route, sizeof(page->route));
    native_start((enum native_kind)option_values[OPTION_POOL_NATIVE].number, start_needs_native(&route));
    dispatch_start(&route);
    thread_start(process_forked);
    process_identify(1, arguments);
}

/* What malloc and free do. */
static inline void *take(size_t size)
{
    return hot_malloc(size);
}

static inline void give(void *block)
{
    hot_free(block);
}

/* The caller's block, made if need be. No slow path runs meanwhile, so the guard may be let go. */
static inline struct thread *self_now(void)
{
    struct thread *self = thread_enter();
    thread_leave(self);
    return self;
}

/* What is wrong with the numbers of a process whose threads are idle or have ended; NULL if they are right. */
static inline const char *settled_fault(void)
{
    static char text[200];
    process_settle();
    page->end = END_EXIT;
    const char *fault = report_inconsistency(page, text, sizeof(text));
    page->end = END_RUNNING;
    process_resume();
    return fault;
}

/* The counters of one class, bins and all. */
static inline struct class_counts counts_now(unsigned class)
{
    struct class_counts counts;
    process_settle();
    counters_sum(page, class, &counts);
    process_resume();
    return counts;
}

/* Blocks of the class that the program holds. */
static inline uint64_t live_now(unsigned class)
{
    struct class_counts counts = counts_now(class);
    return counts.hits + counts.misses - counts.frees;
}

/* Runs `act` in a thread of its own, to its end. */
static inline void *in_thread(void *(*act)(void *), void *argument)
{
    pthread_t thread;
    void *result = NULL;
    if (pthread_create(&thread, NULL, act, argument) || pthread_join(thread, &result))
        abort();
    return result;
}

/* Runs `act` in a forked child; the child's wait status, 0 if it returned true. */
static inline int in_child(bool (*act)(void))
{
    int status = -1;
    pid_t child = fork();
    if (child == 0)
        _exit(act() ? 0 : 1);
    waitpid(child, &status, 0);
    return status;
}

/* Whether the byte may be read, as the kernel sees it. */
static inline bool is_readable(const void *address)
{
    int ends[2];
    if (pipe(ends))
        abort();
    bool readable = write(ends[1], address, 1) == 1;
    close(ends[0]);
    close(ends[1]);
    return readable;
}

static inline bool is_filled(const void *block, unsigned char byte, size_t bytes)
{
    const unsigned char *at = block;
    for (size_t i = 0; i < bytes; i++)
        if (at[i] != byte)
            return false;
    return true;
}

/* A sequence that follows from its seed alone. */
static inline uint64_t draw(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

#endif

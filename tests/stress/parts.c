/*
 * parts: each layer of the core below the bins, under threads: locks, units, spans, mappings, levels, shards.
 */
#include "interpose/base.h"
#include "interpose/mapping.h"
#include "stress.h"

#include <limits.h>

enum { ROUNDS = 3000, LIVE = 64 };

static struct lock lock;
static uint64_t guarded; // lock: lock

static void *use_lock(void *number)
{
    uint64_t state = stress_seed + (uintptr_t)number;
    for (unsigned i = 0; i < ROUNDS * 4 * stress_scale; i++) {
        if (draw(&state) % 4 || !lock_try(&lock, RANK_POOL))
            lock_acquire(&lock, RANK_POOL);
        guarded++;
        lock_release(&lock, RANK_POOL);
    }
    return NULL;
}

static const char *locks(const char *name)
{
    (void)name;
    const char *fault = stress_threads(use_lock, 1);
    return guarded == (uint64_t)ROUNDS * 4 * stress_scale * STRESS_THREADS ? fault : "the lock was held twice";
}

/* ---- units ---- */

static bool is_marked(const struct span *span, unsigned class)
{
    const char *last = span->start + (size_t)span->units * UNIT - 1;
    return unit_span(span->start) == span && unit_span(last) == span && unit_class(last) == class;
}

static void *use_units(void *number)
{
    uint64_t state = stress_seed + (uintptr_t)number;
    struct span *live[16] = {NULL};
    unsigned class = (unsigned)(uintptr_t)number % 100;
    for (unsigned i = 0; i < ROUNDS * stress_scale; i++) {
        struct span **span = &live[draw(&state) % ARRAY_LENGTH(live)];
        if (draw(&state) % 100 == 0)
            chunk_purge(draw(&state) % 1000);
        if (!*span) {
            *span = span_take((unsigned)(draw(&state) % 20 + 1), class);
            if (!*span || !is_marked(*span, class))
                return stress_fault("a span is not marked");
            uint64_t *word = (uint64_t *)(*span)->start;
            if ((*span)->clean && (word[0] || word[UNIT / 8 - 1]))
                return stress_fault("a clean span is not zero");
            word[0] = word[UNIT / 8 - 1] = (uintptr_t)span;
        } else {
            uint64_t *word = (uint64_t *)(*span)->start;
            if (word[0] != (uintptr_t)span || word[UNIT / 8 - 1] != (uintptr_t)span || !is_marked(*span, class))
                return stress_fault("a span has two owners");
            span_give(*span, draw(&state) % 1000);
            *span = NULL;
        }
    }
    for (unsigned i = 0; i < ARRAY_LENGTH(live); i++)
        if (live[i])
            span_give(live[i], 1);
    return NULL;
}

static const char *units(const char *name)
{
    (void)name;
    return stress_threads(use_units, 1);
}

/* ---- spans ---- */

static _Atomic uintptr_t exchange[LIVE]; // blocks that change hands

static void *use_heap(void *number)
{
    uint64_t state = stress_seed + (uintptr_t)number;
    const unsigned class = class_of(200);
    struct run run = {0};
    for (unsigned i = 0; i < ROUNDS * 4 * stress_scale; i++) {
        bool clean;
        void **block = run_next(&run, class_size(class), &clean);
        if (!block && heap_fetch(class, &run))
            block = run_next(&run, class_size(class), &clean);
        if (!block || unit_class(block) != class)
            return stress_fault("no block of the class");
        block[1] = block;
        block = (void **)atomic_exchange(&exchange[draw(&state) % LIVE], (uintptr_t)block);
        if (!block)
            continue;
        if (block[1] != block)
            return stress_fault("a block was changed");
        *block = NULL;
        void *list = block;
        heap_return(class, &list, 1, i % 3);
        if (i % 500 == 0) {
            heap_unfetch(class, &run, 0);
            chunk_purge(UINT64_MAX);
        }
    }
    heap_unfetch(class, &run, 0);
    return NULL;
}

static const char *spans(const char *name)
{
    (void)name;
    const char *fault = stress_threads(use_heap, 1);
    unsigned left = 0;
    for (unsigned i = 0; i < LIVE; i++)
        left += exchange[i] != 0;
    if (!span_check(class_of(200)))
        return "a span is broken";
    return heap_blocks_out(class_of(200)) == left ? fault : "blocks are lost";
}

/* ---- mappings ---- */

static void *use_mappings(void *number)
{
    uint64_t state = stress_seed + (uintptr_t)number;
    uint64_t *live[LIVE] = {NULL};
    for (unsigned i = 0; i < ROUNDS * stress_scale; i++) {
        unsigned at = (unsigned)(draw(&state) % LIVE);
        size_t size = draw(&state) % KiB(40) + 16;
        bool clean;
        if (mapping_size((void *)align_down((uintptr_t)live, OS_PAGE)))
            return stress_fault("a page of the stack is a mapping");
        if (!live[at]) {
            live[at] = mapping_alloc(size, OS_PAGE, &clean);
            if (!live[at] || (clean && live[at][0]) || mapping_size(live[at]) != size)
                return stress_fault("a new mapping is not right");
        } else if (live[at][0] != (uintptr_t)&live[at]) {
            return stress_fault("a mapping was changed");
        } else if (draw(&state) % 3 == 0) {
            live[at] = mapping_resize(live[at], size);
            if (!live[at] || mapping_size(live[at]) != size || live[at][0] != (uintptr_t)&live[at])
                return stress_fault("a moved mapping is not right");
        } else {
            mapping_free(live[at]);
            live[at] = NULL;
            continue;
        }
        live[at][0] = (uintptr_t)&live[at];
        if (i % 300 == 0)
            mapping_purge(UINT64_MAX);
    }
    return NULL;
}

static const char *mappings(const char *name)
{
    if (strcmp(name, "mappings, kept") == 0)
        mapping_keep();
    return stress_threads(use_mappings, 1);
}

/* ---- threads come and go ---- */

static void *live_shortly(void *number)
{
    void *blocks[50];
    for (uintptr_t i = 0; i < ARRAY_LENGTH(blocks); i++)
        blocks[i] = take(i * 20 + (uintptr_t)number % 50);
    for (unsigned i = 0; i < ARRAY_LENGTH(blocks); i++)
        give(blocks[i]);
    return NULL;
}

/*
 * A destructor in the last round, after ours, in which the thread has no block of its own any more: what it takes and
 * frees goes through the guest's, which all such threads share. The thread sanitizer cannot follow into that round.
 */
enum { AFTER_OURS = TSAN ? 3 : PTHREAD_DESTRUCTOR_ITERATIONS };

static pthread_key_t late;
static __thread unsigned late_round;
static _Atomic unsigned guests; // threads that had no block then

static void free_late(void *block)
{
    if (++late_round < AFTER_OURS) {
        pthread_setspecific(late, block);
        return;
    }
    if (thread_self == &thread_none)
        atomic_fetch_add(&guests, 1);
    for (unsigned i = 0; i < 20; i++) {
        uint64_t *other = take(i * 40 + 8);
        *other = (uintptr_t)other;
        void *moved = slow_realloc(other, 3000);
        if (!moved || *(uint64_t *)moved != (uintptr_t)other)
            abort();
        give(moved);
    }
    give(block);
    struct thread *guest = thread_enter(); // only a guest brings the guest's runs back
    trim_all(guest);
    thread_leave(guest);
}

static void *die_with_block(void *number)
{
    pthread_setspecific(late, take((uintptr_t)number % 5000));
    return live_shortly(number);
}

static const char *guest_threads(const char *name)
{
    (void)name;
    start_core("POOL_POLICY=thread:1K,array:32K,onecache", "POOL_NATIVE=mmap", "POOL_TRIM=1ms", NULL);
    if (pthread_key_create(&late, free_late))
        return "pthread_key_create failed";
    const char *fault = NULL;
    for (unsigned i = 0; i < 50 * stress_scale && !fault; i++)
        fault = stress_threads(die_with_block, i * 37);
    if (atomic_load(&guests) != 50 * stress_scale * STRESS_THREADS)
        return "a thread had a block after its last destructor";
    return fault ? fault : stress_leftover();
}

static const char *threads(const char *name)
{
    (void)name;
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", "POOL_TRIM=off", NULL);
    const char *fault = NULL;
    for (unsigned i = 0; i < 100 * stress_scale && !fault; i++)
        fault = stress_threads(live_shortly, i);
    if (page->threads_now != 1 || page->threads_ended != 100 * stress_scale * STRESS_THREADS)
        return "threads are miscounted";
    if (page->shards_used > STRESS_THREADS + 2)
        return "shards are not used again";
    return fault ? fault : stress_leftover();
}

int main(int argc, char **argv)
{
    static const struct stress_case cases[] = {
        {"locks", locks},
        {"units", units},
        {"spans", spans},
        {"mappings", mappings},
        {"mappings, kept", mappings},
        {"threads", threads},
        {"guests", guest_threads},
    };
    return stress_main(argc, argv, cases, ARRAY_LENGTH(cases));
}

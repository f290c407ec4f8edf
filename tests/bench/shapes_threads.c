/*
 * The shapes with threads: who frees what another has allocated, and how many there are for two processors.
 */
#include "shapes.h"

#include <pthread.h>
#include <stdatomic.h>
#include <time.h>

enum { THREADS_MOST = 64 };

struct part {
    size_t operations, number;
    uint64_t sum;
};

/* Runs `work` in `count` threads, each with its part of the operations; the sum of what they return. */
static uint64_t in_threads(unsigned count, size_t operations, void *(*work)(void *))
{
    static struct part parts[THREADS_MOST];
    pthread_t threads[THREADS_MOST];
    uint64_t sum = 0;
    for (unsigned i = 0; i < count; i++) {
        parts[i] = (struct part){operations / count, i, 0};
        if (pthread_create(&threads[i], NULL, work, &parts[i]))
            abort();
    }
    for (unsigned i = 0; i < count; i++) {
        pthread_join(threads[i], NULL);
        sum += parts[i].sum;
    }
    return sum;
}

static void *replacing(void *argument)
{
    struct part *part = argument;
    part->sum = replace(part->operations, 1000, 8, 1024, 100 + part->number);
    return NULL;
}

uint64_t shape_threads_8(size_t operations)
{
    return in_threads(8, operations, replacing);
}

uint64_t shape_threads_64(size_t operations)
{
    return in_threads(64, operations, replacing);
}

/* A queue of one writer and one reader. Who has to wait sleeps: CPU time is then that of the work. */
enum { SLOTS = 8192 };
struct queue {
    _Alignas(64) _Atomic size_t head;
    _Alignas(64) _Atomic size_t tail;
    _Alignas(64) void *slot[SLOTS];
};

static struct queue queues[4];

static void wait_a_little(void)
{
    nanosleep(&(struct timespec){.tv_nsec = 50000}, NULL);
}

static void put(struct queue *queue, void *block)
{
    size_t head = atomic_load_explicit(&queue->head, memory_order_relaxed);
    while (head - atomic_load_explicit(&queue->tail, memory_order_acquire) == SLOTS)
        wait_a_little();
    queue->slot[head % SLOTS] = block;
    atomic_store_explicit(&queue->head, head + 1, memory_order_release);
}

static void *get(struct queue *queue)
{
    size_t tail = atomic_load_explicit(&queue->tail, memory_order_relaxed);
    while (atomic_load_explicit(&queue->head, memory_order_acquire) == tail)
        wait_a_little();
    void *block = queue->slot[tail % SLOTS];
    atomic_store_explicit(&queue->tail, tail + 1, memory_order_release);
    return block;
}

static void *consume(void *argument)
{
    struct part *part = argument;
    for (void *block; (block = get(&queues[part->number]));)
        part->sum += give(block);
    return NULL;
}

/* One thread allocates, `consumers` others free. */
static uint64_t produce(size_t operations, unsigned consumers)
{
    static struct part parts[4];
    pthread_t threads[4];
    uint64_t seed = 11, sum = 0;
    for (unsigned i = 0; i < consumers; i++) {
        parts[i] = (struct part){0, i, 0};
        if (pthread_create(&threads[i], NULL, consume, &parts[i]))
            abort();
    }
    for (size_t i = 0; i < operations; i++)
        put(&queues[i % consumers], take(draw_size(&seed, 16, 400)));
    for (unsigned i = 0; i < consumers; i++)
        put(&queues[i], NULL);
    for (unsigned i = 0; i < consumers; i++) {
        pthread_join(threads[i], NULL);
        sum += parts[i].sum;
    }
    return sum;
}

uint64_t shape_pipe(size_t operations)
{
    return produce(operations, 1);
}

uint64_t shape_fan(size_t operations)
{
    return produce(operations, 3);
}

/* Bursts: a list of many blocks at a time goes to the other thread. */
enum { BURST = 10000 };

static void *consume_bursts(void *argument)
{
    struct part *part = argument;
    for (unsigned char **burst; (burst = get(&queues[0]));) {
        for (size_t i = 0; i < BURST; i++)
            part->sum += give(burst[i]);
        free(burst);
    }
    return NULL;
}

uint64_t shape_handoff(size_t operations)
{
    struct part part = {0};
    pthread_t thread;
    uint64_t seed = 12;
    if (pthread_create(&thread, NULL, consume_bursts, &part))
        abort();
    for (size_t done = 0; done < operations; done += BURST) {
        while (queues[0].head - queues[0].tail > 3) // a few are on their way, no more
            wait_a_little();
        unsigned char **burst = malloc(BURST * sizeof(*burst));
        if (!burst)
            abort();
        for (size_t i = 0; i < BURST; i++)
            burst[i] = take(draw_size(&seed, 16, 200));
        put(&queues[0], burst);
    }
    put(&queues[0], NULL);
    pthread_join(thread, NULL);
    return part.sum;
}

/* All threads free each other's: a table that everybody exchanges blocks with. Who frees what is not the same twice, the
 * sum is. */
static _Atomic(unsigned char *) table[4096];

static void *exchanging(void *argument)
{
    struct part *part = argument;
    uint64_t seed = 200 + part->number;
    for (size_t i = 0; i < part->operations; i++)
        part->sum += give(atomic_exchange(&table[draw(&seed) % 4096], take(draw_size(&seed, 16, 500))));
    return NULL;
}

uint64_t shape_exchange(size_t operations)
{
    uint64_t sum = in_threads(4, operations, exchanging);
    for (size_t i = 0; i < 4096; i++)
        sum += give(atomic_exchange(&table[i], NULL));
    return sum;
}

/* A server: workers replace blocks in their set; each ends after a while and hands the set to a successor (Larson and
 * Krishnan, "Memory allocation for long-running server applications", 1998). */
enum { SET = 1000, LIFE = 50000 };

struct worker {
    size_t left;
    uint64_t seed, sum;
    unsigned char *set[SET];
};

static void *serve(void *argument)
{
    struct worker *worker = argument;
    for (size_t i = 0; i < LIFE && worker->left; i++, worker->left--) {
        size_t at = draw(&worker->seed) % SET;
        worker->sum += give(worker->set[at]);
        worker->set[at] = take(draw_size(&worker->seed, 16, 1000));
    }
    return NULL;
}

uint64_t shape_server(size_t operations)
{
    enum { WORKERS = 4 };
    struct worker *workers = calloc(WORKERS, sizeof(*workers));
    uint64_t sum = 0;
    for (size_t i = 0; i < WORKERS; i++)
        workers[i] = (struct worker){.left = operations / WORKERS, .seed = 300 + i};
    while (workers[0].left) {
        pthread_t threads[WORKERS];
        for (size_t i = 0; i < WORKERS; i++)
            if (pthread_create(&threads[i], NULL, serve, &workers[i]))
                abort();
        for (size_t i = 0; i < WORKERS; i++)
            pthread_join(threads[i], NULL);
    }
    for (size_t i = 0; i < WORKERS; i++)
        for (size_t at = 0; at < SET; at++)
            workers[i].sum += give(workers[i].set[at]);
    for (size_t i = 0; i < WORKERS; i++)
        sum += workers[i].sum;
    free(workers);
    return sum;
}

/* False sharing (Berger and others, "Hoard", 2000): each thread writes to a small block of its own... */
static uint64_t write_often(volatile unsigned char *block)
{
    enum { WRITES = 48 };
    if (!block)
        abort();
    for (unsigned i = 0; i < 8; i++)
        block[i] = 0;
    for (unsigned i = 0; i < WRITES; i++)
        block[i % 8]++;
    return (uint64_t)block[0] + block[7];
}

static void *scratch(void *argument)
{
    struct part *part = argument;
    for (size_t i = 0; i < part->operations; i++) {
        unsigned char *block = malloc(8);
        part->sum += write_often(block);
        free(block);
    }
    return NULL;
}

uint64_t shape_sharing_active(size_t operations)
{
    return in_threads(2, operations, scratch);
}

/* ...and here to blocks that come where one thread had several side by side. */
static unsigned char *given[THREADS_MOST];

static void *scratch_given(void *argument)
{
    give(given[((struct part *)argument)->number]);
    return scratch(argument);
}

uint64_t shape_sharing_passive(size_t operations)
{
    for (unsigned i = 0; i < 2; i++)
        given[i] = take(8);
    return in_threads(2, operations, scratch_given);
}

static void *live_briefly(void *argument)
{
    struct part *part = argument;
    part->sum = replace(100, 20, 16, 500, 400);
    return NULL;
}

uint64_t shape_thread_churn(size_t operations)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < operations; i += 4)
        sum += in_threads(4, 4, live_briefly);
    return sum;
}

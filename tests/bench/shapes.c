/*
 * shapes NAME [PERCENT]: one shape of allocation, with PERCENT (100) of its usual operations; prints a checksum.
 * shapes: the names. The programs know nothing of poolmark; a shape takes a good allocator some 0.3 to 1 s.
 */
#include "shapes.h"

#include <spawn.h>
#include <stdio.h>
#include <sys/wait.h>

extern char **environ;

uint64_t replace(size_t operations, size_t live, size_t least, size_t most, uint64_t seed)
{
    unsigned char **blocks = calloc(live, sizeof(*blocks));
    uint64_t sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t at = draw(&seed) % live;
        sum += give(blocks[at]);
        blocks[at] = take(draw_size(&seed, least, most));
    }
    for (size_t i = 0; i < live; i++)
        sum += give(blocks[i]);
    free(blocks);
    return sum;
}

uint64_t shape_small_fixed(size_t operations)
{
    return replace(operations, 100, 64, 64, 1);
}

uint64_t shape_random_small(size_t operations)
{
    return replace(operations, 1000, 8, 1024, 2);
}

uint64_t shape_random_large(size_t operations)
{
    return replace(operations, 400000, 8, 1024, 3);
}

uint64_t shape_power_law(size_t operations)
{
    enum { LIVE = 500 };
    static unsigned char *blocks[LIVE];
    uint64_t seed = 4, sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t at = draw(&seed) % LIVE;
        sum += give(blocks[at]);
        uint64_t bits = draw(&seed); // each doubling half as often
        size_t magnitude = 16u << __builtin_ctzll(bits | 1 << 16);
        blocks[at] = take(draw_size(&seed, magnitude / 2, magnitude));
    }
    return sum;
}

enum order { FORWARD, REVERSE, RANDOM };

/* Batches of blocks, allocated one after the other and freed in an order. */
static uint64_t batches(size_t operations, enum order order)
{
    enum { BATCH = 100000 };
    static unsigned char *blocks[BATCH];
    uint64_t seed = 5, sum = 0;
    for (size_t done = 0; done < operations; done += BATCH) {
        for (size_t i = 0; i < BATCH; i++)
            blocks[i] = take(draw_size(&seed, 16, 256));
        for (size_t i = BATCH; order == RANDOM && --i > 0;) {
            size_t other = draw(&seed) % (i + 1);
            unsigned char *block = blocks[i];
            blocks[i] = blocks[other];
            blocks[other] = block;
        }
        for (size_t i = 0; i < BATCH; i++)
            sum += give(blocks[order == REVERSE ? BATCH - 1 - i : i]);
    }
    return sum;
}

uint64_t shape_batch_order(size_t operations)
{
    return batches(operations, FORWARD);
}

uint64_t shape_batch_reverse(size_t operations)
{
    return batches(operations, REVERSE);
}

uint64_t shape_batch_random(size_t operations)
{
    return batches(operations, RANDOM);
}

/* Vectors that grow by half from 16 bytes: nine of ten to 4 KiB, the tenth to 4 MiB. */
uint64_t shape_realloc(size_t operations)
{
    uint64_t sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t end = i % 10 ? 4 << 10 : 4 << 20;
        unsigned char *vector = NULL;
        for (size_t size = 16; size < end; size += size / 2) {
            vector = realloc(vector, size);
            memset(vector + size * 2 / 3, (int)i, size - size * 2 / 3);
        }
        sum += vector[end / 2];
        free(vector);
    }
    return sum;
}

uint64_t shape_large(size_t operations)
{
    enum { LIVE = 8 };
    static unsigned char *blocks[LIVE];
    uint64_t seed = 6, sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t at = draw(&seed) % LIVE;
        sum += give(blocks[at]);
        size_t size = draw_size(&seed, 100 << 10, i % 20 ? 2 << 20 : 50 << 20);
        blocks[at] = take(size);
        for (size_t page = 0; page < size; page += 4096)
            blocks[at][page] = (unsigned char)size;
    }
    return sum;
}

uint64_t shape_calloc(size_t operations)
{
    enum { LIVE = 200 };
    static unsigned char *blocks[LIVE];
    uint64_t seed = 7, sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t at = draw(&seed) % LIVE, size = draw_size(&seed, 16, i % 16 ? 512 : 64 << 10);
        sum += give(blocks[at]);
        unsigned char *block = blocks[at] = calloc(1, size);
        if (block[0] || block[size / 2] || block[size - 1])
            abort();
        block[0] = block[size / 2] = block[size - 1] = (unsigned char)size;
    }
    return sum;
}

uint64_t shape_aligned(size_t operations)
{
    enum { LIVE = 500 };
    static unsigned char *blocks[LIVE];
    uint64_t seed = 8, sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t at = draw(&seed) % LIVE, align = 32u << draw(&seed) % 8;
        sum += give(blocks[at]);
        void *block;
        if (posix_memalign(&block, align, draw_size(&seed, 16, 4096)) || (uintptr_t)block % align)
            abort();
        blocks[at] = block;
        blocks[at][0] = (unsigned char)i;
    }
    return sum;
}

/* Grows, frees every other block, grows again with a size that does not fit the gaps. */
uint64_t shape_fragments(size_t operations)
{
    uint64_t sum = 0;
    unsigned char **blocks = calloc(operations, sizeof(*blocks));
    for (size_t size = 48; size <= 48 * 16; size *= 2) {
        for (size_t i = 0; i < operations; i++)
            if (!blocks[i])
                blocks[i] = take(size);
        for (size_t i = (size / 48) % 2; i < operations; i += 2) {
            sum += give(blocks[i]);
            blocks[i] = NULL;
        }
    }
    for (size_t i = 0; i < operations; i++)
        sum += give(blocks[i]);
    free(blocks);
    return sum;
}

/* One burst of 200 MiB, then a steady small load. */
uint64_t shape_burst(size_t operations)
{
    enum { BURST = 200000 };
    unsigned char **blocks = calloc(BURST, sizeof(*blocks));
    uint64_t sum = 0;
    for (size_t i = 0; i < BURST; i++)
        memset(blocks[i] = take(1000), 1, 1000);
    for (size_t i = 0; i < BURST; i++)
        sum += give(blocks[i]);
    free(blocks);
    return sum + replace(operations, 2000, 16, 2000, 9);
}

/* A tiny program, again and again. */
uint64_t shape_start(size_t operations)
{
    char *const argv[] = {"true", NULL};
    for (size_t i = 0; i < operations; i++) {
        pid_t child;
        int status;
        if (posix_spawn(&child, "/bin/true", NULL, NULL, argv, environ) || waitpid(child, &status, 0) != child ||
            status)
            abort();
    }
    return operations;
}

static const struct {
    const char *name;
    shape *run;
    size_t operations;
} shapes[] = {
    {"small-fixed", shape_small_fixed, 40000000},
    {"random-small", shape_random_small, 30000000},
    {"random-large", shape_random_large, 6000000},
    {"power-law", shape_power_law, 20000000},
    {"batch-order", shape_batch_order, 15000000},
    {"batch-reverse", shape_batch_reverse, 15000000},
    {"batch-random", shape_batch_random, 15000000},
    {"realloc", shape_realloc, 40000},
    {"large", shape_large, 4000},
    {"calloc", shape_calloc, 4000000},
    {"aligned", shape_aligned, 10000000},
    {"fragments", shape_fragments, 1000000},
    {"burst", shape_burst, 10000000},
    {"start", shape_start, 500},
    {"server", shape_server, 10000000},
    {"pipe", shape_pipe, 3000000},
    {"fan", shape_fan, 3000000},
    {"handoff", shape_handoff, 10000000},
    {"exchange", shape_exchange, 8000000},
    {"sharing-active", shape_sharing_active, 8000000},
    {"sharing-passive", shape_sharing_passive, 6000000},
    {"threads-8", shape_threads_8, 40000000},
    {"threads-64", shape_threads_64, 40000000},
    {"thread-churn", shape_thread_churn, 30000},
};

int main(int argc, char **argv)
{
    size_t percent = argc > 2 ? (size_t)atol(argv[2]) : 100;
    for (size_t i = 0; i < sizeof(shapes) / sizeof(shapes[0]); i++) {
        if (argc < 2) {
            puts(shapes[i].name);
        } else if (!strcmp(argv[1], shapes[i].name)) {
            printf("%s %llu\n", argv[1], (unsigned long long)shapes[i].run(shapes[i].operations * percent / 100 + 1));
            return 0;
        }
    }
    if (argc > 1)
        fprintf(stderr, "shapes: no such shape: %s\n", argv[1]);
    return argc > 1 ? 2 : 0;
}

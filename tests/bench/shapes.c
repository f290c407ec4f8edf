/*
 * shapes NAME [PERCENT]: one shape of allocation, with PERCENT (100) of its usual operations; prints a checksum.
 * shapes: the names; shapes --help: what they are. The programs know nothing of poolmark. All of it takes a good
 * allocator some 0.5 to 2 s of CPU time, six per cent 0.03 to 0.1 s.
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
    return replace(operations, 1000000, 8, 1024, 3);
}

/* Random replacement among `live` blocks (at most LIVE_MOST), made by `make` from the number of the operation. */
enum { LIVE_MOST = 500 };

static uint64_t replace_by(size_t operations, size_t live, uint64_t seed, unsigned char *(*make)(size_t, uint64_t *))
{
    static unsigned char *blocks[LIVE_MOST];
    uint64_t sum = 0;
    for (size_t i = 0; i < operations; i++) {
        size_t at = draw(&seed) % live;
        sum += give(blocks[at]);
        blocks[at] = make(i, &seed);
    }
    return sum;
}

static unsigned char *make_by_power(size_t i, uint64_t *seed)
{
    (void)i;
    uint64_t bits = draw(seed); // each doubling half as often
    size_t magnitude = 16u << __builtin_ctzll(bits | 1 << 16);
    return take(draw_size(seed, magnitude / 2, magnitude));
}

uint64_t shape_power_law(size_t operations)
{
    return replace_by(operations, LIVE_MOST, 4, make_by_power);
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
        size_t filled = 0;
        for (size_t size = 16; size < end; size += size / 2) {
            vector = realloc(vector, size);
            if (!vector)
                abort();
            memset(vector + filled, (int)i, size - filled);
            filled = size;
        }
        if (vector[0] != (unsigned char)i || vector[end / 2] != (unsigned char)i)
            abort(); // not what was there before it moved
        sum += vector[end / 2];
        free(vector);
    }
    return sum;
}

static unsigned char *make_large(size_t i, uint64_t *seed)
{
    return take(draw_size(seed, 100 << 10, i % 20 ? 2 << 20 : 50 << 20));
}

uint64_t shape_large(size_t operations)
{
    return replace_by(operations, 8, 6, make_large);
}

static unsigned char *make_zeroed(size_t i, uint64_t *seed)
{
    size_t size = draw_size(seed, 16, i % 16 ? 512 : 64 << 10);
    unsigned char *block = calloc(1, size);
    if (!block || block[0] || block[size / 2] || block[size - 1])
        abort();
    return fill(block, size);
}

uint64_t shape_calloc(size_t operations)
{
    return replace_by(operations, 200, 7, make_zeroed);
}

static unsigned char *make_aligned(size_t i, uint64_t *seed)
{
    (void)i;
    size_t align = 32u << draw(seed) % 8, size = draw_size(seed, 16, 4096);
    void *block;
    if (posix_memalign(&block, align, size) || (uintptr_t)block % align) {
        fprintf(stderr, "shapes: %zu bytes aligned to %zu failed, or are not\n", size, align);
        abort();
    }
    return fill(block, size);
}

uint64_t shape_aligned(size_t operations)
{
    return replace_by(operations, LIVE_MOST, 8, make_aligned);
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
        memset((blocks[i] = take(1000)) + 8, 1, 900);
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

static const struct row {
    const char *name;
    shape *run;
    size_t operations;
    const char *help;
} shapes[] = {
    {"small-fixed", shape_small_fixed, 80000000, "64 bytes, 100 live blocks replaced at random"},
    {"random-small", shape_random_small, 60000000, "8 to 1024 bytes, 1000 live blocks"},
    {"random-large", shape_random_large, 3000000, "8 to 1024 bytes, a million live blocks"},
    {"power-law", shape_power_law, 40000000, "8 bytes to 1 MiB, each doubling half as often, 500 live blocks"},
    {"batch-order", shape_batch_order, 25000000, "100,000 blocks of 16 to 256 bytes, freed in the order of allocation"},
    {"batch-reverse", shape_batch_reverse, 25000000, "the same, the last one first"},
    {"batch-random", shape_batch_random, 15000000, "the same, at random"},
    {"realloc", shape_realloc, 15000, "vectors that grow by half, nine to 4 KiB, the tenth to 4 MiB"},
    {"large", shape_large, 2000, "100 KiB to 2 MiB, every twentieth to 50 MiB, 8 live blocks"},
    {"calloc", shape_calloc, 6000000, "calloc of 16 to 512 bytes, every sixteenth to 64 KiB"},
    {"aligned", shape_aligned, 20000000, "16 to 4096 bytes aligned to 32 to 4096"},
    {"fragments", shape_fragments, 2000000, "grows, frees every other block, grows with twice the size, five times"},
    {"burst", shape_burst, 20000000, "200 MiB in a burst, then 2000 live blocks of 16 to 2000 bytes"},
    {"start", shape_start, 700, "starts /bin/true"},
    {"server", shape_server, 20000000, "4 threads that each die and leave their blocks to a successor"},
    {"pipe", shape_pipe, 15000000, "one thread allocates, another frees"},
    {"fan", shape_fan, 15000000, "one thread allocates, three others free"},
    {"handoff", shape_handoff, 20000000, "one allocates, another frees, 10,000 blocks at a time"},
    {"exchange", shape_exchange, 15000000, "4 threads free each other's blocks, through a table"},
    {"sharing-active", shape_sharing_active, 12000000, "2 threads write often to new blocks of 8 bytes"},
    {"sharing-passive", shape_sharing_passive, 12000000, "the same, after freeing blocks that lay side by side"},
    {"threads-8", shape_threads_8, 60000000, "8 threads, each with 1000 live blocks of 8 to 1024 bytes"},
    {"threads-64", shape_threads_64, 60000000, "64 threads, the same"},
    {"thread-churn", shape_thread_churn, 20000, "threads that allocate 100 times and end, 4 at once"},
};

enum { SHAPES = sizeof(shapes) / sizeof(shapes[0]) };

static int list(int with_help)
{
    for (const struct row *row = shapes; row < shapes + SHAPES; row++)
        if (with_help)
            printf("%-16s %s\n", row->name, row->help);
        else
            puts(row->name);
    return 0;
}

int main(int argc, char **argv)
{
    size_t percent = argc > 2 ? (size_t)atol(argv[2]) : 100;
    if (argc < 2 || !strcmp(argv[1], "--help"))
        return list(argc > 1);
    for (const struct row *row = shapes; row < shapes + SHAPES; row++)
        if (!strcmp(argv[1], row->name)) {
            printf("%s %llu\n", row->name, (unsigned long long)row->run(row->operations * percent / 100 + 1));
            return 0;
        }
    fprintf(stderr, "shapes: no such shape: %s\n", argv[1]);
    return 2;
}

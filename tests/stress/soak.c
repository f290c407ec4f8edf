/*
 * soak OPERATIONS THREADS SEED: a random mix of all allocation functions, for LD_PRELOAD.
 *
 * Threads share a table of slots and free, grow and verify what others have allocated; each lives for a while, dies and
 * is followed by the next. Every block is filled, up to its usable size, with bytes that follow from its slot's seed,
 * so that a byte written by anyone else is seen. One seed is one sequence per life; only the threads' interleaving
 * varies. Exit status 0 and a last line "soak: ... good", else 1 and what broke.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <malloc.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
    SLOTS = 4096,
    LIFE = 2500,           // operations of one thread before it dies
    VERIFIED_WHOLE = 4096, // larger blocks are verified at both ends and at samples
};

/* One block. All fields: whoever holds `taken`. */
struct slot {
    atomic_flag taken;
    unsigned char *block;
    size_t size; // bytes that are filled
    uint64_t seed;
};

static struct slot slots[SLOTS];
static uint64_t seed;
static atomic_ulong done;

#define BROKEN(...) (fprintf(stderr, "soak: " __VA_ARGS__), fputc('\n', stderr), _exit(1))

static uint64_t draw(uint64_t *state)
{
    *state += 0x9E3779B97F4A7C15u;
    uint64_t x = *state;
    x = (x ^ (x >> 30)) * 0xBF58476D1CE4E5B9u;
    x = (x ^ (x >> 27)) * 0x94D049BB133111EBu;
    return x ^ (x >> 31);
}

static unsigned char byte_at(const struct slot *slot, size_t index)
{
    return (unsigned char)((slot->seed >> (index % 8 * 8)) + index / 8 * 37);
}

/* The step to the next byte worth looking at: all near the ends, samples in the middle of large blocks. */
static size_t step_at(size_t index, size_t size)
{
    if (size <= VERIFIED_WHOLE || index < 64 || index + 512 >= size)
        return 1;
    size_t step = size / 1021;
    return index + step + 512 > size ? size - 512 - index : step + 1;
}

static void fill(struct slot *slot, size_t size, uint64_t with)
{
    slot->size = size;
    slot->seed = with;
    for (size_t i = 0; i < size; i += step_at(i, size))
        slot->block[i] = byte_at(slot, i);
}

static void verify(const struct slot *slot, size_t count)
{
    for (size_t i = 0; i < count; i += step_at(i, slot->size))
        if (slot->block[i] != byte_at(slot, i))
            BROKEN("block %p of %zu bytes: byte %zu is %02x, was %02x", (void *)slot->block, slot->size, i,
                   slot->block[i], byte_at(slot, i));
}

/* Most sizes are small, some up to 32 KiB, few up to 4 MiB; exact powers of two and their neighbours often. */
static size_t draw_size(uint64_t *state)
{
    uint64_t kind = draw(state) % 1024;
    unsigned bits = kind < 700 ? 9 : kind < 1000 ? 13 : kind < 1021 ? 16 : 22;
    if (kind % 8 == 0)
        return ((size_t)1 << draw(state) % (bits + 1)) + draw(state) % 3 - 1;
    return draw(state) % ((size_t)1 << (draw(state) % bits + 1));
}

static void check_zero(const unsigned char *block, size_t size)
{
    for (size_t i = 0; i < size; i += size <= 65536 ? 1 : 997)
        if (block[i])
            BROKEN("calloc of %zu bytes: byte %zu is %02x", size, i, block[i]);
}

static void allocate(struct slot *slot, uint64_t *state)
{
    size_t size = draw_size(state), align = (size_t)16 << draw(state) % 10;
    void *block = NULL;
    switch (draw(state) % 12) {
    case 0:
    case 1:
        block = calloc(1 + size / 8, 8);
        check_zero(block, block ? (1 + size / 8) * 8 : 0);
        align = 16;
        break;
    case 2:
        if (posix_memalign(&block, align, size))
            block = NULL;
        break;
    case 3:
        block = aligned_alloc(align, (size + align - 1) / align * align);
        break;
    case 4:
        block = memalign(align, size);
        break;
    case 5:
        align = draw(state) % 16 ? 16 : 4096;
        block = align == 4096 ? valloc(size) : realloc(NULL, size);
        break;
    case 6:
        align = 16;
        block = reallocarray(NULL, 1 + size % 7, size / 7);
        size = (1 + size % 7) * (size / 7);
        break;
    default:
        align = 16;
        block = malloc(size);
    }
    if (!block)
        BROKEN("allocation of %zu bytes failed: %s", size, strerror(errno));
    if ((uintptr_t)block % align)
        BROKEN("block %p of %zu bytes is not aligned to %zu", block, size, align);
    size_t usable = malloc_usable_size(block);
    if (usable < size)
        BROKEN("block %p of %zu bytes has usable size %zu", block, size, usable);
    slot->block = block;
    fill(slot, draw(state) % 4 ? size : usable, draw(state));
}

static void resize(struct slot *slot, uint64_t *state)
{
    size_t size = draw_size(state) + 1, old = slot->size;
    unsigned char *block = realloc(slot->block, size);
    if (!block)
        BROKEN("realloc to %zu bytes failed: %s", size, strerror(errno));
    if ((uintptr_t)block % 16 || malloc_usable_size(block) < size)
        BROKEN("realloc to %zu bytes: block %p, usable size %zu", size, (void *)block, malloc_usable_size(block));
    slot->block = block;
    verify(slot, size < old ? size : old);
    fill(slot, size, draw(state));
}

static void release(struct slot *slot)
{
    errno = 4242;
    free(slot->block);
    if (errno != 4242)
        BROKEN("free changed errno");
    slot->block = NULL;
    slot->size = 0;
}

static void *live(void *number)
{
    uint64_t state = seed + (uint64_t)(uintptr_t)number * 0xD1342543DE82EF95u;
    for (unsigned i = 0; i < LIFE; i++) {
        struct slot *slot = &slots[draw(&state) % SLOTS];
        uint64_t choice = draw(&state) % 16;
        if (atomic_flag_test_and_set_explicit(&slot->taken, memory_order_acquire))
            continue;
        if (!slot->block)
            allocate(slot, &state);
        else {
            verify(slot, slot->size);
            if (choice < 5)
                resize(slot, &state);
            else
                release(slot);
            if (choice > 10)
                allocate(slot, &state);
        }
        atomic_flag_clear_explicit(&slot->taken, memory_order_release);
        atomic_fetch_add_explicit(&done, 1, memory_order_relaxed);
    }
    if ((uintptr_t)number % 32 == 0)
        malloc_trim(0);
    return NULL;
}

int main(int argc, char **argv)
{
    if (argc != 4)
        BROKEN("usage: soak OPERATIONS THREADS SEED");
    unsigned long operations = strtoul(argv[1], NULL, 10), threads = strtoul(argv[2], NULL, 10), lives = 0;
    seed = strtoull(argv[3], NULL, 10) * 1000003;
    unsigned long wanted = (operations + LIFE - 1) / LIFE;
    pthread_t thread[256];
    if (!threads || threads > 256)
        BROKEN("1 to 256 threads");
    // the oldest is joined and followed by a new one, so that births, deaths and work overlap
    for (unsigned long joined = 0; joined < wanted; joined++) {
        for (; lives < wanted && lives < joined + threads; lives++)
            if (pthread_create(&thread[lives % threads], NULL, live, (void *)(uintptr_t)lives))
                BROKEN("pthread_create failed");
        pthread_join(thread[joined % threads], NULL);
    }
    for (unsigned i = 0; i < SLOTS; i++)
        if (slots[i].block) {
            verify(&slots[i], slots[i].size);
            release(&slots[i]);
        }
    printf("soak: %lu operations, %lu threads, %lu lives, seed %s: good\n", atomic_load(&done), threads, lives,
           argv[3]);
    return 0;
}

/*
 * Policy `native`: nothing is kept, every block is the native allocator's, over each of the three.
 */
#include "policy_test.h"

#include <criterion/parameterized.h>

#include "interpose/mapping.h"

static char natives[][12] = {"mimalloc", "libc", "mmap"};

#define EACH_NATIVE(name)                                                                                              \
    ParameterizedTestParameters(native, name)                                                                          \
    {                                                                                                                  \
        return cr_make_param_array(char[12], natives, ARRAY_LENGTH(natives));                                          \
    }                                                                                                                  \
    ParameterizedTest(char native[12], native, name)

static const struct policy *policy;

static void start(const char *native)
{
    char setting[32];
    snprintf(setting, sizeof(setting), "POOL_NATIVE=%s", native);
    start_core("POOL_POLICY=native", setting, NULL);
    policy = policy_named("native");
}

EACH_NATIVE(nothing_is_kept)
{
    void *blocks[50];
    start(native);
    for (size_t size = 1; size <= MiB(40); size *= 3) {
        take_many(blocks, size > MiB(1) ? 3 : ARRAY_LENGTH(blocks), size);
        give_many(blocks, size > MiB(1) ? 3 : ARRAY_LENGTH(blocks));
    }
    uint64_t frees = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts counts = counts_now(class);
        cr_assert_eq(counts.hits, 0);
        cr_assert_eq(counts.dropped, counts.frees);
        cr_assert_eq(counts.misses, counts.frees);
        cr_assert_eq(policy->stored(class), 0);
        cr_assert_eq(page->classes[class].native_blocks, self_now()->books[class].credit);
        cr_assert_eq(bin_count_most(self_now(), class), 0);
        frees += counts.frees;
    }
    cr_assert_gt(frees, 100);
    uint64_t allocated, pooled;
    process_levels(&allocated, &pooled);
    cr_assert_eq(allocated, 0);
    cr_assert_eq(page->total.stored.bound, 0);
    check_consistent();
}

EACH_NATIVE(blocks_are_native)
{
    start(native);
    for (unsigned class = CLASS_FIRST; class_size(class) <= MiB(20); class ++) {
        void *block = take(class_size(class));
        cr_assert_null(unit_span(block), "class of %zu bytes", class_size(class));
        cr_assert_geq(native_usable(block), class_size(class));
        cr_assert_geq(slow_usable(block), class_size(class));
        if (strcmp(native, "mmap") == 0)
            cr_assert_eq(mapping_size(block), class_size(class));
        give(block);
    }
    check_consistent();
}

EACH_NATIVE(requests_are_rounded_to_what_it_gives_anyway)
{
    start(native);
    for (size_t size = 1; size <= MiB(1); size += size / 19 + 1) {
        cr_assert_eq(policy->block_size(size), native_block_size(size));
        void *block = take(size);
        cr_assert_geq(native_usable(block), policy->block_size(size), "the program may use all of it");
        memset(block, 1, policy->block_size(size));
        give(block);
    }
    check_consistent();
}

EACH_NATIVE(realloc_and_alignment)
{
    start(native);
    for (size_t align = 32; align <= KiB(64); align *= 2) {
        char *block = slow_aligned(align, 200);
        cr_assert_eq((uintptr_t)block % align, 0);
        memset(block, 7, 200);
        for (size_t size = 300; size < MiB(40); size *= 6) {
            block = slow_realloc(block, size);
            cr_assert(is_filled(block, 7, 200), "%zu bytes", size);
        }
        give(block);
    }
    check_consistent();
}

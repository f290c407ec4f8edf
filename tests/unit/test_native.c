/*
 * The native allocator, each of the three: what is taken is usable, aligned, told from foreign blocks, and given back.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <sys/mman.h>

#include "interpose/elf.h"
#include "interpose/mapping.h"
#include "interpose/native.h"
#include "started.h"

static enum native_kind kinds[] = {NATIVE_MIMALLOC, NATIVE_LIBC, NATIVE_MMAP};

#define EACH_KIND(name)                                                                                                \
    ParameterizedTestParameters(native, name)                                                                          \
    {                                                                                                                  \
        return cr_make_param_array(enum native_kind, kinds, ARRAY_LENGTH(kinds));                                      \
    }                                                                                                                  \
    ParameterizedTest(enum native_kind *kind, native, name)

static void *take_native(unsigned class, size_t align, bool zero, size_t *ret_usable)
{
    bool clean = false;
    unsigned has;
    char *block = native_take(class, align, zero, &clean, &has);
    cr_assert_not_null(block, "class of %zu bytes", class_size(class));
    cr_assert_eq((uintptr_t)block % align, 0, "%p, class of %zu bytes, align %zu", (void *)block, class_size(class),
                 align);
    *ret_usable = native_usable(block);
    cr_assert_geq(*ret_usable, class_size(class));
    cr_assert_eq(class_floor(*ret_usable), has, "the same when it is freed");
    if (zero)
        cr_assert(clean);
    if (clean)
        cr_assert(is_filled(block, 0, class_size(class)));
    return block;
}

EACH_KIND(every_class_up_to_64_MiB)
{
    size_t usable;
    native_start(*kind, true);
    for (unsigned round = 0; round < 2; round++)
        for (unsigned class = CLASS_FIRST; class <= class_of(MiB(64)); class ++) {
            errno = 4242;
            char *block = take_native(class, MALLOC_ALIGN, round, &usable);
            memset(block, 0xCC, min_size(usable, KiB(64)));
            block[usable - 1] = 1;
            native_give(block);
            cr_assert_eq(errno, 4242);
            cr_assert_eq(mapping_size(block), 0);
        }
}

EACH_KIND(alignments)
{
    unsigned has, refused = 0, taken = 0;
    bool clean;
    native_start(*kind, true);
    for (size_t align = MALLOC_ALIGN; align <= MiB(4); align *= 2)
        for (size_t size = 16; size <= MiB(1); size *= 2) {
            char *block = native_take(class_of(size), align, (align ^ size) & 0x5550, &clean, &has);
            if (!block) {
                refused++;
                continue;
            }
            taken++;
            cr_assert_eq((uintptr_t)block % align, 0, "%p, %zu bytes, align %zu", (void *)block, size, align);
            memset(block, 0xDD, native_usable(block));
            native_give(block);
        }
    if (*kind == NATIVE_MIMALLOC) // it aligns blocks by their size only
        cr_assert_geq(taken, 17, "at least all of 16 bytes alignment");
    else
        cr_assert_eq(refused, 0);
}

EACH_KIND(many_live_blocks_keep_their_content)
{
    enum { LIVE = 1000 };
    static unsigned char *blocks[LIVE];
    static unsigned classes[LIVE];
    uint64_t state = 7;
    size_t usable;
    native_start(*kind, true);
    for (unsigned i = 0; i < LIVE * 5; i++) {
        unsigned at = (unsigned)(draw(&state) % LIVE);
        if (blocks[at]) {
            cr_assert(is_filled(blocks[at], (unsigned char)at, class_size(classes[at])));
            native_give(blocks[at]);
        }
        classes[at] = (unsigned)(draw(&state) % class_of(KiB(16)) + 1);
        blocks[at] = take_native(classes[at], MALLOC_ALIGN, false, &usable);
        memset(blocks[at], (int)at, usable);
        memset(blocks[at], (int)(at & 0xFF), class_size(classes[at]));
    }
}

EACH_KIND(class_is_at_least_what_was_asked_for)
{
    size_t usable;
    native_start(*kind, true);
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        cr_assert_geq(native_class(class), class);
        if (*kind != NATIVE_MIMALLOC)
            cr_assert_eq(native_class(class), class);
        if (class_size(class) > MiB(1))
            continue;
        void *block = take_native(class, MALLOC_ALIGN, false, &usable);
        cr_assert_geq(class_floor(usable), native_class(class), "class %u", class);
        native_give(block);
    }
}

EACH_KIND(resize_keeps_the_content_or_refuses)
{
    static const size_t sizes[][2] = {{4096, 65536},       {65536, 131072},   {MiB(1), KiB(64)}, {MiB(20), MiB(100)},
                                      {MiB(100), MiB(17)}, {MiB(1), MiB(40)}, {MiB(40), MiB(1)}, {KiB(256), KiB(320)}};
    native_start(*kind, true);
    for (unsigned i = 0; i < ARRAY_LENGTH(sizes); i++) {
        size_t usable, least = min_size(sizes[i][0], sizes[i][1]);
        unsigned char *block = take_native(class_of(sizes[i][0]), MALLOC_ALIGN, false, &usable);
        memset(block, 0x5A, sizes[i][0]);
        errno = 4242;
        unsigned char *moved = native_resize(block, class_of(sizes[i][1]));
        cr_assert_eq(errno, 4242);
        bool mapped = sizes[i][0] > MiB(16) && sizes[i][1] > MiB(16);
        if (mapped || *kind == NATIVE_MMAP)
            cr_assert_not_null(moved, "%u", i);
        if (moved)
            cr_assert_geq(native_usable(moved), sizes[i][1]);
        cr_assert(is_filled(moved ? moved : block, 0x5A, least), "%u", i);
        native_give(moved ? moved : block);
    }
}

/* libc's own, whatever malloc the test has. */
static void *libc_block(size_t size)
{
    void *symbol = elf_symbol("libc.so.", "malloc");
    void *(*function)(size_t);
    memcpy(&function, &symbol, sizeof(function));
    return function(size);
}

EACH_KIND(libcs_blocks_are_foreign)
{
    native_start(*kind, true);
    for (size_t size = 1; size < KiB(512); size = size * 2 + 3) {
        unsigned char *block = libc_block(size);
        memset(block, 0x77, size);
        cr_assert_eq(native_usable(block), 0, "%zu bytes", size);
        cr_assert_geq(foreign_usable(block), size);
        block = foreign_realloc(block, size * 3);
        cr_assert(is_filled(block, 0x77, size));
        errno = 4242;
        foreign_free(block);
        cr_assert_eq(errno, 4242);
    }
}

EACH_KIND(libc_uses_a_block_of_ours_again_as_its_own)
{
    size_t usable;
    native_start(*kind, true);
    for (unsigned i = 0; i < 100; i++) { // the tag of a block that has gone must not make libc's next one ours
        native_give(take_native(class_of(80), MALLOC_ALIGN, false, &usable));
        void *block = libc_block(80);
        cr_assert_eq(native_usable(block), 0);
        foreign_free(block);
    }
    native_purge();
}

Test(native, before_its_start_a_mapping)
{
    size_t usable;
    char *block = take_native(class_of(100), MALLOC_ALIGN, true, &usable);
    cr_assert_eq(mapping_size(block), usable);
    cr_assert_eq(foreign_usable(block), 0);
    cr_assert_null(foreign_realloc(block, 200));
    foreign_free(block);
    native_give(block);
    cr_assert_eq(mapping_size(block), 0);
}

Test(native, mimalloc_is_not_opened_where_only_mappings_are_asked_for)
{
    size_t usable;
    native_start(NATIVE_MIMALLOC, false);
    cr_assert_null(elf_symbol("libmimalloc", "mi_malloc"));
    char *block = take_native(class_of(KiB(1)), MALLOC_ALIGN, false, &usable);
    cr_assert_eq(mapping_size(block), KiB(1));
    native_give(block);
    cr_assert(is_readable(block), "kept for a while");
    cr_assert_eq(native_resize(take_native(class_of(MiB(2)), MALLOC_ALIGN, false, &usable), CLASS_COUNT - 1), NULL);
}

Test(native, mmap_promises_a_mapping_per_block)
{
    size_t usable;
    native_start(NATIVE_MMAP, true);
    char *block = take_native(class_of(64), MALLOC_ALIGN, false, &usable);
    cr_assert_eq((uintptr_t)block % OS_PAGE, 0);
    native_give(block);
    cr_assert_not(is_readable(block));
}

Test(native, refused_is_null)
{
    bool clean;
    unsigned has;
    errno = 4242;
    for (unsigned i = 0; i < ARRAY_LENGTH(kinds); i++)
        cr_assert_null(native_take(CLASS_COUNT - 1, MALLOC_ALIGN, false, &clean, &has));
    cr_assert_eq(errno, 4242);
}

Test(native, blocks_above_20_TiB_that_mimalloc_does_not_know_again_are_known)
{
    // mi_is_in_heap_region looks no further (MI_MAX_ADDRESS), and mimalloc asks for addresses above 2 TiB by a hint only
    void *taken = mmap((void *)((uintptr_t)2 << 40), (size_t)29 << 40, PROT_NONE,
                       MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
    if (taken == MAP_FAILED && !SANITIZED)
        cr_skip_test("no address space to take: %m");
    size_t usable;
    native_start(NATIVE_MIMALLOC, true);
    for (unsigned class = CLASS_FIRST; class <= class_of(MiB(1)); class ++)
        native_give(take_native(class, MALLOC_ALIGN, true, &usable));
}

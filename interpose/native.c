/*
 * mimalloc, libc or mmap behind three functions each. The only file that names mimalloc.
 *
 * mimalloc is opened with RTLD_LOCAL: linked in, its exported malloc and operator new would come before libstdc++'s in
 * some programs. Its faults are kept at this boundary: version 2.0.9 changes errno in free and crashes on foreign
 * pointers. Blocks above 16 MiB, which it maps one by one, we map ourselves, so that realloc can move them without
 * copying. It costs some 310 KiB of resident memory and a third of a millisecond at start, so where a route leaves it
 * nothing up to 1 MiB (as `balanced` does) it is not opened at all, and all that native serves are mappings, kept for a
 * while when they are freed, as mimalloc does.
 *
 * mimalloc's blocks are known again by the unit map, since asking it (mi_is_in_heap_region, mi_usable_size) costs more
 * than its free. A mark is for a whole unit, so no block may begin inside a larger one, as its aligned ones do (which
 * are misaligned at times besides: microsoft/mimalloc#700): what must be more aligned than it happens to be is not taken
 * from it.
 *
 * libc's blocks are told from foreign ones, which come from the same allocator, by a tag in their last word. libc has
 * 8 bytes to spare behind every size that is a multiple of 16, so the tag costs no memory.
 */
#include "native.h"

#include "elf.h"
#include "mapping.h"
#include "message.h"
#include "unit.h"

#include <dlfcn.h>

/* Blocks above this size are mapped one by one by mimalloc too. */
#define MAPPED_ABOVE MiB(16)

/* mimalloc does not know its own blocks again from here on (MI_MAX_ADDRESS); it gets there when all lower addresses that
 * it asks for are taken or used up. Below, nobody else's mappings come to lie where a mark of it is left behind. */
#define KNOWN_BELOW ((uintptr_t)20 << 40)

struct libc {
    void *(*malloc)(size_t);
    void *(*calloc)(size_t, size_t);
    void *(*realloc)(void *, size_t);
    void *(*memalign)(size_t, size_t);
    void (*free)(void *);
    size_t (*usable)(void *);
    int (*trim)(size_t);
};

struct mimalloc {
    void *(*malloc)(size_t);
    void *(*zalloc)(size_t);
    void (*free)(void *);
    size_t (*usable)(const void *);
    size_t (*good_size)(size_t);
    bool (*owns)(const void *);
    void (*collect)(bool);
};

static struct {
    enum native_kind kind; // fixed after start
    size_t mapped_above;   // fixed after start: larger blocks are mappings
    struct libc libc;      // fixed after start
    struct mimalloc mi;    // fixed after start
} native = {.kind = NATIVE_MMAP};

struct native_quick native_quick;

/* A pointer to data as a pointer to a function: POSIX allows it, ISO C has no words for it. */
static void bind(void *function, void *symbol)
{
    memcpy(function, &symbol, sizeof(symbol));
}

static bool open_libc(void)
{
    bind(&native.libc.malloc, elf_symbol("libc.so.", "malloc"));
    bind(&native.libc.calloc, elf_symbol("libc.so.", "calloc"));
    bind(&native.libc.realloc, elf_symbol("libc.so.", "realloc"));
    bind(&native.libc.memalign, elf_symbol("libc.so.", "memalign"));
    bind(&native.libc.free, elf_symbol("libc.so.", "free"));
    bind(&native.libc.usable, elf_symbol("libc.so.", "malloc_usable_size"));
    bind(&native.libc.trim, elf_symbol("libc.so.", "malloc_trim"));
    return native.libc.malloc && native.libc.calloc && native.libc.realloc && native.libc.memalign &&
           native.libc.free && native.libc.usable;
}

static bool open_mimalloc(void)
{
    void *library = dlopen("libmimalloc.so.2", RTLD_NOW | RTLD_LOCAL | RTLD_NODELETE);
    if (!library)
        return false;
    bind(&native.mi.malloc, dlsym(library, "mi_malloc"));
    bind(&native.mi.zalloc, dlsym(library, "mi_zalloc"));
    bind(&native.mi.free, dlsym(library, "mi_free"));
    bind(&native.mi.usable, dlsym(library, "mi_usable_size"));
    bind(&native.mi.good_size, dlsym(library, "mi_good_size"));
    bind(&native.mi.owns, dlsym(library, "mi_is_in_heap_region"));
    bind(&native.mi.collect, dlsym(library, "mi_collect"));
    return native.mi.malloc && native.mi.zalloc && native.mi.free && native.mi.usable && native.mi.good_size &&
           native.mi.owns && native.mi.collect;
}

void native_start(enum native_kind kind, bool small)
{
    bool have_libc = open_libc();
    if (kind == NATIVE_MIMALLOC) {
        mapping_keep(); // as it does itself
        if (!small)
            kind = NATIVE_MMAP;
    }
    if (kind == NATIVE_MIMALLOC && !open_mimalloc()) {
        message_line("libmimalloc.so.2 cannot be opened; POOL_NATIVE=libc is used");
        kind = NATIVE_LIBC;
    }
    if (kind == NATIVE_LIBC && !have_libc)
        kind = NATIVE_MMAP;
    static const size_t mapped_above[] = {[NATIVE_MIMALLOC] = MAPPED_ABOVE, [NATIVE_LIBC] = SIZE_MAX};
    native.mapped_above = kind == NATIVE_MMAP ? 0 : mapped_above[kind];
    native.kind = kind;
    if (kind == NATIVE_MIMALLOC)
        native_quick = (struct native_quick){native.mi.malloc, native.mi.free};
}

static bool is_mapped(size_t size)
{
    return size > native.mapped_above;
}

static uintptr_t *tag_of(const void *block, size_t usable)
{
    return (uintptr_t *)((uintptr_t)block + usable - sizeof(uintptr_t));
}

static uintptr_t tag_value(const void *block)
{
    return ((uintptr_t)block ^ (uintptr_t)&native) * 0x9E3779B97F4A7C15u;
}

/* Marks a block of libc's as ours. */
static void *tag(void *block, size_t *ret_usable)
{
    if (block) {
        size_t usable = native.libc.usable(block);
        *tag_of(block, usable) = tag_value(block);
        *ret_usable = usable - sizeof(uintptr_t);
    }
    return block;
}

static void *libc_take(size_t size, size_t align, bool zero, bool *ret_clean, size_t *ret_usable)
{
    size_t with_tag = size + sizeof(uintptr_t);
    *ret_clean = zero && align <= MALLOC_ALIGN;
    if (align > MALLOC_ALIGN)
        return tag(native.libc.memalign(align, with_tag), ret_usable);
    return tag(zero ? native.libc.calloc(1, with_tag) : native.libc.malloc(with_tag), ret_usable);
}

static void *mimalloc_take(unsigned class, size_t align, bool zero, bool *ret_clean, unsigned *ret_class)
{
    size_t size = class_sizes[class];
    void *block = zero ? native.mi.zalloc(size) : native.mi.malloc(size);
    *ret_clean = zero;
    if (!block)
        return NULL;
    bool aligned = ((uintptr_t)block & (align - 1)) == 0;
    if (aligned && unit_class(block) == class)
        return block;
    *ret_class = class_floor(native.mi.usable(block));
    if (aligned && (uintptr_t)block < KNOWN_BELOW && unit_mark_native(block, *ret_class))
        return block;
    native.mi.free(block);
    *ret_class = class;
    return align > MALLOC_ALIGN ? NULL : mapping_alloc(size, align, ret_clean);
}

bool native_is_quick(unsigned class)
{
    return native.kind == NATIVE_MIMALLOC && class <= CLASS_OF_1M;
}

void *native_take(unsigned class, size_t align, bool zero, bool *ret_clean, unsigned *ret_class)
{
    size_t size = class_size(class);
    void *block;
    int saved = errno;
    *ret_class = class;
    if (is_mapped(size) || align > UNIT || (align > MALLOC_ALIGN && class > CLASS_OF_1M)) {
        block = mapping_alloc(size, align, ret_clean);
    } else if (native.kind == NATIVE_LIBC) {
        size_t usable = size;
        block = libc_take(size, align, zero, ret_clean, &usable);
        *ret_class = class_floor(usable);
    } else {
        block = mimalloc_take(class, align, zero, ret_clean, ret_class);
    }
    errno = saved;
    if (block && zero && !*ret_clean) {
        memset(block, 0, size);
        *ret_clean = true;
    }
    return block;
}

size_t native_usable(const void *block)
{
    size_t size = mapping_size(block);
    if (size || native.kind == NATIVE_MMAP)
        return size;
    if (native.kind == NATIVE_MIMALLOC) // a block that the program has from mimalloc itself has no mark
        return unit_class(block) || native.mi.owns(block) ? native.mi.usable(block) : 0;
    size = native.libc.usable((void *)(uintptr_t)block);
    bool ours = size >= MALLOC_ALIGN + sizeof(uintptr_t) && *tag_of(block, size) == tag_value(block);
    return ours ? size - sizeof(uintptr_t) : 0;
}

void native_give(void *block)
{
    int saved = errno;
    if (mapping_size(block)) {
        mapping_free(block);
    } else if (native.kind == NATIVE_MIMALLOC) {
        native.mi.free(block);
    } else {
        *tag_of(block, native.libc.usable(block)) = 0;
        native.libc.free(block);
    }
    errno = saved;
}

void native_purge(void)
{
    int saved = errno;
    if (native.kind == NATIVE_MIMALLOC)
        native.mi.collect(true);
    else if (native.kind == NATIVE_LIBC && native.libc.trim)
        native.libc.trim(0);
    errno = saved;
}

void *native_resize(void *block, unsigned class)
{
    size_t size = class_size(class);
    bool mapped = mapping_size(block) != 0;
    if (mapped != is_mapped(size) || (!mapped && native.kind != NATIVE_LIBC))
        return NULL;
    int saved = errno;
    void *moved;
    if (mapped)
        moved = mapping_resize(block, size);
    else
        moved = tag(native.libc.realloc(block, size + sizeof(uintptr_t)), &size);
    errno = saved;
    return moved;
}

unsigned native_class(unsigned class)
{
    size_t size = class_size(class);
    if (native.kind != NATIVE_MIMALLOC || is_mapped(size))
        return class;
    return class_floor(native.mi.good_size(size));
}

void foreign_free(void *block)
{
    int saved = errno;
    if (native.libc.free)
        native.libc.free(block);
    errno = saved;
}

void *foreign_realloc(void *block, size_t size)
{
    return native.libc.realloc ? native.libc.realloc(block, size) : NULL;
}

size_t foreign_usable(void *block)
{
    return native.libc.usable ? native.libc.usable(block) : 0;
}

/*
 * The allocator under the pools (POOL_NATIVE), and libc's for blocks that are not ours at all.
 *
 * The class of a native block is the largest that fits its usable size; it is found from the block alone, the same way
 * when it is made and when it is freed: mimalloc's by the unit map, all others by their size. Any thread; errno kept by
 * all.
 */
#ifndef POOLMARK_NATIVE_H
#define POOLMARK_NATIVE_H

#include "unit.h"

enum native_kind { NATIVE_MIMALLOC, NATIVE_LIBC, NATIVE_MMAP }; // in the order of options.def

/*
 * Opens it. mimalloc is opened only if blocks up to 1 MiB will be asked of it (`small`), and replaced by libc, with one
 * line said, if it cannot be. Once, at start: it allocates.
 */
HIDDEN void native_start(enum native_kind kind, bool small);

/*
 * A block for requests of the class, aligned to `align` (a power of two, at least 16); *ret_class is the class that it
 * really has, which may be a larger one. NULL if refused, or if it cannot be so aligned. *ret_clean: it reads as zeros;
 * always so if `zero` is asked for. Before native_start, a mapping.
 */
HIDDEN void *native_take(unsigned class, size_t align, bool zero, bool *ret_clean, unsigned *ret_class);

/*
 * The same without its rare cases, for classes of which native_is_quick says so: a block of exactly this class, NULL if
 * that is not to be had at once. The caller knows that the block that it gives is one of these.
 */
HIDDEN bool native_is_quick(unsigned class);

extern HIDDEN struct native_quick {
    void *(*take)(size_t size);
    void (*give)(void *block);
} native_quick; // fixed after start

static ALWAYS_INLINE void *native_quick_take(size_t class)
{
    void *block = native_quick.take(class_sizes[class]);
    if (likely(block && unit_bin(block) == class << BIN_SHIFT))
        return block;
    if (block)
        native_quick.give(block);
    return NULL;
}

static ALWAYS_INLINE void native_quick_give(void *block)
{
    int *error = &errno, saved = *error; // mimalloc changes it when it gives pages back
    native_quick.give(block);
    *error = saved;
}

/* Bytes usable in a block of native_take's; 0 if the address is none of them. Not for addresses inside our units. */
HIDDEN size_t native_usable(const void *block);

/* Gives a block of native_take's back. */
HIDDEN void native_give(void *block);

/* Has the native allocator give its free pages back, as far as it does not do so by itself: mimalloc keeps those of a
 * thread until that thread happens to need more (this is for the calling thread only), libc all but those at its top. */
HIDDEN void native_purge(void);

/* Resizes to a block of the class without copying (mremap), or NULL: unchanged, the caller copies. */
HIDDEN void *native_resize(void *block, unsigned class);

/* The class that a request of the class really gets from it: what accounting and bins should use. Pure. */
HIDDEN unsigned native_class(unsigned class);

/* libc's own functions, for blocks that another allocator of the process made (RTLD_DEEPBIND, a handle on libc). */
HIDDEN void foreign_free(void *block);
HIDDEN void *foreign_realloc(void *block, size_t size);
HIDDEN size_t foreign_usable(void *block);

#endif

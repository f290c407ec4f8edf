/*
 * Bookkeeping memory: taken in pieces of 64 KiB, handed out in order, never given back.
 */
#include "meta.h"

#include "lock.h"
#include "os.h"

enum { META_BLOCK = 64 << 10 };

static struct {
    struct lock lock;
    char *next, *end; // lock: meta
} meta;

void *meta_alloc(size_t bytes)
{
    bytes = align_up(bytes, CACHE_LINE);
    lock_acquire(&meta.lock, RANK_META);
    if ((size_t)(meta.end - meta.next) < bytes) {
        size_t block = max_size(align_up(bytes, OS_PAGE), META_BLOCK);
        char *fresh = os_map(block);
        if (!fresh) {
            lock_release(&meta.lock, RANK_META);
            return NULL;
        }
        if (fresh != meta.end) // else it continues where the last one ended
            meta.next = fresh;
        meta.end = fresh + block;
    }
    void *start = meta.next;
    meta.next += bytes;
    lock_release(&meta.lock, RANK_META);
    return start;
}

void meta_forked(void)
{
    if (!lock_survived(&meta.lock))
        meta.next = meta.end = NULL;
}

/*
 * Bookkeeping memory of the library itself: what describes blocks is never among them.
 */
#ifndef POOLMARK_META_H
#define POOLMARK_META_H

#include "base.h"

/* Zeroed, aligned to 64, never freed, NULL if refused. Any thread. */
HIDDEN void *meta_alloc(size_t bytes);

/* In a forked child: what a vanished thread may have left half-changed is left alone. */
HIDDEN void meta_forked(void);

#endif

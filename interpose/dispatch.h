/*
 * The route as data: which class a request gets, and which policy has that class.
 *
 * Two tables, filled at start from a parsed route: the fast path reads the first (by request size), slow paths the
 * second (by class). Before start all requests lead to class 0 and so to the slow path.
 */
#ifndef POOLMARK_DISPATCH_H
#define POOLMARK_DISPATCH_H

#include "route.h"
#include "unit.h"

enum { DISPATCH_SLOTS = CLASS_TABLE_MAX / 16 + 1 };

/* Bin offset of the class for requests of (i - 1) * 16 + 1 ... i * 16 bytes. Any thread, written as single words. */
extern HIDDEN uint16_t dispatch_bins[DISPATCH_SLOTS];

/* Policy of each class; NULL before start. Any thread. */
extern HIDDEN const struct policy *dispatch_policies[CLASS_COUNT];

/* Fills both tables and the page's account of them. Once, at start; policies' start functions are called. */
HIDDEN void dispatch_start(const struct route *route);

/* The same as dispatch_class, without the table: for large sizes, and before start. */
HIDDEN unsigned dispatch_class_untabled(size_t size);

/* The class that a request of `size` bytes gets, any size; CLASS_NONE if no block can be that large. */
static inline unsigned dispatch_class(size_t size)
{
    unsigned class = size <= CLASS_TABLE_MAX ? hint_get(dispatch_bins[(size + 15) / 16]) >> BIN_SHIFT : CLASS_NONE;
    return likely(class) ? class : dispatch_class_untabled(size);
}

#endif

/*
 * A route: which policy serves which sizes, as written in POOL_POLICY.
 *
 *     thread:32K,array:1M,native     each policy serves sizes up to UPTO, the last one the rest
 *     balanced                       a preset: stands for another route, and stands alone
 *
 * UPTO is required but for the last rule, and rises from rule to rule. A policy that cannot serve a size
 * (policy.largest) leaves it to the next rule, at the end to `native`: the last rule of a parsed route always serves
 * all that is left, so where the text does not say so a rule `native` is added, and the printed form shows it.
 *
 * Sizes are compared as they are, not rounded to classes: of a class that UPTO cuts in two (blocks of 1024 bytes and
 * `thread:1000`) a caller who asks with the block's size gets the rule behind.
 *
 * Pure functions: no allocation, errno kept, any thread, used by the library and by the tools.
 */
#ifndef POOLMARK_ROUTE_H
#define POOLMARK_ROUTE_H

#include "policy.h"

enum {
    ROUTE_RULES = 8,  // with the added `native`
    ROUTE_TEXT = 256, // bytes that hold every printed route, with its NUL
};

struct route_rule {
    const struct policy *policy;
    size_t upto; // bytes, inclusive, at most policy->largest; SIZE_MAX for the last rule
};

struct route {
    struct route_rule rules[ROUTE_RULES];
    unsigned count; // at least 1
};

struct route_preset {
    const char *name, *route, *summary;
};

extern HIDDEN const struct route_preset route_presets[]; // ends with name == NULL

/*
 * Parses `text`. On success returns true and fills *ret. Else false, and `why` (of `size` bytes) says in one line what
 * is wrong and what is accepted, with "did you mean `thread`?" where a name is within two edits of a known one.
 */
HIDDEN bool route_parse(const char *text, struct route *ret, char *why, size_t size);

/* The route of a process that has named none: `balanced`, or native alone if that cannot be had. */
HIDDEN void route_default(struct route *ret);

/* Writes the canonical form ("thread:32K,array:1M,native"); returns its length, cut at size. */
HIDDEN size_t route_print(const struct route *route, char *buffer, size_t size);

/* The policy that serves requests of `size` bytes; never NULL. */
HIDDEN const struct policy *route_policy(const struct route *route, size_t size);

#endif

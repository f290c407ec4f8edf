/*
 * A route: which policy serves which sizes, as written in POOL_POLICY.
 *
 *     thread:32K,array:1M,native     each policy serves sizes up to UPTO, the last one the rest
 *     balanced                       a preset: stands for another route
 *
 * A policy that cannot serve a size (policy.largest) leaves it to the next rule, at the end to `native`.
 * Pure functions: no allocation, any thread, used by the library and by the tools.
 */
#ifndef POOLMARK_ROUTE_H
#define POOLMARK_ROUTE_H

#include "policy.h"

enum { ROUTE_RULES = 8 };

struct route_rule {
    const struct policy *policy;
    size_t upto; // bytes, inclusive; SIZE_MAX for the last rule
};

struct route {
    struct route_rule rules[ROUTE_RULES];
    unsigned count;
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

/* Writes the canonical form ("thread:32K,array:1M,native"); returns its length, cut at size. */
HIDDEN size_t route_print(const struct route *route, char *buffer, size_t size);

/* The policy that serves requests of `size` bytes; never NULL. */
HIDDEN const struct policy *route_policy(const struct route *route, size_t size);

#endif

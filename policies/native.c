/*
 * Policy `native`: no pool at all; every call goes to the allocator that POOL_NATIVE names.
 *
 * The arm that all others are compared with, and the right choice for blocks too large or too rare to keep. Sizes are
 * rounded to what that allocator gives anyway, so the program may use all that it pays for.
 */
#include "interpose/policy.h"

const struct policy policy_native = {
    .name = "native",
    .summary = "no pool: every call goes to POOL_NATIVE",
    .largest = SIZE_MAX,
    .on_native = true,
    .block_size = native_block_size,
    .bin_capacity = policy_no_bin,
    .start = policy_nothing_to_start,
    .refill = native_alloc,
    .spill = block_drop,
    .leave = policy_nothing_to_leave,
    .trim = policy_nothing_to_trim,
    .stored = policy_nothing_stored,
    .forked = policy_nothing_to_fork,
};

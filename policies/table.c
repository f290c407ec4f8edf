/*
 * The table of policies, made of policies.def.
 */
#include "interpose/policy.h"

#define POLICY(name) extern HIDDEN const struct policy policy_##name;
#include "policies.def"
#undef POLICY

const struct policy *const policies[] = {
#define POLICY(name) &policy_##name,
#include "policies.def"
#undef POLICY
    NULL,
};

/*
 * The control group's folder and the numbers in its files, from the texts that kernels write.
 */
#include <criterion/criterion.h>

#include "interpose/memory_limit.h"

static char folder[64];
static bool v2;

Test(memory_limit, version_2)
{
    cr_assert(memory_limit_folder("0::/user.slice/a.scope\n", folder, sizeof(folder), &v2));
    cr_assert_str_eq(folder, "/sys/fs/cgroup/user.slice/a.scope");
    cr_assert(v2);
    cr_assert(memory_limit_folder("0::/\n", folder, sizeof(folder), &v2));
    cr_assert_str_eq(folder, "/sys/fs/cgroup");
}

Test(memory_limit, version_1_beside_others)
{
    cr_assert(memory_limit_folder("12:cpu,cpuacct:/c\n4:memory:/docker/7\n0::/x\n", folder, sizeof(folder), &v2));
    cr_assert_str_eq(folder, "/sys/fs/cgroup/memory/docker/7");
    cr_assert_not(v2);
}

Test(memory_limit, none_and_too_long)
{
    cr_assert_not(memory_limit_folder("", folder, sizeof(folder), &v2));
    cr_assert_not(memory_limit_folder("3:cpuset:/a\n", folder, sizeof(folder), &v2));
    cr_assert_not(memory_limit_folder("0::/a\n", folder, sizeof("/sys/fs/cgroup"), &v2));
}

Test(memory_limit, numbers)
{
    cr_assert_eq(memory_limit_number("max\n"), UINT64_MAX);
    cr_assert_eq(memory_limit_number("1073741824\n"), 1073741824);
    cr_assert_eq(memory_limit_number("0"), 0);
    cr_assert_eq(memory_limit_number(""), UINT64_MAX);
    cr_assert_gt(memory_limit_number("99999999999999999999999"), UINT64_MAX / 32, "no wrap");
}

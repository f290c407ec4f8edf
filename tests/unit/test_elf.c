/*
 * Symbols found by hand must be those that dlsym finds: plain ones, IFUNCs, default versions of names with several,
 * and those of the vdso, whose tables the loader has not relocated.
 */
#define _GNU_SOURCE
#include <criterion/criterion.h>

#include <dlfcn.h>
#include <sys/auxv.h>
#include <time.h>

#include "interpose/elf.h"

void *__tls_get_addr(void *index);

/* Through another path than the default handle, which may find a replacement first. */
static void *by_dlsym(const char *library, const char *name)
{
    void *handle = dlopen(library, RTLD_LAZY | RTLD_NOLOAD);
    cr_assert_not_null(handle, "%s is not loaded", library);
    return dlsym(handle, name);
}

static void check_same(const char *name)
{
    void *found = elf_symbol("libc.so.", name);
    cr_expect_not_null(found, "%s", name);
    cr_expect_eq(found, by_dlsym("libc.so.6", name), "%s", name);
}

Test(elf, plain_functions)
{
    static const char *const names[] = {"malloc", "free",   "execvpe",        "fexecve",   "sigaction",
                                        "puts",   "printf", "getenv",         "_exit",     "prctl",
                                        "abort",  "open",   "pthread_create", "quick_exit"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        check_same(names[i]);
}

Test(elf, data)
{
    check_same("environ");
    check_same("stdout");
}

Test(elf, functions_chosen_at_load)
{
    static const char *const names[] = {"memcpy", "strlen", "memset", "strchr", "time", "gettimeofday"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        check_same(names[i]);
    size_t (*length)(const char *) = elf_symbol("libc.so.", "strlen");
    cr_assert_eq(length("four"), 4);
}

Test(elf, default_of_several_versions)
{
    static const char *const names[] = {"memcpy",   "realpath", "posix_spawn", "pthread_cond_wait",  "fopen",
                                        "glob",     "regexec",  "quick_exit",  "sched_getaffinity",  "nftw",
                                        "fmemopen", "dlsym",    "dlopen",      "pthread_cond_signal"};
    for (size_t i = 0; i < ARRAY_LENGTH(names); i++)
        check_same(names[i]);
}

Test(elf, versions_that_are_not_default_do_not_exist)
{
    cr_expect_null(elf_symbol("libc.so.", "__malloc_initialize_hook"));
    cr_expect_null(elf_symbol("libc.so.", "__malloc_hook"));
    cr_expect_null(elf_symbol("libc.so.", "gets_that_never_was"));
    cr_expect_null(elf_symbol("libc.so.", ""));
}

Test(elf, thread_variables_have_no_address)
{
    cr_expect_null(elf_symbol("libc.so.", "errno"));
}

Test(elf, library_by_prefix_of_its_file_name)
{
    cr_expect_not_null(elf_symbol("ld-linux", "__tls_get_addr")); // sanitizers put their own before it
    cr_expect_null(elf_symbol("libnothing.so.", "malloc"));
    cr_expect_null(elf_symbol("ibc.so.", "malloc"));
}

Test(elf, unrelocated_tables_of_the_vdso)
{
    if (getauxval(AT_SYSINFO_EHDR) == 0)
        return;
    int (*clock)(clockid_t, struct timespec *) = elf_symbol("linux-vdso.so.", "__vdso_clock_gettime");
    cr_assert_not_null(clock);
    struct timespec now = {0};
    cr_assert_eq(clock(CLOCK_MONOTONIC, &now), 0);
    cr_assert_gt(now.tv_sec + now.tv_nsec, 0);
}

Test(elf, errno_is_kept)
{
    errno = 42;
    elf_symbol("libc.so.", "malloc");
    elf_symbol("libc.so.", "no_such_function");
    cr_assert_eq(errno, 42);
}

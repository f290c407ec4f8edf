/*
 * exec*: the program is replaced, and with it the counters.
 *
 * Whether an exec succeeds is known only when it does not come back. So the dump is made first, if the file is there
 * and may be run; if the exec comes back all the same (a script without #!, too many arguments), the end is taken back
 * and a later dump replaces this one. A child of vfork shares our memory and only makes the call.
 *
 * The functions of libc that search PATH call its execve by a name of their own, not through us. execl and its like
 * put their arguments in an array on the stack, as libc does: they may be called where malloc may not.
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <limits.h>
#include <stdarg.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "elf.h"
#include "end.h"

/* Whether the file is one that exec would take, as far as can be seen from outside. */
static bool runs_at(int folder, const char *path, int flags)
{
    struct stat stat;
    if (fstatat(folder, path, &stat, flags & (AT_EMPTY_PATH | AT_SYMLINK_NOFOLLOW)) != 0 || !S_ISREG(stat.st_mode))
        return false;
    if (flags & AT_EMPTY_PATH) // faccessat may not know it; the mode is nearly as good
        return stat.st_mode & (S_IXUSR | S_IXGRP | S_IXOTH);
    return faccessat(folder, path, X_OK, AT_EACCESS) == 0;
}

/* The same for a name that is looked for in the folders of PATH; an empty one is the current folder. */
static bool runs_on_path(const char *file)
{
    if (strchr(file, '/'))
        return runs_at(AT_FDCWD, file, 0);
    const char *folders = getenv("PATH");
    if (!folders)
        folders = "/bin:/usr/bin"; // what confstr(_CS_PATH) says
    size_t file_length = strlen(file);
    char path[PATH_MAX];
    for (const char *end; file_length != 0; folders = end + 1) {
        end = strchrnul(folders, ':');
        size_t length = (size_t)(end - folders);
        if (length + 1 + file_length < sizeof(path)) {
            memcpy(path, folders, length);
            path[length] = '/';
            memcpy(path + length + (length != 0), file, file_length + 1);
            if (runs_at(AT_FDCWD, path, 0))
                return true;
        }
        if (*end == '\0')
            break;
    }
    return false;
}

/* Dumps if the exec is ours to tell and `runs`; tells whether it did. Keeps errno. */
static bool announce_at(int folder, const char *path, int flags)
{
    int saved = errno;
    bool dumped = end_is_possible() && path && runs_at(folder, path, flags) && end_dump(END_EXEC, 0);
    errno = saved;
    return dumped;
}

static bool announce_on_path(const char *file)
{
    int saved = errno;
    bool dumped = end_is_possible() && file && runs_on_path(file) && end_dump(END_EXEC, 0);
    errno = saved;
    return dumped;
}

/* The exec came back. */
static int came_back(bool dumped, int result)
{
    if (dumped)
        end_withdraw();
    return result;
}

static int exec_path(const char *path, char *const argv[], char *const envp[])
{
    bool dumped = announce_at(AT_FDCWD, path, 0);
    return came_back(dumped, (int)syscall(SYS_execve, path, argv, envp));
}

static int exec_search(const char *file, char *const argv[], char *const envp[])
{
    int (*real)(const char *, char *const[], char *const[]) = elf_symbol("libc.so.", "execvpe");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    bool dumped = announce_on_path(file);
    return came_back(dumped, real(file, argv, envp));
}

EXPORT int execve(const char *path, char *const argv[], char *const envp[])
{
    return exec_path(path, argv, envp);
}

EXPORT int execv(const char *path, char *const argv[])
{
    return exec_path(path, argv, environ);
}

EXPORT int execvp(const char *file, char *const argv[])
{
    return exec_search(file, argv, environ);
}

EXPORT int execvpe(const char *file, char *const argv[], char *const envp[])
{
    return exec_search(file, argv, envp);
}

EXPORT int execveat(int folder, const char *path, char *const argv[], char *const envp[], int flags)
{
    bool dumped = announce_at(folder, path, flags);
    return came_back(dumped, (int)syscall(SYS_execveat, folder, path, argv, envp, flags));
}

EXPORT int fexecve(int fd, char *const argv[], char *const envp[])
{
    int (*real)(int, char *const[], char *const[]) = elf_symbol("libc.so.", "fexecve");
    if (!real) {
        errno = ENOSYS;
        return -1;
    }
    bool dumped = announce_at(fd, "", AT_EMPTY_PATH);
    return came_back(dumped, real(fd, argv, envp));
}

/* The number of arguments up to the NULL, which is the last that is taken. */
static size_t count_list(const char *first, va_list *list)
{
    size_t count = 0;
    for (const char *next = first; next; next = va_arg(*list, const char *))
        count++;
    return count;
}

/* argv[0..count] from a list that ends with NULL. */
static void fill_argv(char **argv, size_t count, const char *first, va_list *list)
{
    argv[0] = (char *)first;
    for (size_t i = 1; i <= count; i++)
        argv[i] = va_arg(*list, char *);
}

EXPORT int execl(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_list(first, &list);
    va_end(list);
    char *argv[count + 1];
    va_start(list, first);
    fill_argv(argv, count, first, &list);
    va_end(list);
    return exec_path(path, argv, environ);
}

EXPORT int execlp(const char *file, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_list(first, &list);
    va_end(list);
    char *argv[count + 1];
    va_start(list, first);
    fill_argv(argv, count, first, &list);
    va_end(list);
    return exec_search(file, argv, environ);
}

EXPORT int execle(const char *path, const char *first, ...)
{
    va_list list;
    va_start(list, first);
    size_t count = count_list(first, &list);
    va_end(list);
    char *argv[count + 1];
    va_start(list, first);
    fill_argv(argv, count, first, &list);
    char **envp = va_arg(list, char **);
    va_end(list);
    return exec_path(path, argv, envp);
}

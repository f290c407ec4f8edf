/*
 * A fresh folder for each test of the dump, which is a process of its own (Criterion forks); stderr is the file `said`.
 */
#ifndef POOLMARK_DUMP_FOLDER_H
#define POOLMARK_DUMP_FOLDER_H

#include "sample_page.h"

#include <criterion/criterion.h>

#include <dirent.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "interpose/dump.h"
#include "interpose/message.h"

static char folder[PATH_MAX];

static inline const char *read_file(const char *path)
{
    static char text[1 << 16];
    int fd = open(path, O_RDONLY);
    cr_assert(fd >= 0, "%s: %m", path);
    ssize_t count = read(fd, text, sizeof(text) - 1);
    close(fd);
    text[count > 0 ? count : 0] = 0;
    return text;
}

static inline void write_file(const char *path, const char *text)
{
    int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0644);
    cr_assert(fd >= 0, "%s: %m", path);
    cr_assert_eq(write(fd, text, strlen(text)), (ssize_t)strlen(text));
    close(fd);
}

static inline const char *said(void)
{
    return read_file("said");
}

/* Files in the folder besides `said`. */
static inline unsigned count_files(const char *path)
{
    unsigned count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *entry; (entry = readdir(dir));)
        count += strcmp(entry->d_name, ".") && strcmp(entry->d_name, "..") && strcmp(entry->d_name, "said");
    closedir(dir);
    return count;
}

/* Dumps the sample to `target`, a text that the environment might hold. */
static inline bool dump_to(const char *target)
{
    dump_start(target);
    return dump_write(sample_page());
}

static inline void folder_start(void)
{
    char name[] = "/tmp/test-dump-XXXXXX";
    cr_assert(mkdtemp(name));
    cr_assert(realpath(name, folder));
    cr_assert_eq(chdir(folder), 0);
    int fd = open("said", O_RDWR | O_CREAT | O_APPEND, 0600);
    dup2(fd, STDERR_FILENO);
    close(fd);
    message_start();
}

static inline void folder_stop(void)
{
    char command[PATH_MAX + 16];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(system(command), 0);
}

#endif

/*
 * A file is read, not mapped: a file that somebody truncates can then not kill us, and the numbers of a process that
 * still runs do not change between two looks. Only the shards in use are read, so the copy is small.
 */
#include "tools/page_file.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { SHARDS_MOST = 1 << 16 };

bool page_file_is_name(const char *name)
{
    static const char digits[] = "0123456789";
    for (unsigned part = 0; part < 3; part++) {
        size_t length = strspn(name, digits);
        if (!length)
            return false;
        name += length;
        if (part < 2 && *name++ != '-')
            return false;
    }
    return !strcmp(name, ".pool");
}

static bool read_all(int fd, void *buffer, size_t bytes, off_t at)
{
    for (size_t done = 0; done < bytes;) {
        ssize_t got = pread(fd, (char *)buffer + done, bytes - done, at + (off_t)done);
        if (got <= 0)
            return false;
        done += (size_t)got;
    }
    return true;
}

/* Why the head of the file is no page that we can use; NULL if it is one. */
static const char *find_fault(const struct page *head, size_t file_bytes)
{
    if (memcmp(head->magic, PAGE_MAGIC, sizeof head->magic))
        return "it is no page of counters";
    if (head->layout != PAGE_LAYOUT)
        return "it was written by another version";
    if (head->shard_count > SHARDS_MOST || head->shard_offset < sizeof *head || head->shard_offset % 8 ||
        head->shard_size < sizeof(struct shard) || head->shard_size % 8 || head->shard_offset > file_bytes)
        return "its layout is damaged";
    if (head->shard_size > (file_bytes - head->shard_offset) / (head->shard_count ? head->shard_count : 1))
        return "it is truncated";
    if (head->shards_used > head->shard_count || head->class_count > CLASS_COUNT ||
        head->policy_count > PAGE_POLICIES || head->setting_count > PAGE_SETTINGS ||
        head->warning_count > PAGE_WARNINGS || head->tick_count > PAGE_TIMELINE)
        return "its counts are damaged";
    for (unsigned class = 0; class < CLASS_COUNT; class ++)
        if (head->class_policy[class] >= PAGE_POLICIES)
            return "its classes are damaged";
    return NULL;
}

#define END_TEXT(field) ((field)[sizeof(field) - 1] = '\0')

static void end_texts(struct page *page)
{
    END_TEXT(page->version);
    END_TEXT(page->program);
    END_TEXT(page->host);
    END_TEXT(page->route);
    END_TEXT(page->argv);
    for (unsigned i = 0; i < PAGE_POLICIES; i++)
        END_TEXT(page->policies[i].name);
    for (unsigned i = 0; i < PAGE_SETTINGS; i++) {
        END_TEXT(page->settings[i].name);
        END_TEXT(page->settings[i].value);
    }
    for (unsigned i = 0; i < PAGE_WARNINGS; i++)
        END_TEXT(page->warnings[i]);
    unsigned ends = 0;
    for (unsigned i = 0; i < sizeof page->argv; i++)
        ends += !page->argv[i];
    if (page->argc > ends)
        page->argc = ends;
}

static struct page *read_page(int fd, size_t file_bytes, const char **why)
{
    struct page *page = malloc(sizeof *page);
    *why = "out of memory";
    if (page && !read_all(fd, page, sizeof *page, 0)) {
        *why = "it is truncated";
        goto fail;
    }
    if (!page || (*why = find_fault(page, file_bytes)))
        goto fail;
    *why = "out of memory";
    size_t offset = page->shard_offset, bytes = (size_t)page->shards_used * page->shard_size;
    struct page *whole = realloc(page, offset + bytes);
    if (!whole)
        goto fail;
    page = whole;
    *why = "it is truncated";
    if (!read_all(fd, (char *)page + offset, bytes, (off_t)offset))
        goto fail;
    end_texts(page);
    return page;
fail:
    free(page);
    return NULL;
}

struct page *page_file_read(int folder, const char *name, char *why, size_t size)
{
    struct stat status;
    const char *fault = "it cannot be opened";
    struct page *page = NULL;
    int fd = openat(folder, name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    if (fd >= 0 && !fstat(fd, &status)) {
        fault = "it is no regular file";
        if (S_ISREG(status.st_mode))
            page = read_page(fd, (size_t)status.st_size, &fault);
    }
    if (fd >= 0)
        close(fd);
    if (!page)
        snprintf(why, size, "%s", fault);
    return page;
}

int64_t page_file_resident(const struct page *page, bool *ret_least)
{
    *ret_least = page->resident.peak <= 0;
    if (!*ret_least)
        return page->resident.peak;
    int64_t largest = -1;
    for (unsigned i = 0; i < page->tick_count; i++)
        if (page->timeline[i].resident > largest)
            largest = page->timeline[i].resident;
    return largest;
}

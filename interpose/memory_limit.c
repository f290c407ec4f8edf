/*
 * Version 2 of control groups has one line "0::PATH" in /proc/self/cgroup, and memory.max in the folder PATH below
 * /sys/fs/cgroup; version 1 a line "N:memory:PATH" and memory.limit_in_bytes below /sys/fs/cgroup/memory. Inside a
 * container PATH may be one of outside, which is not there: then the mount's root is the group.
 */
#include "memory_limit.h"

#include "os.h"

enum { TEXT = 4096, PATH = 512, NEAR_TENTHS = 9 };

static const char *find_line(const char *cgroup, const char *tag)
{
    for (const char *line = cgroup; line && *line; line = strchr(line, '\n'), line += line ? 1 : 0) {
        const char *first = strchr(line, ':');
        if (first && strncmp(first, tag, strlen(tag)) == 0)
            return first + strlen(tag);
    }
    return NULL;
}

/* Appends up to the end of the line; false if it does not fit. */
static bool append(char *to, size_t size, const char *text)
{
    size_t used = strlen(to), length = (size_t)(strchrnul(text, '\n') - text);
    if (used + length >= size)
        return false;
    memcpy(to + used, text, length);
    to[used + length] = '\0';
    return true;
}

bool memory_limit_folder(const char *cgroup, char *ret, size_t size, bool *ret_v2)
{
    const char *path = find_line(cgroup, ":memory:");
    *ret_v2 = !path;
    if (!path)
        path = find_line(cgroup, "::");
    ret[0] = '\0';
    return path && append(ret, size, *ret_v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory") &&
           append(ret, size, strncmp(path, "/\n", 2) == 0 ? "" : path);
}

uint64_t memory_limit_number(const char *text)
{
    if (*text < '0' || *text > '9')
        return UINT64_MAX;
    uint64_t number = 0;
    for (; *text >= '0' && *text <= '9'; text++)
        number = number > UINT64_MAX / 16 ? UINT64_MAX / 16 : number * 10 + (uint64_t)(*text - '0');
    return number;
}

static uint64_t read_number(const char *folder, const char *name)
{
    char path[PATH + 64], text[64];
    path[0] = '\0';
    if (!append(path, sizeof(path), folder) || !append(path, sizeof(path), name) ||
        !os_read_file(path, text, sizeof(text)))
        return UINT64_MAX;
    return memory_limit_number(text);
}

static bool is_near(const char *folder, bool v2)
{
    uint64_t limit = read_number(folder, v2 ? "/memory.max" : "/memory.limit_in_bytes");
    uint64_t now = read_number(folder, v2 ? "/memory.current" : "/memory.usage_in_bytes");
    return limit != UINT64_MAX && now != UINT64_MAX && now / NEAR_TENTHS >= limit / 10;
}

bool memory_limit_is_near(void)
{
    char text[TEXT], folder[PATH];
    bool v2;
    if (!os_read_file("/proc/self/cgroup", text, sizeof(text)) ||
        !memory_limit_folder(text, folder, sizeof(folder), &v2))
        return false;
    return is_near(folder, v2) || is_near(v2 ? "/sys/fs/cgroup" : "/sys/fs/cgroup/memory", v2);
}

/*
 * The dump's way out.
 *
 * A file is made in three steps: look at what is there, write a temporary file beside it, rename. The folder is opened
 * once and all three go through its descriptor, so they see the same folder whatever happens to its path meanwhile.
 * The target itself is never opened: a fifo without a reader, a device or a tape cannot hold the program's end up.
 *
 * Descriptors 0, 1 and 2 may be closed, and the program (or the next one, after exec) may open them as its own: ours
 * are moved above them at once. What cannot be written is said in one line and costs the program nothing else.
 *
 * A symlink to a folder counts as the folder, for replacing it would lose the user's files to a name. A symlink to
 * anything else is replaced, except where it is a way to a device (/dev/stderr): root would destroy the system's.
 *
 * Dropped: O_TMPFILE and linkat, since not all file systems have the first and the second does not replace; keeping
 * the folder open from the start, since programs that close all descriptors would get ours as their own.
 */
#include "dump.h"

#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "message.h"
#include "os.h"
#include "report.h"

enum {
    DUMP_BUFFER = 4096,
    DUMP_TRIES = 10,      // temporary names tried: a killed process with our pid may have left some
    DUMP_NAME_KEPT = 200, // bytes of the target's name in the temporary one, which adds some 20
};

static const char default_name[] = "/poolmark.%n.%p.json";
static const char discarded[] = ""; // no fault: the target swallows everything

static struct {
    const char *target;    // fixed after dump_start; NULL: no dump
    bool is_stderr;        // fixed after dump_start
    char folder[PATH_MAX]; // fixed after dump_start: what a relative path is relative to; "": not known
} state;

/* What is known about the file while it is made. */
struct file {
    char path[PATH_MAX];
    char temporary[NAME_MAX + 1];
    const char *name; // last part of path
    int folder;       // descriptor
};

void dump_start(const char *target)
{
    int saved = errno;
    bool is_off = !target || !*target || strcmp(target, "off") == 0;
    state.target = is_off ? NULL : target;
    state.is_stderr = !is_off && strcmp(target, "stderr") == 0;
    state.folder[0] = 0;
    // the system call, since getcwd of libc may allocate; a folder out of reach does not begin with '/'
    if (!is_off && !state.is_stderr && target[0] != '/')
        if (syscall(SYS_getcwd, state.folder, sizeof(state.folder)) < 0 || state.folder[0] != '/')
            state.folder[0] = 0;
    errno = saved;
}

bool dump_goes_to_stderr(void)
{
    return state.is_stderr;
}

bool dump_wanted(void)
{
    return state.target != NULL;
}

/* The number after a line's key in /proc/self/status, in bytes; -1 if there is none. */
static int64_t status_bytes(const char *status, const char *key)
{
    const char *at = strstr(status, key);
    if (!at)
        return -1;
    at += strlen(key);
    while (*at == ' ' || *at == '\t')
        at++;
    if (*at < '0' || *at > '9')
        return -1;
    int64_t n = 0;
    for (; *at >= '0' && *at <= '9'; at++)
        n = n * 10 + (*at - '0');
    return n * 1024;
}

void dump_read_resident(struct page *page)
{
    char status[DUMP_BUFFER];
    if (!os_read_file("/proc/self/status", status, sizeof(status)))
        return;
    int64_t now = status_bytes(status, "\nVmRSS:"), peak = status_bytes(status, "\nVmHWM:");
    if (now < 0 || peak < now)
        return;
    // a new peak (or a forked child's own) is now, or was at some moment since the last look, which nobody knows
    if (peak != page->resident.peak)
        page->resident.peak_at = peak == now ? os_clock() - page->start_clock : 0;
    page->resident.now = now;
    page->resident.peak = peak;
    page->resident.bound = peak;
}

/* An expansion becomes part of one name: it must not lead to another folder, or hide the file. */
static void expand_name(struct report_out *path, const char *text, size_t limit)
{
    size_t count = strnlen(text, limit);
    for (size_t i = 0; i < count; i++) {
        bool bad = text[i] == '/' || (i == 0 && text[i] == '.');
        print_bytes(path, bad ? "_" : text + i, 1);
    }
}

static void expand(struct report_out *path, const char *pattern, const struct page *from)
{
    for (const char *at = pattern; *at; at++) {
        size_t consumed = *at == '%' ? 1 : 0;
        if (consumed && at[1] == 'p')
            print_text(path, word_number(from->pid).text);
        else if (consumed && at[1] == 'n')
            expand_name(path, from->program, sizeof(from->program));
        else if (consumed && at[1] == 'h')
            expand_name(path, from->host, sizeof(from->host));
        else if (consumed && at[1] == 't')
            print_text(path, word_time_compact(from->start_real).text);
        else if (consumed && at[1] == '%')
            print_text(path, "%");
        else {
            print_bytes(path, at, 1);
            consumed = 0;
        }
        at += consumed;
    }
}

/* Builds file->path; false if it is too long. */
static bool make_path(struct file *file, const struct page *from)
{
    struct report_out path = {.buffer = file->path, .size = sizeof(file->path) - 1};
    if (state.target[0] != '/' && state.folder[0]) {
        print_text(&path, state.folder);
        print_text(&path, "/");
    }
    expand(&path, state.target, from);
    file->path[path.used] = 0;
    struct stat there;
    if (!path.failed && stat(file->path, &there) == 0 && S_ISDIR(there.st_mode))
        expand(&path, default_name, from);
    file->path[path.used] = 0;
    return !path.failed;
}

/* Moves a descriptor off 0, 1 and 2. */
static int above_stderr(int fd)
{
    if (fd < 0 || fd > STDERR_FILENO)
        return fd;
    int high = fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
    int error = errno;
    close(fd);
    errno = error;
    return high;
}

/* What errno means: a constant table of libc, without locale. */
static const char *error_text(int error)
{
    const char *text = strerrordesc_np(error);
    return text ? text : "unknown error";
}

/* Opens the folder of file->path and finds the name in it. NULL, or why it failed. */
static const char *open_folder(struct file *file)
{
    char *slash = strrchr(file->path, '/');
    file->name = slash ? slash + 1 : file->path;
    if (!*file->name)
        return "there is no such folder";
    const char *folder = !slash ? "." : slash == file->path ? "/" : file->path;
    if (slash)
        *slash = 0;
    file->folder = above_stderr(open(folder, O_PATH | O_DIRECTORY | O_CLOEXEC));
    int error = errno;
    if (slash)
        *slash = '/';
    return file->folder < 0 ? error_text(error) : NULL;
}

/* Whether what the name stands for may be replaced. NULL if so, else why not; `discarded` for /dev/null. */
static const char *check_target(const struct file *file)
{
    struct stat there;
    if (fstatat(file->folder, file->name, &there, AT_SYMLINK_NOFOLLOW) != 0)
        return errno == ENOENT ? NULL : error_text(errno);
    if (S_ISREG(there.st_mode))
        return NULL;
    if (S_ISLNK(there.st_mode)) {
        bool is_system = strncmp(file->path, "/dev/", 5) == 0 && file->name == file->path + 5;
        bool leads_on = fstatat(file->folder, file->name, &there, 0) == 0 && !S_ISREG(there.st_mode);
        if (!is_system && !leads_on)
            return NULL;
    }
    if (S_ISCHR(there.st_mode) && there.st_rdev == makedev(1, 3))
        return discarded;
    return "the target is no regular file";
}

/* Makes the temporary file; returns its descriptor, or -1 and errno. */
static int open_temporary(struct file *file, const struct page *from)
{
    int fd = -1;
    for (unsigned try = 0; try < DUMP_TRIES && fd < 0; try++) {
        struct report_out name = {.buffer = file->temporary, .size = sizeof(file->temporary) - 1};
        print_text(&name, ".");
        print_bytes(&name, file->name, strnlen(file->name, DUMP_NAME_KEPT));
        print_text(&name, ".");
        print_text(&name, word_number(from->pid).text);
        print_text(&name, ".tmp");
        print_text(&name, word_number(try).text);
        file->temporary[name.used] = 0;
        fd = openat(file->folder, file->temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd < 0 && errno != EEXIST)
            return -1;
    }
    int high = above_stderr(fd);
    if (high < 0 && fd >= 0) {
        int error = errno;
        unlinkat(file->folder, file->temporary, 0);
        errno = error;
    }
    return high;
}

static bool flush(struct report_out *out)
{
    return message_write(*(const int *)out->context, out->buffer, out->used);
}

static bool render(const struct page *from, enum report_format format, int fd)
{
    char buffer[DUMP_BUFFER];
    struct report_out out = {.buffer = buffer, .size = sizeof(buffer), .flush = flush, .context = &fd};
    return report_render(from, format, &out);
}

static enum report_format format_of(const char *name)
{
    const char *dot = strrchr(name, '.');
    if (dot && strcmp(dot, ".json") == 0)
        return REPORT_JSON;
    return dot && strcmp(dot, ".prom") == 0 ? REPORT_PROM : REPORT_TEXT;
}

/* Writes the file and gives it its name. NULL, or why it failed. */
static const char *put_file(struct file *file, const struct page *from)
{
    int fd = open_temporary(file, from);
    if (fd < 0)
        return error_text(errno);
    const char *fault = render(from, format_of(file->name), fd) ? NULL : "it could not be written whole";
    if (close(fd) != 0 && errno != EINTR && !fault)
        fault = error_text(errno); // a full quota may show up here only
    if (!fault && syscall(SYS_renameat, file->folder, file->temporary, file->folder, file->name) != 0)
        fault = error_text(errno);
    if (fault)
        unlinkat(file->folder, file->temporary, 0);
    return fault;
}

static bool write_file(const struct page *from)
{
    struct file file;
    const char *fault = make_path(&file, from) ? open_folder(&file) : "the path is too long";
    if (!fault) {
        fault = check_target(&file);
        if (!fault)
            fault = put_file(&file, from);
        close(file.folder);
    }
    if (fault && fault != discarded)
        message_line("no dump: %s: %s", fault, file.path);
    return !fault || fault == discarded;
}

bool dump_write(const struct page *from)
{
    if (!state.target)
        return false;
    int saved = errno, cancel;
    bool done = false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &cancel); // open and close are cancellation points
    if (!state.is_stderr)
        done = write_file(from);
    else if (message_stderr_is_original())
        done = render(from, REPORT_TEXT, STDERR_FILENO);
    pthread_setcancelstate(cancel, NULL);
    errno = saved;
    return done;
}

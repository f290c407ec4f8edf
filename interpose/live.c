/*
 * The folder is the user's own ($XDG_RUNTIME_DIR/poolmark, else /dev/shm/poolmark-UID) or a named one. The default
 * folder is made if it is missing, and used only if it belongs to us and nobody else may write to it.
 */
#include "live.h"

#include "counters.h"
#include "message.h"
#include "options.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PATH_BYTES = 4096 + 80, IMAGES = 10000, LOW_FDS = 3 };

static char folder[4096]; // fixed after start

static bool default_folder(void)
{
    const char *runtime = secure_getenv("XDG_RUNTIME_DIR");
    if (runtime && runtime[0] == '/' && strlen(runtime) < sizeof(folder) - 16)
        message_format(folder, sizeof(folder), "%s/poolmark", runtime);
    else
        message_format(folder, sizeof(folder), "/dev/shm/poolmark-%u", (unsigned)geteuid());
    mkdir(folder, 0700);
    struct stat is;
    return lstat(folder, &is) == 0 && S_ISDIR(is.st_mode) && is.st_uid == geteuid() && !(is.st_mode & 022);
}

/* A relative folder is relative to where the program started, not to where a forked child may have gone. */
static bool named_folder(const char *name)
{
    size_t used = 0;
    if (name[0] != '/') {
        if (syscall(SYS_getcwd, folder, sizeof(folder) - 1) < 0)
            return false;
        used = strlen(folder);
        folder[used++] = '/';
    }
    if (used + strlen(name) >= sizeof(folder))
        return false;
    strcpy(folder + used, name);
    return true;
}

static bool find_folder(const char *setting)
{
    return strcmp(setting, "on") == 0 ? default_folder() : named_folder(setting);
}

/* Descriptors 0 to 2 are the program's, also when they are closed. */
static int off_low_numbers(int fd)
{
    if (fd < 0 || fd >= LOW_FDS)
        return fd;
    int higher = fcntl(fd, F_DUPFD_CLOEXEC, LOW_FDS);
    syscall(SYS_close, fd);
    return higher;
}

static int make_file(char *path)
{
    for (unsigned image = 0; image < IMAGES; image++) {
        message_format(path, PATH_BYTES, "%s/%u-%lu-%u.pool", folder, page->pid, page->start_ticks, image);
        int fd = open(path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
        if (fd >= 0 || errno != EEXIST) {
            page->image = image;
            return off_low_numbers(fd);
        }
    }
    return -1;
}

/* A file that may not grow to the page's size: to try would raise SIGXFSZ. */
static bool is_too_large(void)
{
    struct rlimit limit;
    return getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur < counters_bytes();
}

static bool share(void)
{
    char path[PATH_BYTES];
    int fd = is_too_large() ? -1 : make_file(path);
    if (fd < 0)
        return false;
    bool done = ftruncate(fd, (off_t)counters_bytes()) == 0 && counters_share(fd);
    syscall(SYS_close, fd);
    if (!done)
        unlink(path);
    return done;
}

void live_start(void)
{
    const char *setting = option_values[OPTION_POOL_LIVE].text;
    if (!strcmp(setting, "off"))
        return;
    int saved = errno;
    if ((!folder[0] && !find_folder(setting)) || !share())
        message_line("POOL_LIVE: no page file can be made in %s; the numbers stay in memory", folder);
    errno = saved;
}

/*
 * The page in a file: its name, mode and content, where it may lie, and what a forked child gets.
 */
#include <criterion/criterion.h>

#include <dirent.h>
#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include "interpose/live.h"
#include "started.h"

static char folder[64], setting[96];
static FILE *said;

/* A fresh folder, POOL_LIVE set to `where` in it, and stderr kept for said_nothing. */
static void start_in(const char *where)
{
    strcpy(folder, "/tmp/test-live-XXXXXX");
    cr_assert_not_null(mkdtemp(folder));
    cr_assert_eq(chdir(folder), 0);
    said = tmpfile();
    dup2(fileno(said), STDERR_FILENO);
    snprintf(setting, sizeof(setting), "POOL_LIVE=%s%s", *where == '/' ? folder : "", where);
    start_core("POOL_POLICY=thread", "POOL_NATIVE=mmap", setting, NULL);
    live_start();
}

static void clean_up(void)
{
    char command[96];
    snprintf(command, sizeof(command), "rm -rf '%s'", folder);
    cr_assert_eq(chdir("/"), 0);
    cr_assert_eq(system(command), 0);
}

TestSuite(live, .fini = clean_up, .timeout = 60);

static bool said_nothing(void)
{
    struct stat is;
    return fstat(fileno(said), &is) == 0 && is.st_size == 0;
}

/* The name of image N of this process's file, in the current folder. */
static const char *file_name(unsigned image)
{
    static char name[96];
    snprintf(name, sizeof(name), "%d-%lu-%u.pool", getpid(), page->start_ticks, image);
    return name;
}

static unsigned count_files(const char *path)
{
    unsigned count = 0;
    DIR *dir = opendir(path);
    for (struct dirent *entry; dir && (entry = readdir(dir));)
        count += entry->d_name[0] != '.';
    closedir(dir);
    return count;
}

/* What a reader finds in the file. */
static const struct page *mapped_file(const char *name)
{
    int fd = open(name, O_RDWR);
    cr_assert_geq(fd, 0, "%s: %m", name);
    const struct page *other = os_map_file(fd, counters_bytes(), NULL);
    close(fd);
    cr_assert_not_null(other);
    return other;
}

Test(live, off_makes_nothing)
{
    start_in("off");
    cr_assert_eq(count_files("."), 0);
    cr_assert(said_nothing());
}

Test(live, file_is_private_whole_and_follows)
{
    umask(0);
    start_in("/");
    struct stat is;
    cr_assert_eq(stat(file_name(0), &is), 0, "%s: %m", file_name(0));
    cr_assert_eq(is.st_mode & 07777, 0600);
    cr_assert_eq((size_t)is.st_size, counters_bytes());
    cr_assert_eq(count_files("."), 1);
    cr_assert_eq(page->image, 0);
    const struct page *other = mapped_file(file_name(0));
    cr_assert_eq(memcmp(other->magic, PAGE_MAGIC, 8), 0);
    cr_assert_eq(other->pid, (uint32_t)getpid());
    void *block = take(5000);
    struct class_counts counts;
    counters_sum(other, class_of(5000), &counts);
    cr_assert_eq(counts.misses, 1);
    give(block);
    cr_assert(said_nothing());
}

Test(live, next_image_of_a_pid_has_the_next_number)
{
    start_in("/");
    live_start(); // as after exec
    cr_assert_eq(page->image, 1);
    cr_assert_eq(count_files("."), 2);
    page->total.held.peak = 4242;
    cr_assert_eq(mapped_file(file_name(1))->total.held.peak, 4242);
    cr_assert_neq(mapped_file(file_name(0))->total.held.peak, 4242);
}

Test(live, relative_folder_is_the_starts)
{
    start_in("sub");
    cr_assert_not(said_nothing(), "it is not there");
    cr_assert_eq(mkdir("sub", 0700), 0);
    cr_assert_eq(chdir("/"), 0);
    live_start();
    cr_assert_eq(chdir(folder), 0);
    cr_assert_eq(count_files("sub"), 1);
}

Test(live, folder_that_cannot_be_costs_a_line_and_no_number)
{
    start_in("/missing");
    cr_assert_not(said_nothing());
    give(take(100));
    cr_assert_null(settled_fault(), "%s", settled_fault());
    cr_assert_eq(count_files("."), 0);
}

Test(live, file_that_may_not_grow_is_not_made)
{
    struct rlimit limit = {KiB(64), RLIM_INFINITY};
    cr_assert_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    start_in("/");
    cr_assert_eq(count_files("."), 0);
    give(take(100));
    cr_assert_null(settled_fault(), "%s", settled_fault());
}

Test(live, default_folder_is_the_users_own)
{
    char runtime[] = "/tmp/test-live-run-XXXXXX", path[96], command[96];
    cr_assert_not_null(mkdtemp(runtime));
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    start_in("on");
    snprintf(path, sizeof(path), "%s/poolmark", runtime);
    struct stat is;
    cr_assert_eq(stat(path, &is), 0, "%m");
    cr_assert_eq(is.st_mode & 07777, 0700);
    cr_assert_eq(count_files(path), 1);
    cr_assert(said_nothing());
    snprintf(command, sizeof(command), "rm -rf '%s'", runtime);
    cr_assert_eq(system(command), 0);
}

Test(live, default_folder_that_others_may_write_to_is_not_used)
{
    char runtime[] = "/tmp/test-live-run-XXXXXX", path[96], command[96];
    cr_assert_not_null(mkdtemp(runtime));
    snprintf(path, sizeof(path), "%s/poolmark", runtime);
    cr_assert_eq(mkdir(path, 0700), 0);
    cr_assert_eq(chmod(path, 0777), 0);
    setenv("XDG_RUNTIME_DIR", runtime, 1);
    start_in("on");
    cr_assert_eq(count_files(path), 0);
    cr_assert_not(said_nothing());
    snprintf(command, sizeof(command), "rm -rf '%s'", runtime);
    cr_assert_eq(system(command), 0);
}

Test(live, symlink_in_the_files_place_is_not_followed)
{
    start_in("/");
    char target[96];
    snprintf(target, sizeof(target), "%s/target", folder);
    cr_assert_eq(symlink(target, file_name(1)), 0);
    live_start();
    cr_assert_eq(page->image, 2);
    cr_assert_neq(access(target, F_OK), 0);
}

static bool child_has_its_own(void)
{
    process_forked();
    take(4000);
    const struct page *own = mapped_file(file_name(0));
    struct class_counts counts;
    counters_sum(own, class_of(4000), &counts);
    return count_files(".") == 2 && own->pid == (uint32_t)getpid() && own->inherited && counts.misses == 1;
}

Test(live, child_has_a_file_of_its_own)
{
    start_in("/");
    take(100);
    const struct page *before = mapped_file(file_name(0));
    cr_assert_eq(in_child(child_has_its_own), 0);
    struct class_counts counts;
    counters_sum(before, class_of(4000), &counts);
    cr_assert_eq(counts.misses, 0, "and leaves its parent's alone");
    cr_assert_eq(before->pid, (uint32_t)getpid());
    take(5000);
    counters_sum(before, class_of(5000), &counts);
    cr_assert_eq(counts.misses, 1, "which goes on");
}

Test(live, low_descriptors_stay_the_programs)
{
    start_in("off");
    option_values[OPTION_POOL_LIVE].text = folder;
    close(0);
    live_start();
    cr_assert_eq(count_files("."), 1);
    cr_assert_eq(open("/dev/null", O_RDONLY), 0, "0 is still closed");
}

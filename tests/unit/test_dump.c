/*
 * The dump's way out: where it goes, what it may replace, and that it arrives whole or not at all.
 */
#include "dump_folder.h"
#include "stack_use.h"

#include <jansson.h>
#include <pthread.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <sys/wait.h>

TestSuite(dump, .init = folder_start, .fini = folder_stop, .timeout = 60);

/* ---- where it goes ---- */

Test(dump, off_wants_nothing)
{
    const char *const none[] = {NULL, "", "off"};
    for (unsigned i = 0; i < ARRAY_LENGTH(none); i++) {
        cr_assert_not(dump_to(none[i]));
        cr_assert_not(dump_wanted());
    }
    cr_assert_eq(count_files("."), 0);
    cr_assert_str_eq(said(), "");
}

Test(dump, stderr_gets_text)
{
    cr_assert(dump_to("stderr"));
    cr_assert(dump_wanted());
    cr_assert_eq(strncmp(said(), "poolmark: sort, pid 4242", 24), 0);
}

Test(dump, stderr_that_became_a_data_file_is_left_alone)
{
    int fd = open("data", O_RDWR | O_CREAT, 0600);
    dup2(fd, STDERR_FILENO);
    cr_assert_not(dump_to("stderr"));
    cr_assert_str_eq(read_file("data"), "");
}

Test(dump, format_follows_the_name)
{
    cr_assert(dump_to("x.json"));
    cr_assert_eq(strncmp(read_file("x.json"), "{\n  \"schema\"", 12), 0);
    cr_assert(dump_to("x.prom"));
    cr_assert_eq(strncmp(read_file("x.prom"), "# TYPE", 6), 0);
    cr_assert(dump_to("x.json.txt"));
    cr_assert_eq(strncmp(read_file("x.json.txt"), "poolmark: ", 10), 0);
    cr_assert(dump_to("x"));
    cr_assert_eq(strncmp(read_file("x"), "poolmark: ", 10), 0);
    cr_assert_eq(count_files("."), 4);
    cr_assert_str_eq(said(), "");
}

Test(dump, file_is_private)
{
    umask(0);
    cr_assert(dump_to("x"));
    struct stat there;
    cr_assert_eq(stat("x", &there), 0);
    cr_assert_eq(there.st_mode & 07777, 0600);
}

Test(dump, folder_gets_a_file_of_its_own)
{
    cr_assert_eq(mkdir("dir", 0700), 0);
    cr_assert_eq(symlink("dir", "link"), 0);
    cr_assert(dump_to("dir"));
    cr_assert_eq(access("dir/poolmark.sort.4242.json", F_OK), 0);
    cr_assert_eq(unlink("dir/poolmark.sort.4242.json"), 0);
    cr_assert(dump_to("link"));
    cr_assert_eq(access("dir/poolmark.sort.4242.json", F_OK), 0);
    cr_assert(dump_to("."));
    cr_assert_eq(access("poolmark.sort.4242.json", F_OK), 0);
}

Test(dump, names_are_expanded)
{
    static const char *const names[][2] = {
        {"%p", "4242"}, {"%n.%h", "sort.alder"},    {"%t", "20261130T222928Z"}, {"100%%", "100%"},
        {"%q%", "%q%"}, {"%s%99999d", "%s%99999d"}, {"a b;$(c)", "a b;$(c)"},
    };
    for (unsigned i = 0; i < ARRAY_LENGTH(names); i++) {
        cr_assert(dump_to(names[i][0]));
        cr_assert_eq(access(names[i][1], F_OK), 0, "%s made no %s", names[i][0], names[i][1]);
    }
    cr_assert_eq(count_files("."), ARRAY_LENGTH(names));
}

Test(dump, expansions_stay_in_their_folder)
{
    struct page *page = sample_page();
    strcpy(page->program, "../../evil");
    strcpy(page->host, "..");
    dump_start("%n.%h");
    cr_assert(dump_write(page));
    cr_assert_eq(access("_._.._evil._.", F_OK), 0);
}

Test(dump, relative_path_is_that_of_the_start)
{
    dump_start("x");
    cr_assert_eq(mkdir("dir", 0700), 0);
    cr_assert_eq(chdir("dir"), 0);
    cr_assert(dump_write(sample_page()));
    cr_assert_eq(access("../x", F_OK), 0);
    cr_assert_eq(count_files("."), 0);
}

Test(dump, start_in_a_vanished_folder_uses_the_path_as_it_is)
{
    cr_assert_eq(mkdir("gone", 0700), 0);
    cr_assert_eq(chdir("gone"), 0);
    cr_assert_eq(rmdir("../gone"), 0);
    dump_start("x");
    cr_assert_eq(chdir(folder), 0);
    cr_assert(dump_write(sample_page()));
    cr_assert_eq(access("x", F_OK), 0);
}

/* ---- what may be replaced ---- */

Test(dump, old_dump_is_replaced)
{
    write_file("x", "old");
    struct stat before, after;
    stat("x", &before);
    cr_assert(dump_to("x"));
    stat("x", &after);
    cr_assert_neq(before.st_ino, after.st_ino);
    cr_assert_eq(count_files("."), 1);
}

Test(dump, symlink_is_replaced_and_not_followed)
{
    write_file("other", "keep");
    cr_assert_eq(symlink("other", "x"), 0);
    cr_assert_eq(symlink("nowhere/at/all", "dangling"), 0);
    cr_assert_eq(symlink("loop", "loop"), 0);
    const char *const links[] = {"x", "dangling", "loop"};
    for (unsigned i = 0; i < ARRAY_LENGTH(links); i++) {
        struct stat there;
        cr_assert(dump_to(links[i]));
        cr_assert_eq(lstat(links[i], &there), 0);
        cr_assert(S_ISREG(there.st_mode));
    }
    cr_assert_str_eq(read_file("other"), "keep");
}

Test(dump, devices_and_pipes_are_left_alone)
{
    cr_assert_eq(mkfifo("fifo", 0600), 0);
    cr_assert_eq(symlink("fifo", "link"), 0);
    struct sockaddr_un address = {.sun_family = AF_UNIX, .sun_path = "socket"};
    cr_assert_eq(bind(socket(AF_UNIX, SOCK_STREAM, 0), (struct sockaddr *)&address, sizeof(address)), 0);
    const char *const targets[] = {"fifo", "link", "socket", "/dev/full", "/dev/stderr"};
    for (unsigned i = 0; i < ARRAY_LENGTH(targets); i++) {
        struct stat before, after;
        cr_assert_eq(lstat(targets[i], &before), 0);
        cr_assert_eq(truncate("said", 0), 0);
        cr_assert_not(dump_to(targets[i]));
        cr_assert_eq(lstat(targets[i], &after), 0);
        cr_assert_eq(before.st_ino, after.st_ino);
        cr_assert(strstr(said(), "no dump: the target is no regular file: /"), "%s: %s", targets[i], said());
        cr_assert(strstr(said(), targets[i]));
        cr_assert_eq(strchr(said(), '\n') - said(), (ptrdiff_t)strlen(said()) - 1);
    }
}

Test(dump, null_device_is_accepted)
{
    cr_assert(dump_to("/dev/null"));
    struct stat there;
    cr_assert_eq(stat("/dev/null", &there), 0);
    cr_assert(S_ISCHR(there.st_mode));
    cr_assert_str_eq(said(), "");
}

/* ---- whole or not at all ---- */

static void dump_often(void)
{
    struct page *page = sample_page();
    for (unsigned i = 0; i < 300; i++)
        dump_write(page);
}

Test(dump, readers_never_see_half_a_dump)
{
    cr_assert(dump_to("x.json"));
    pid_t pid = fork();
    if (!pid) {
        dump_often();
        _exit(0);
    }
    while (waitpid(pid, NULL, WNOHANG) == 0) {
        json_t *root = json_loads(read_file("x.json"), 0, NULL);
        cr_assert(root);
        json_decref(root);
    }
    cr_assert_eq(count_files("."), 1);
}

static void *dump_in_thread(void *unused)
{
    dump_often();
    return unused;
}

Test(dump, threads_may_dump_at_once)
{
    pthread_t threads[4];
    dump_start("x.json");
    for (unsigned i = 0; i < ARRAY_LENGTH(threads); i++)
        pthread_create(&threads[i], NULL, dump_in_thread, NULL);
    for (unsigned i = 0; i < ARRAY_LENGTH(threads); i++)
        pthread_join(threads[i], NULL);
    cr_assert_eq(count_files("."), 1);
    cr_assert_str_eq(said(), "");
}

static void *dump_cancelled(void *unused)
{
    pthread_cancel(pthread_self());
    dump_write(sample_page());
    return unused;
}

Test(dump, cancelled_thread_finishes_its_dump)
{
    pthread_t thread;
    dump_start("x");
    pthread_create(&thread, NULL, dump_cancelled, NULL);
    pthread_join(thread, NULL);
    cr_assert_eq(count_files("."), 1);
    cr_assert_eq(access("x", F_OK), 0);
}

Test(dump, errno_is_kept)
{
    errno = 1234;
    dump_to("missing/x");
    dump_to("x");
    dump_to("stderr");
    dump_read_resident(sample_page());
    cr_assert_eq(errno, 1234);
}

static void dump_all(void)
{
    struct page *page = sample_page();
    dump_start("x.json");
    dump_write(page);
    dump_start("x.prom");
    dump_write(page);
    dump_start("missing/x");
    dump_write(page);
    dump_read_resident(page);
}

Test(dump, fits_on_a_signal_stack)
{
    size_t used = stack_use(dump_all);
    cr_assert(used < stack_limit(14 << 10), "%zu bytes of stack", used);
    cr_assert_eq(count_files("."), 2);
}

/* ---- resident memory ---- */

Test(dump, resident_is_that_of_the_kernel)
{
    struct page *page = sample_page();
    page->resident = (struct level){0};
    page->start_clock = 1;
    dump_read_resident(page);
    cr_assert(page->resident.now > 100000 && page->resident.now <= page->resident.peak);
    cr_assert_eq(page->resident.bound, page->resident.peak);
    cr_assert_eq(page->resident.now % 1024, 0);
}

Test(dump, resident_peak_is_timed_only_where_it_is_known)
{
    struct page *page = sample_page();
    page->start_clock = 1;
    size_t bytes = MiB(64);
    void *block = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
    munmap(block, bytes);
    dump_read_resident(page); // the peak was since the last look, and is over by now
    cr_assert(page->resident.now < page->resident.peak);
    cr_assert_eq(page->resident.peak_at, 0);
    page->resident.peak_at = 77;
    dump_read_resident(page); // still the same peak
    cr_assert_eq(page->resident.peak_at, 77);
}

/*
 * sleeper THREADS BLOCK [fork|quick]: THREADS threads (0: the main one) allocate 128 MiB in blocks of BLOCK bytes, touch
 * and free them, then all only sleep. Says "fell" as soon as the resident memory is below half of its peak, "stayed" if
 * it is not after 8 s, and then the number of tasks and how many descriptors one of them that is not the program's has.
 * fork: a child does it, after its parent. quick: ends at once.
 */
#include <dirent.h>
#include <pthread.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include "../preload/programs/must.h"

enum { ALL = 128 << 20, WAIT = 80 };
static size_t threads, size;

static void *burst(void *sleeps)
{
    size_t count = ALL / size / (threads ? threads : 1);
    char **blocks = calloc(count, sizeof *blocks);
    for (size_t i = 0; i < count; i++)
        memset(blocks[i] = malloc(size), 1, size);
    for (size_t i = 0; i < count; i++)
        free(blocks[i]);
    free(blocks);
    while (sleeps)
        pause();
    return NULL;
}

static void start(void)
{
    pthread_t thread;
    for (size_t i = 0; i < threads; i++)
        MUST(pthread_create(&thread, NULL, burst, &threads) == 0);
    if (!threads)
        burst(NULL);
}

/* VmHWM in KiB. */
static long high_water(void)
{
    char line[256];
    long kib = 0;
    FILE *status = fopen("/proc/self/status", "r");
    while (status && fgets(line, sizeof line, status))
        sscanf(line, "VmHWM: %ld", &kib);
    if (status)
        fclose(status);
    return kib;
}

static int entries(const char *folder)
{
    int count = 0;
    DIR *listing = opendir(folder);
    while (listing && readdir(listing))
        count++;
    if (listing)
        closedir(listing);
    return count - 2;
}

/* Descriptors of the task that is called poolmark; -1: there is none. */
static int descriptors(void)
{
    int found = -1;
    DIR *tasks = opendir("/proc/self/task");
    for (struct dirent *task; (task = readdir(tasks));) {
        char path[300], name[32] = "";
        snprintf(path, sizeof path, "/proc/self/task/%.20s/comm", task->d_name);
        FILE *comm = fopen(path, "r");
        if (comm && fscanf(comm, "%31s", name) == 1 && !strcmp(name, "poolmark")) {
            snprintf(path, sizeof path, "/proc/self/task/%.20s/fd", task->d_name);
            found = entries(path);
        }
        if (comm)
            fclose(comm);
    }
    closedir(tasks);
    return found;
}

static void watch(void)
{
    bool fell = false;
    for (int i = 0; i < WAIT && !fell; i++) {
        nanosleep(&(struct timespec){.tv_nsec = 100000000}, NULL);
        long peak = high_water();
        fell = peak > (ALL >> 10) / 4 * 3 && resident() < peak / 2;
    }
    int ours = descriptors();
    printf("%s %d %d\n", fell ? "fell" : "stayed", entries("/proc/self/task"), ours);
}

int main(int argc, char **argv)
{
    threads = (size_t)atol(argv[1]);
    size = (size_t)atol(argv[2]);
    start();
    if (argc > 3 && !strcmp(argv[3], "quick"))
        return 0;
    watch();
    fflush(stdout);
    if (argc > 3 && fork() == 0) {
        start();
        watch();
        return 0;
    }
    wait(NULL);
    return 0;
}

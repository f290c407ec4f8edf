/*
 * poolmark run: a program, with all processes that it starts, under the library.
 *
 * Steps: find the library; make a folder for the counters; set the environment; run; read the counters of every
 * process; tell. Nothing of ours goes to stdout: that is the program's.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include "interpose/options.h"
#include "interpose/route.h"
#include "tools/arguments.h"
#include "tools/command.h"
#include "tools/json_out.h"
#include "tools/library.h"
#include "tools/live.h"
#include "tools/preload_check.h"
#include "tools/program.h"
#include "tools/say.h"
#include "tools/summary.h"

enum { KEY_NATIVE = COMMAND_KEY, KEY_STATS };

static struct {
    const char *route, *native, *stats, *output;
    bool quiet;
} settings;

static bool accept_route(const char *value)
{
    struct route route;
    char why[SAY_LINE];
    if (!route_parse(value, &route, why, sizeof why))
        return say_no("--policy: %s", why);
    settings.route = value;
    return true;
}

static bool accept_setting(const char *option, enum option_id id, const char *value, const char **ret)
{
    struct option_value parsed;
    char meant[OPTION_NAME];
    const char *accepted = option_parse(&options[id], value, &parsed);
    if (accepted && option_suggest(&options[id], value, meant))
        return say_no("%s: bad value `%s`: did you mean `%s`? accepted: %s", option, value, meant, accepted);
    if (accepted)
        return say_no("%s: bad value `%s`: accepted: %s", option, value, accepted);
    *ret = value;
    return true;
}

static bool accept(int key, const char *value)
{
    switch (key) {
    case 'p':
        return accept_route(value);
    case KEY_NATIVE:
        return accept_setting("--native", OPTION_POOL_NATIVE, value, &settings.native);
    case KEY_STATS:
        return accept_setting("--stats", OPTION_POOL_STATS, value, &settings.stats);
    case 'o':
        settings.output = value;
        return true;
    default:
        settings.quiet = true;
        return true;
    }
}

/* Where our own result goes: opened before the run, so that a bad path costs no run. NULL if it has been said. */
static FILE *open_output(void)
{
    if (!settings.output)
        return stderr;
    if (!strcmp(settings.output, "-"))
        return stdout;
    int fd = open(settings.output, O_WRONLY | O_CREAT | O_CLOEXEC, 0666);
    FILE *stream = fd < 0 ? NULL : fdopen(fd, "w");
    if (!stream)
        say("--output: `%s`: %s", settings.output, strerror(errno));
    return stream;
}

static void set_environment(void)
{
    if (settings.route)
        setenv("POOL_POLICY", settings.route, 1);
    if (settings.native)
        setenv("POOL_NATIVE", settings.native, 1);
    if (settings.stats)
        setenv("POOL_STATS", settings.stats, 1);
    else
        setenv("POOL_STATS", "off", 0); // unless the user has set it: the summary takes its place
}

static int say_exec_failed(const char *program, const struct launch *launch)
{
    if (launch->exec_errno != ENOENT)
        say("cannot execute `%s`: %s", program, strerror(launch->exec_errno));
    else if (strchr(program, '/') && !access(program, F_OK))
        say("cannot execute `%s`: its interpreter or loader was not found", program);
    else
        say("program `%s` was not found%s", program, strchr(program, '/') ? "" : " in PATH");
    return launch_exit_status(launch);
}

/* Why the root, or what it became by exec, ran without the library; false if it did not. */
static bool find_objection(const struct run *run, char *why, size_t size)
{
    const struct process *root = tree_find(run->tree, run->launch->pid);
    if (root && root->end != END_EXEC)
        return false;
    if (root) {
        snprintf(why, size,
                 "%s went on by exec to a program that ran without the library: static, setuid, without "
                 "LD_PRELOAD in its environment, or of another kind",
                 root->program);
        return true;
    }
    char reason[SAY_LINE], *path = program_find(run->words[0]);
    bool refused = path && !preload_check(path, run->library, reason, sizeof reason);
    if (!refused && WIFSIGNALED(run->launch->status))
        snprintf(reason, sizeof reason, "it was ended by signal %d (%s) before the library had made its counters",
                 WTERMSIG(run->launch->status), strsignal(WTERMSIG(run->launch->status)));
    else if (!refused)
        snprintf(reason, sizeof reason, "no reason was found in its file; LD_DEBUG=libs shows what its loader does");
    snprintf(why, size, "%s ran without the library: %s", run->words[0], reason);
    free(path);
    return true;
}

/* What the kernel told of the root's end is better known than what its page says. */
static void set_root_ending(struct tree *tree, const struct launch *launch)
{
    struct process *root = (struct process *)tree_find(tree, launch->pid);
    if (!root || root->end == END_EXEC)
        return;
    if (WIFSIGNALED(launch->status)) {
        root->end = END_SIGNAL;
        root->end_detail = WTERMSIG(launch->status);
    } else if (root->end != END_SIGNAL) {
        root->end = root->end == END_RUNNING || root->end == END_SNAPSHOT ? END_EXIT : root->end;
        root->end_detail = WEXITSTATUS(launch->status);
    }
}

static void tell(struct run *run, const struct live *live, FILE *stream)
{
    char why[2 * SAY_LINE];
    if (live_is_full(live))
        say("%s is full, so processes may be missing; XDG_RUNTIME_DIR can name a folder with more room", live->pages);
    if (find_objection(run, why, sizeof why)) {
        run->objection = why;
        say("%s", why);
    }
    const struct process *largest = tree_largest(run->tree);
    if (largest && !run->objection && !largest->allocs && !settings.quiet)
        say("no allocation of %s reached the library: it makes none, or brings its own malloc", largest->program);
    if (stream != stderr && stream != stdout && ftruncate(fileno(stream), 0) && errno != EINVAL)
        say("--output: `%s`: %s", settings.output, strerror(errno));
    if (arguments_want_json())
        json_print(summary_json(run), stream);
    else if (largest && !settings.quiet)
        summary_print(run, stream);
    run->objection = NULL;
    if (fflush(stream) && errno != EPIPE)
        say("cannot write the summary: %s", strerror(errno));
}

static int run_under(const char *library, const struct live *live, char **words, FILE *stream)
{
    struct launch launch;
    struct tree tree;
    if (!launch_run(words, &launch))
        return EXIT_OURS;
    if (launch.exec_errno)
        return say_exec_failed(words[0], &launch);
    signal(SIGPIPE, SIG_IGN); // the folder must be removed whether anybody reads the summary or not
    bool private = !strcmp(live->pages, live->temporary);
    if (tree_read(live->pages, private ? 0 : launch.pid, launch.start_real, &tree)) {
        set_root_ending(&tree, &launch);
        struct run run = {.words = words, .library = library, .launch = &launch, .tree = &tree};
        tell(&run, live, stream);
        tree_free(&tree);
    }
    return launch_exit_status(&launch);
}

static int run(int count, char **words)
{
    (void)count;
    struct live live;
    int status = EXIT_OURS;
    char *library = library_find();
    FILE *stream = library ? open_output() : NULL;
    if (stream && live_start(&live)) {
        if (library_preload(library, live.temporary)) {
            set_environment();
            status = run_under(library, &live, words, stream);
        }
        live_end(&live);
    }
    if (stream && stream != stdout && stream != stderr)
        fclose(stream);
    free(library);
    return status;
}

static const struct command_option table[] = {
    {"policy", 'p', "ROUTE", "Which policy serves which sizes (POOL_POLICY); see `poolmark policies`"},
    {"native", KEY_NATIVE, "NAME", "The allocator under the pools (POOL_NATIVE): mimalloc, libc or mmap"},
    {"stats", KEY_STATS, "FILE",
     "Write the dump of each process too (POOL_STATS): stderr or a path, with %p pid, %n program; .json and .prom "
     "give other formats"},
    {"output", 'o', "FILE", "Write the summary or JSON document to FILE, `-` for stdout; default stderr"},
    {"quiet", 'q', NULL, "No summary, only what went wrong"},
    {0},
};

const struct command command_run = {
    .name = "run",
    .summary = "runs a program under the library and sums up what its memory did",
    .arguments = "[--] PROGRAM [ARGUMENT...]",
    .examples = "  poolmark run python3 script.py\n"
                "  poolmark run -p thread:32K,array:1M,native -- make -j4\n"
                "  poolmark run --native libc --stats 'dumps/%n.%p.json' ./server\n"
                "  poolmark run --json -o run.json -- ./program 2>log\n",
    .notes =
        "The first word that is no option is the program: all after it is the program's. The whole process tree runs\n"
        "under the library, which is put before whatever LD_PRELOAD holds. Other POOL_* variables apply as they\n"
        "are set. The program's stdout is its own: summary and JSON go to stderr unless -o names a file.\n"
        "POOLMARK_LIBRARY names another libpoolmark.so than the one beside the command.\n",
    .options = table,
    .accept = accept,
    .runs_program = true,
    .least = 1,
    .most = -1,
    .run = run,
};

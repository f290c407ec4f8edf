/*
 * The dump of each process is rendered by the library's own code and taken over as it is: a key of poolmark.stats/1
 * means the same here.
 */
#define _GNU_SOURCE
#include <signal.h>
#include <stdlib.h>
#include <sys/wait.h>

#include "interpose/report.h"
#include "tools/json_out.h"
#include "tools/say.h"
#include "tools/summary.h"

enum { RENDER_BUFFER = 16 << 10 };

/* Collects what report_render writes. */
struct collected {
    char *bytes;
    size_t used, room;
};

static bool collect(struct report_out *out)
{
    struct collected *all = out->context;
    if (all->used + out->used > all->room) {
        size_t room = 2 * (all->used + out->used);
        char *more = realloc(all->bytes, room);
        if (!more)
            return false;
        all->bytes = more;
        all->room = room;
    }
    memcpy(all->bytes + all->used, out->buffer, out->used);
    all->used += out->used;
    out->used = 0;
    return true;
}

/* The dump of one process; NULL if it cannot be had, which has been said. */
static json_t *render(const struct tree *tree, const struct process *process)
{
    char buffer[RENDER_BUFFER];
    struct collected all = {0};
    struct report_out out = {.buffer = buffer, .size = sizeof buffer, .flush = collect, .context = &all};
    struct page *page = tree_page(tree, process);
    json_t *dump = NULL;
    json_error_t error = {.text = "its page cannot be read"};
    if (page && report_render(page, REPORT_JSON, &out))
        dump = json_loadb(all.bytes, all.used, 0, &error);
    if (!dump)
        say("%s (pid %u) is skipped: %s", process->program, process->pid, error.text);
    free(page);
    free(all.bytes);
    return dump;
}

static json_t *signal_name(int status)
{
    const char *name = WIFSIGNALED(status) ? sigabbrev_np(WTERMSIG(status)) : NULL;
    return name ? json_sprintf("SIG%s", name) : json_null();
}

json_t *summary_json(const struct run *run)
{
    json_t *words = json_array(), *processes = json_array();
    for (char *const *word = run->words; *word; word++)
        json_array_append_new(words, json_text(*word));
    for (size_t i = 0; i < run->tree->count; i++) {
        const struct process *process = &run->tree->processes[i];
        json_t *dump = render(run->tree, process);
        if (!dump)
            continue;
        char ending[32];
        json_object_set_new(dump, "image", json_integer(process->image));
        json_object_set_new(dump, "depth", json_integer(process->depth));
        json_object_set_new(dump, "ended", json_text(process_ending(process, ending, sizeof ending)));
        json_array_append_new(processes, dump);
    }
    return json_pack("{s:s, s:s, s:o, s:o, s:i, s:o, s:f, s:b, s:o, s:o}", "schema", "poolmark.run/1", "version",
                     POOLMARK_VERSION, "command", words, "library", json_text(run->library), "exit_status",
                     launch_exit_status(run->launch), "signal", signal_name(run->launch->status), "seconds",
                     (double)run->launch->nanoseconds / 1e9, "preloaded", run->objection == NULL, "objection",
                     run->objection ? json_text(run->objection) : json_null(), "processes", processes);
}

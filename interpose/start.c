/*
 * The start: settings, route, native allocator, page, watch for ends. Once, in the library's constructor.
 *
 * Before it, allocations are the guest's and come from the heap (thread.h); what is set up here needs memory itself
 * (dlopen of mimalloc), and gets it that way.
 */
#include "bin.h"
#include "dispatch.h"
#include "dump.h"
#include "exits.h"
#include "live.h"
#include "message.h"
#include "native.h"
#include "options.h"
#include "process.h"

#include <pthread.h>

static void complain(const char *line)
{
    message_line("%s", line);
    counters_warn(line);
}

static void choose_route(struct route *ret)
{
    char why[MESSAGE_LINE];
    if (route_parse(option_values[OPTION_POOL_POLICY].text, ret, why, sizeof(why)))
        return;
    options_refuse(OPTION_POOL_POLICY, why, complain);
    route_default(ret);
}

/* Whether blocks that the heap could make will be asked of POOL_NATIVE. */
static bool route_needs_native(const struct route *route)
{
    for (unsigned class = CLASS_FIRST; class < HEAP_CLASSES; class ++)
        if (route_policy(route, class_size(class))->on_native)
            return true;
    return false;
}

static void fork_child(void)
{
    if (!process_is_ours()) // else a slow path of the child has been here already
        process_forked();
}

/* Whether anybody will read the numbers: else the process is not described, nor its ends watched for. */
static bool is_watched(void)
{
    return dump_wanted() || strcmp(option_values[OPTION_POOL_LIVE].text, "off") != 0;
}

__attribute__((constructor(101))) static void start(int argc, char **argv, char **environment)
{
    struct route route;
    int saved = errno;
    thread_leave(thread_enter()); // makes the page, if no allocation before has
    message_start();
    options_start(os_is_secure(environment) ? NULL : environment, complain);
    choose_route(&route);
    route_print(&route, page->route, sizeof(page->route));
    native_start((enum native_kind)option_values[OPTION_POOL_NATIVE].number, route_needs_native(&route));
    dispatch_start(&route);
    thread_start(process_forked); // from here on threads have blocks
    page->pid = (uint32_t)os_pid();
    dump_start(option_values[OPTION_POOL_STATS].text);
    if (is_watched()) {
        process_identify(argc, argv);
        live_start();
        exits_start(true, (int)option_values[OPTION_POOL_SIGNAL].number);
    }
    // a child must know before it can have threads: the byte that tells of forks without handlers is found too late then
    pthread_atfork(NULL, NULL, fork_child);
    errno = saved;
}

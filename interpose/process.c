/*
 * What this process is, and its ends.
 *
 * Only the owner of a bin may write its books, so a dump that another thread makes adds what it sees in all bins to a
 * shard of its own, the first, which is set anew each time. A thread that is at work meanwhile may be some events off;
 * one that sleeps or has ended is exact.
 */
#include "process.h"

#include "bin.h"
#include "dispatch.h"
#include "dump.h"
#include "freeze.h"
#include "live.h"
#include "mapping.h"
#include "options.h"
#include "span.h"
#include "trim.h"

#include <sys/syscall.h>
#include <unistd.h>

static void copy_text(char *to, size_t size, const char *from)
{
    size_t length = strnlen(from, size - 1);
    memcpy(to, from, length);
    to[length] = '\0';
}

/* Field 22 of /proc/self/stat: when the kernel started this process, in clock ticks since boot. */
static uint64_t start_ticks(void)
{
    char text[1024];
    os_read_file("/proc/self/stat", text, sizeof(text));
    const char *at = strrchr(text, ')'); // the name before it may hold anything
    for (unsigned field = 2; at && field < 22; field++)
        at = strchr(at + 1, ' ');
    uint64_t ticks = 0;
    while (at && *++at >= '0' && *at <= '9')
        ticks = ticks * 10 + (uint64_t)(*at - '0');
    return ticks;
}

static void identify_settings(void)
{
    for (unsigned i = 0; i < OPTION_COUNT; i++) {
        struct page_setting *setting = &page->settings[i];
        copy_text(setting->name, sizeof(setting->name), options[i].name);
        copy_text(setting->value, sizeof(setting->value), option_values[i].text);
        setting->source = option_values[i].from_environment ? SOURCE_ENV : SOURCE_DEFAULT;
    }
    page->setting_count = OPTION_COUNT;
}

static void identify_arguments(int argc, char **argv)
{
    size_t used = 0;
    for (int i = 0; i < argc && argv[i]; i++) {
        size_t bytes = strlen(argv[i]) + 1;
        if (used + bytes > sizeof(page->argv)) {
            page->argv_cut = 1;
            break;
        }
        memcpy(page->argv + used, argv[i], bytes);
        used += bytes;
        page->argc++;
    }
    const char *name = argc > 0 && argv[0] ? argv[0] : "unknown";
    const char *slash = strrchr(name, '/');
    copy_text(page->program, sizeof(page->program), slash && slash[1] ? slash + 1 : name);
}

static void identify_ids(void)
{
    page->pid = (uint32_t)os_pid();
    page->ppid = (uint32_t)syscall(SYS_getppid);
    page->start_ticks = start_ticks();
    page->start_clock = os_clock();
    page->start_real = os_realtime();
    page->tick_period = 10000000;
}

void process_identify(int argc, char **argv)
{
    identify_ids();
    identify_arguments(argc, argv);
    identify_settings();
    os_host(page->host, sizeof(page->host));
}

/* Adds what one thread's fast path has done since its books were last brought up to date. */
static void add_unseen(struct thread *thread, void *context)
{
    struct shard *to = context;
    for (unsigned class = CLASS_FIRST; class <= hint_get(thread->top_class); class ++) {
        const struct bin *bin = &thread->bins[class];
        const struct books *books = &thread->books[class];
        uint64_t pops = hint_get(bin->pops) - hint_get(books->pops);
        int64_t level = (int64_t)hint_get(bin->capacity) - hint_get(bin->room);
        owner_add(to->classes[class].hits, pops);
        owner_add(to->classes[class].frees, (uint64_t)(level - hint_get(books->level) + (int64_t)pops));
        owner_add(to->classes[class].samples, run_blocks(&books->run, class_size(class))); // borrowed, see below
        owner_add(to->classes[class].requested, hint_get(books->credit));                  // as well
        if (thread == thread_self && !bin_check(thread, class) && !page->broken)
            page->broken = class + 1;
    }
}

static struct shard *unseen(void)
{
    return page_shard(page, 0);
}

void process_resume(void)
{
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts *counts = &unseen()->classes[class];
        if (!hint_get(counts->hits) && !hint_get(counts->frees) && !hint_get(counts->samples) &&
            !hint_get(counts->requested))
            continue; // not touched: it may be a page that nothing has touched yet
        hint_set(counts->hits, 0);
        hint_set(counts->frees, 0);
        hint_set(counts->samples, 0);
        hint_set(counts->requested, 0);
    }
}

/* Whether the class has ever had a block: the other classes' pages of the page stay untouched. */
static bool is_used(unsigned class)
{
    const struct level_pair *levels = &page->classes[class].levels;
    return hint_get(levels->held.bound) || hint_get(levels->stored.bound) || heap_blocks_out(class);
}

/* Returns the bytes that are allocated now. */
static int64_t settle_class(unsigned class)
{
    struct page_class *of_class = &page->classes[class];
    uint64_t in_runs = unseen()->classes[class].samples;
    of_class->credits = unseen()->classes[class].requested;
    hint_set(unseen()->classes[class].samples, 0);
    hint_set(unseen()->classes[class].requested, 0);
    of_class->heap_blocks = heap_blocks_out(class) - in_runs;
    struct class_counts counts;
    counters_sum(page, class, &counts);
    int64_t live = (int64_t)(counts.hits + counts.misses - counts.frees) * (int64_t)class_size(class);
    level_peak(&of_class->levels.held, live, hint_get(of_class->levels.held.now));
    return live;
}

/* What is allocated now is exact, and often the most there ever was. Unless other threads are at work. */
static void settle_levels(void)
{
    int64_t total = 0, of_policy[PAGE_POLICIES] = {0};
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        int64_t live = is_used(class) ? settle_class(class) : 0;
        total += live;
        of_policy[page->class_policy[class]] += live;
    }
    if (page->unsettled)
        return;
    level_peak(&page->total.held, total, hint_get(page->total.held.now));
    for (unsigned i = 0; i < page->policy_count; i++)
        level_peak(&page->policies[i].levels.held, of_policy[i], hint_get(page->policies[i].levels.held.now));
}

void process_settle(void)
{
    page->unsettled = hint_get(page->threads_now) > 1;
    process_resume();
    thread_each(add_unseen, unseen());
    settle_levels();
    size_t peak;
    uint64_t peak_at;
    page->mapped.now = (int64_t)os_mapped(&peak, &peak_at);
    page->mapped.peak = page->mapped.bound = (int64_t)peak;
    page->mapped.peak_at = peak_at > page->start_clock ? peak_at - page->start_clock : 0;
    dump_read_resident(page);
    hint_set(page->hidden, account_hidden());
    hint_set(page->updated, counters_clock());
}

bool process_is_ours(void)
{
    if (thread_fork_unseen())
        process_forked();
    return (uint32_t)os_pid() == page->pid;
}

void process_ends(enum page_end end, int detail)
{
    process_settle();
    page->end = end;
    page->end_detail = detail;
    if (dump_wanted())
        dump_write(page_freeze());
    if (end == END_SNAPSHOT) {
        page->end = END_RUNNING;
        process_resume();
    }
}

static void add_hidden_now(struct thread *thread, void *context)
{
    *(uint64_t *)context += bins_hidden_now(thread);
}

static void add_level_bytes(struct thread *thread, void *context)
{
    *(uint64_t *)context += bins_level_bytes(thread);
}

void process_levels(uint64_t *ret_allocated, uint64_t *ret_pooled)
{
    uint64_t hidden = 0, in_bins = 0;
    thread_each(add_hidden_now, &hidden);
    thread_each(add_level_bytes, &in_bins);
    uint64_t held = (uint64_t)hint_get(page->total.held.now);
    *ret_allocated = held > hidden ? held - hidden : 0;
    *ret_pooled = (uint64_t)hint_get(page->total.stored.now) + in_bins;
}

struct class_runs {
    unsigned class;
    uint64_t blocks, credits;
};

static void add_run(struct thread *thread, void *context)
{
    struct class_runs *runs = context;
    runs->blocks += run_blocks(&thread->books[runs->class].run, class_size(runs->class));
    runs->credits += thread->books[runs->class].credit;
}

/* The child's first numbers for one class: `live` blocks allocated, the pools' content freed once. */
static void inherit_class(struct thread *self, unsigned class, uint64_t live)
{
    if (!is_used(class))
        return;
    struct page_class *of_class = &page->classes[class];
    struct page_policy *policy = &page->policies[page->class_policy[class]];
    struct books *books = &self->books[class];
    int64_t size = (int64_t)class_size(class);
    struct class_runs runs = {class, 0, 0};
    thread_each(add_run, &runs); // of the caller and the guest: the others' blocks are empty now
    const struct bin *bin = &self->bins[class];
    uint64_t in_slot = bin_hides_spare(bin) ? 0 : bin->spare_count;
    uint64_t in_bin = bin_count(self, class) + bin->spare_count - in_slot;
    books->pops = self->bins[class].pops;
    books->level = (int32_t)bin_count(self, class);
    uint64_t stored = in_slot + (dispatch_policies[class] ? dispatch_policies[class]->stored(class) : 0);
    uint64_t kept = in_bin + stored;
    self->shard->classes[class] = (struct class_counts){.misses = live + kept, .frees = kept};
    books_begin(self, class);
    int64_t held = (int64_t)(live + in_bin + runs.blocks + runs.credits) * size;
    struct level held_level = {held, (int64_t)live * size, held, 0};
    int64_t store = (int64_t)stored * size;
    struct level store_level = {store, (int64_t)kept * size, (int64_t)kept * size, 0};
    of_class->levels = (struct level_pair){held_level, store_level};
    struct level_pair *sums[] = {&policy->levels, &page->total};
    for (unsigned i = 0; i < ARRAY_LENGTH(sums); i++) {
        sums[i]->held.now = sums[i]->held.bound = sums[i]->held.now + held;
        sums[i]->held.peak += (int64_t)live * size;
        sums[i]->stored.now += store;
        sums[i]->stored.peak = sums[i]->stored.bound = sums[i]->stored.peak + (int64_t)kept * size;
    }
    if (of_class->native_blocks > live + kept + runs.credits)
        of_class->native_blocks = live + kept + runs.credits;
    heap_set_blocks_out(class, live + kept + runs.blocks + runs.credits - of_class->native_blocks);
    page->inherited_blocks += live + kept;
    page->inherited_bytes += live * (uint64_t)size;
}

static void inherit(struct thread *self, const uint64_t *live)
{
    memset(&page->total, 0, sizeof(page->total));
    for (unsigned i = 0; i < PAGE_POLICIES; i++) {
        memset(&page->policies[i].levels, 0, sizeof(page->policies[i].levels));
        page->policies[i].lock_waits = 0;
    }
    for (uint32_t i = 0; i < page->shards_used; i++)
        memset(page_shard(page, i)->classes, 0, sizeof(page_shard(page, i)->classes));
    page->inherited = 1;
    page->inherited_blocks = page->inherited_bytes = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        inherit_class(self, class, live[class]);
    page->warning_count = 0;
    page->image = 0;
    page->end = END_RUNNING;
}

void process_forked(void)
{
    static uint64_t live[CLASS_COUNT]; // of the child's only thread
    counters_unshare();
    process_resume();
    thread_each(add_unseen, unseen());
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct class_counts counts;
        counters_sum(page, class, &counts);
        uint64_t allocs = counts.hits + counts.misses;
        live[class] = allocs > counts.frees ? allocs - counts.frees : 0;
    }
    struct thread *self = thread_forked();
    heap_forked();
    mapping_forked();
    for (unsigned i = 0; policies[i]; i++)
        policies[i]->forked();
    inherit(self, live);
    account_forked();
    trim_forked();
    page->pid = (uint32_t)os_pid();
    if (page->setting_count) { // somebody will read it
        identify_ids();
        live_start();
    }
}

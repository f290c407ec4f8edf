/*
 * What the dump says about itself: whether its numbers fit together, and what a reader should not overlook.
 *
 * A page may be one that threads are still writing to, or that a killed process left. Then its events are those of
 * each thread's last slow path: blocks that have gone through bins since are missing, at most `hidden` bytes of them,
 * and counters are read one after the other. So each check compares an earlier look at what comes later (frees) with a
 * later look at what must come before it (allocs), and allows for `hidden`; and sums that are exact only when nothing
 * is in flight are checked only then. A check that cries wolf is worse than none.
 */
#include "report.h"

/* Nothing in flight: the process ended in an orderly way, and no second thread is still at work. */
static bool is_settled(const struct page *from)
{
    uint32_t end = hint_get(from->end);
    bool orderly = end != END_RUNNING && end != END_SNAPSHOT && end != END_SIGNAL;
    return orderly && hint_get(from->threads_now) <= 1 && !hint_get(from->unsettled);
}

/* Bytes that may be missing from a class's events. */
static int64_t slack(const struct page *from)
{
    return is_settled(from) ? 0 : hint_get(from->hidden);
}

/* More blocks of `after` than of `before`, which must have come first. */
static bool is_short(uint64_t before, uint64_t after, size_t size, int64_t allowed)
{
    int64_t missing = (int64_t)(after - before);
    return missing > 0 && missing > allowed / (int64_t)size;
}

/* `peak` is read first: a writer raises `bound` before it. */
static bool peak_above_bound(const struct level *level)
{
    int64_t peak = __atomic_load_n(&level->peak, __ATOMIC_ACQUIRE);
    return peak > hint_get(level->bound);
}

static const char *levels_fault(const struct level_pair *levels)
{
    if (peak_above_bound(&levels->held))
        return "allocated peak <= its bound";
    if (peak_above_bound(&levels->stored))
        return "pooled peak <= its bound";
    return NULL;
}

static const char *class_fault(const struct page *from, unsigned class)
{
    const struct page_class *at = &from->classes[class];
    struct class_counts before, after;
    counters_sum(from, class, &after);
    counters_sum(from, class, &before);
    uint64_t allocs = before.hits + before.misses;
    uint64_t left = after.hits + after.dropped + after.trimmed;
    if (is_short(allocs, after.frees, class_size(class), slack(from)))
        return "frees <= allocs";
    if (is_short(before.frees, left, class_size(class), slack(from)))
        return "hits + dropped + trimmed <= frees";
    // what origins have given out is what the program holds and what the pools keep
    uint64_t held = allocs - before.frees, pooled = before.frees - before.hits - before.dropped - before.trimmed;
    if (is_settled(from) &&
        hint_get(at->heap_blocks) + hint_get(at->native_blocks) - hint_get(at->credits) != held + pooled)
        return "heap + native blocks = allocated + pooled blocks";
    return levels_fault(&at->levels);
}

/* What holds for the process as a whole and for policies. */
static const char *total_fault(const struct page *from)
{
    uint64_t held = 0;
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++)
        held += (uint64_t)hint_get(from->classes[class].levels.held.now);
    if (is_settled(from) && held != (uint64_t)hint_get(from->total.held.now))
        return "bytes held in all = sum over classes";
    for (unsigned policy = 0; policy < report_policy_count(from); policy++) {
        const char *fault = levels_fault(&from->policies[policy].levels);
        if (fault)
            return fault;
    }
    if (peak_above_bound(&from->mapped))
        return "mapped peak <= its bound";
    return levels_fault(&from->total);
}

/* Ends the text of a buffer, which has kept a byte for it. */
static const char *text_end(struct report_out *text)
{
    text->buffer[text->used] = 0;
    return text->buffer;
}

const char *report_inconsistency(const struct page *from, char *buffer, size_t size)
{
    struct report_out text = {.buffer = buffer, .size = size - 1};
    if (hint_get(from->broken)) {
        print_text(&text, "a check of the heap failed in the process, number ");
        print_text(&text, word_number(hint_get(from->broken)).text);
        return text_end(&text);
    }
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        const char *fault = class_fault(from, class);
        if (!fault)
            continue;
        print_text(&text, fault);
        print_text(&text, " in class ");
        print_text(&text, word_number(class_size(class)).text);
        return text_end(&text);
    }
    const char *fault = total_fault(from);
    if (!fault)
        return NULL;
    print_text(&text, fault);
    return text_end(&text);
}

static const struct page_setting *find_setting(const struct page *from, const char *name)
{
    for (unsigned i = 0; i < report_setting_count(from); i++)
        if (strncmp(from->settings[i].name, name, sizeof(from->settings[i].name)) == 0)
            return &from->settings[i];
    return NULL;
}

/* Whether the user wrote this policy's name in the route, rather than getting it by default or in a preset. */
static bool is_asked_by_name(const struct page *from, const char *policy, size_t length)
{
    const struct page_setting *setting = find_setting(from, "POOL_POLICY");
    if (!setting || hint_get(setting->source) == SOURCE_DEFAULT)
        return false;
    const char *at = setting->value, *end = at + strnlen(setting->value, sizeof(setting->value));
    while (at < end) {
        size_t word = 0;
        while (at + word < end && !strchr(",:", at[word]))
            word++;
        if (word == length && memcmp(at, policy, length) == 0)
            return true;
        at += word + 1;
    }
    return false;
}

/* A comparison in which the factor never acted must not pass unseen. */
static bool print_policy_warning(const struct page *from, unsigned policy, struct report_out *text)
{
    const struct page_policy *at = &from->policies[policy];
    size_t length = strnlen(at->name, sizeof(at->name));
    struct report_row row;
    report_policy(from, policy, &row);
    bool keeps_none = length == strlen("native") && memcmp(at->name, "native", length) == 0;
    bool idle = row.allocs == 0 && hint_get(at->asked) && is_asked_by_name(from, at->name, length);
    uint64_t inherited = from->inherited ? from->inherited_blocks : 0; // of all policies: counted as misses here
    uint64_t own = row.allocs > inherited ? row.allocs - inherited : 0;
    bool useless = own > 0 && row.frees > 0 && row.hits == 0;
    if (keeps_none || (!idle && !useless))
        return false;
    print_text(text, "pool `");
    print_plain(text, at->name, sizeof(at->name));
    print_text(text, "` was asked for ");
    print_text(text, word_number(hint_get(at->asked)).text);
    print_text(text, hint_get(at->asked) == 1 ? " class" : " classes");
    print_text(text, idle ? " and was never used" : " and had no hit in ");
    if (!idle) {
        print_text(text, word_number(own).text);
        print_text(text, own == 1 ? " allocation" : " allocations");
    }
    return true;
}

void report_warnings(const struct page *from, void (*each)(void *context, const char *warning), void *context)
{
    char buffer[sizeof(from->warnings[0]) + 1];
    uint32_t count = hint_get(from->warning_count);
    for (unsigned i = 0; i < count && i < PAGE_WARNINGS; i++) {
        struct report_out text = {.buffer = buffer, .size = sizeof(buffer) - 1};
        print_bytes(&text, from->warnings[i], strnlen(from->warnings[i], sizeof(from->warnings[i])));
        each(context, text_end(&text));
    }
    for (unsigned policy = 0; policy < report_policy_count(from); policy++) {
        struct report_out text = {.buffer = buffer, .size = sizeof(buffer) - 1};
        if (print_policy_warning(from, policy, &text))
            each(context, text_end(&text));
    }
    if (hint_get(from->end) == END_RUNNING)
        each(context, "the process is running or was killed: counts are as of each thread's last slow path, bytes are "
                      "right within the stated error");
}

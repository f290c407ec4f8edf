/*
 * glibc's views into the heap, with true answers from our counters: mallinfo, mallinfo2, malloc_info, malloc_stats,
 * malloc_trim, mallopt. They must be ours, or glibc's dormant heap wakes and answers for itself.
 */
#include "counters.h"
#include "message.h"
#include "process.h"
#include "report.h"
#include "trim.h"

#include <limits.h>
#include <malloc.h>
#include <stdio.h>

/* arena: bytes from the system; uordblks: held by the program; fordblks: the rest; hblkhd: 0, mappings are in arena. */
EXPORT struct mallinfo2 mallinfo2(void)
{
    uint64_t allocated, pooled, peak_at;
    size_t peak;
    thread_leave(thread_enter()); // makes the page, if nothing has been allocated yet
    process_levels(&allocated, &pooled);
    size_t mapped = os_mapped(&peak, &peak_at);
    return (struct mallinfo2){
        .arena = mapped,
        .usmblks = (size_t)hint_get(page->total.held.peak),
        .uordblks = allocated,
        .fordblks = mapped > allocated ? mapped - allocated : 0,
        .keepcost = pooled,
    };
}

static int clamp(size_t n)
{
    return n > INT_MAX ? INT_MAX : (int)n;
}

EXPORT struct mallinfo mallinfo(void)
{
    struct mallinfo2 wide = mallinfo2();
    return (struct mallinfo){
        .arena = clamp(wide.arena),
        .usmblks = clamp(wide.usmblks),
        .uordblks = clamp(wide.uordblks),
        .fordblks = clamp(wide.fordblks),
        .keepcost = clamp(wide.keepcost),
    };
}

static void print_classes(FILE *stream)
{
    for (unsigned class = CLASS_FIRST; class < CLASS_COUNT; class ++) {
        struct report_row row;
        report_class(page, class, &row);
        if (row.allocs)
            fprintf(stream, "<size from=\"%zu\" to=\"%zu\" total=\"%ld\" count=\"%lu\"/>\n", class_size(class - 1) + 1,
                    class_size(class), (long)row.allocated.now, row.allocs - row.frees);
    }
}

EXPORT int malloc_info(int options, FILE *stream)
{
    if (options)
        return EINVAL;
    struct mallinfo2 info = mallinfo2();
    fprintf(stream, "<malloc version=\"1\" allocator=\"poolmark %s\">\n<sizes>\n", POOLMARK_VERSION);
    print_classes(stream);
    fprintf(stream, "</sizes>\n<total type=\"allocated\" size=\"%zu\"/>\n<total type=\"pooled\" size=\"%zu\"/>\n",
            info.uordblks, info.keepcost);
    fprintf(stream, "<system type=\"current\" size=\"%zu\"/>\n</malloc>\n", info.arena);
    return 0;
}

EXPORT void malloc_stats(void)
{
    struct mallinfo2 info = mallinfo2();
    message_line("allocated %zu bytes, pooled %zu, mapped %zu", info.uordblks, info.keepcost, info.arena);
}

/* 1 if any memory went back, as in glibc. */
EXPORT int malloc_trim(size_t pad)
{
    (void)pad;
    struct thread *self = thread_enter();
    if (!self)
        return 0;
    size_t bytes = trim_all(self);
    thread_leave(self);
    return bytes != 0;
}

/* glibc's parameters have no counterpart here: known ones are accepted and change nothing. */
EXPORT int mallopt(int parameter, int value)
{
    (void)value;
    return parameter >= M_ARENA_MAX && parameter <= M_MXFAST;
}

/*
 * The sample page rendered into memory.
 */
#ifndef POOLMARK_RENDERED_H
#define POOLMARK_RENDERED_H

#include "sample_page.h"

#include <criterion/criterion.h>

#include "interpose/report.h"

static char rendered[1 << 20];

static inline bool collect(struct report_out *out)
{
    size_t *used = out->context;
    cr_assert(*used + out->used < sizeof(rendered));
    memcpy(rendered + *used, out->buffer, out->used);
    *used += out->used;
    return true;
}

/* Renders through a buffer of `size` bytes. */
static inline const char *render_by(const struct page *page, enum report_format format, size_t size)
{
    static char buffer[4096];
    size_t used = 0;
    struct report_out out = {.buffer = buffer, .size = size, .flush = collect, .context = &used};
    cr_assert(report_render(page, format, &out));
    rendered[used] = 0;
    return rendered;
}

static inline const char *render(const struct page *page, enum report_format format)
{
    return render_by(page, format, 4096);
}

static inline struct class_counts *sample_counts(struct page *page, size_t size)
{
    return &page_shard(page, 0)->classes[class_of(size)];
}

#endif

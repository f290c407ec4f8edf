/*
 * Rows are kept until all are known, then printed with two spaces between columns.
 */
#include "tools/columns.h"

#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/paint.h"
#include "tools/say.h"
#include "tools/text.h"

enum { GAP = 2, WRAP_LEAST = 24 };

void columns_add(struct columns *columns, const char *const *cells)
{
    if (columns->rows == columns->room) {
        columns->room = columns->room ? 2 * columns->room : 32;
        columns->cells = reallocarray(columns->cells, columns->room, sizeof columns->cells[0]);
        if (!columns->cells)
            exit(say_failure("out of memory"));
    }
    char **row = columns->cells[columns->rows++];
    for (unsigned i = 0; i < columns->count; i++)
        if (!(row[i] = strdup(cells[i])))
            exit(say_failure("out of memory"));
}

static void release(struct columns *columns)
{
    for (size_t row = 0; row < columns->rows; row++)
        for (unsigned i = 0; i < columns->count; i++)
            free(columns->cells[row][i]);
    free(columns->cells);
    columns->cells = NULL;
    columns->rows = columns->room = 0;
}

static void print_spaces(FILE *stream, size_t count)
{
    fprintf(stream, "%*s", (int)count, "");
}

/* Prints the last cell, its further lines indented by `indent`. */
static void print_wrapped(FILE *stream, const char *text, size_t indent, size_t width)
{
    while (strlen(text) > width) {
        size_t cut = width;
        while (cut && text[cut] != ' ')
            cut--;
        if (!cut)
            break;
        fprintf(stream, "%.*s\n", (int)cut, text);
        print_spaces(stream, indent);
        text += cut + 1;
    }
    fprintf(stream, "%s\n", text);
}

static void print_row(const struct columns *columns, FILE *stream, const char *const *cells, const size_t *widths)
{
    unsigned last = columns->count - 1;
    size_t indent = 0, terminal = paint_columns(stream);
    for (unsigned i = 0; i < last; i++) {
        size_t blank = widths[i] - text_width(cells[i]);
        if (columns->right >> i & 1)
            print_spaces(stream, blank);
        fputs(cells[i], stream);
        print_spaces(stream, GAP + (columns->right >> i & 1 ? 0 : blank));
        indent += widths[i] + GAP;
    }
    size_t width = terminal > indent + WRAP_LEAST ? terminal - indent : SIZE_MAX;
    print_wrapped(stream, cells[last], indent, width);
}

void columns_print(struct columns *columns, FILE *stream)
{
    size_t widths[COLUMNS_MOST];
    for (unsigned i = 0; i < columns->count; i++) {
        widths[i] = text_width(columns->titles[i]);
        for (size_t row = 0; row < columns->rows; row++)
            if (text_width(columns->cells[row][i]) > widths[i])
                widths[i] = text_width(columns->cells[row][i]);
    }
    fputs(paint(stream, PAINT_TITLE), stream);
    print_row(columns, stream, columns->titles, widths);
    fputs(paint(stream, PAINT_PLAIN), stream);
    for (size_t row = 0; row < columns->rows; row++)
        print_row(columns, stream, (const char *const *)columns->cells[row], widths);
    release(columns);
}

static void print_markdown_cell(FILE *stream, const char *cell)
{
    for (; *cell; cell++) {
        if (*cell == '|')
            fputc('\\', stream);
        fputc(*cell, stream);
    }
    fputs(" |", stream);
}

void columns_print_markdown(struct columns *columns, FILE *stream)
{
    fputc('|', stream);
    for (unsigned i = 0; i < columns->count; i++)
        fprintf(stream, " %s |", columns->titles[i]);
    fputs("\n|", stream);
    for (unsigned i = 0; i < columns->count; i++)
        fputs("---|", stream);
    fputc('\n', stream);
    for (size_t row = 0; row < columns->rows; row++) {
        fputc('|', stream);
        for (unsigned i = 0; i < columns->count; i++) {
            fputc(' ', stream);
            print_markdown_cell(stream, columns->cells[row][i]);
        }
        fputc('\n', stream);
    }
    release(columns);
}

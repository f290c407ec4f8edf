/*
 * A table of text: columns as wide as their widest cell, the last one wrapped to the terminal.
 *
 * Into a pipe or a file nothing is wrapped: one row is one line, for grep and awk.
 */
#ifndef POOLMARK_TOOLS_COLUMNS_H
#define POOLMARK_TOOLS_COLUMNS_H

#include <stdio.h>

enum { COLUMNS_MOST = 8 };

struct columns {
    unsigned count;
    const char *titles[COLUMNS_MOST];
    unsigned right; // bit i: column i is aligned to the right
    size_t rows, room;
    char *(*cells)[COLUMNS_MOST];
};

/* Adds a row of `count` cells, which are copied. Ends the command with a message if memory is exhausted. */
void columns_add(struct columns *columns, const char *const *cells);

/* Prints titles and rows, and frees the rows. */
void columns_print(struct columns *columns, FILE *stream);

/* The same as a Markdown table. */
void columns_print_markdown(struct columns *columns, FILE *stream);

#endif

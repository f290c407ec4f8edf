/*
 * Colour: on terminals only, unless --color says otherwise; NO_COLOR turns `auto` off.
 */
#ifndef POOLMARK_TOOLS_PAINT_H
#define POOLMARK_TOOLS_PAINT_H

#include <stdbool.h>
#include <stdio.h>

enum paint_style { PAINT_PLAIN, PAINT_TITLE, PAINT_BAR, PAINT_FAINT };

/* Takes the value of --color: "auto", "always" or "never". False if it is none of them. */
bool paint_choose(const char *when);

/* The escape sequence that begins a style on this stream (PAINT_PLAIN ends all); "" where there is no colour. */
const char *paint(FILE *stream, enum paint_style style);

/* Columns of the terminal behind the stream; 0 if it is none: nothing is wrapped then. */
unsigned paint_columns(FILE *stream);

/* Whether the locale can show block characters and the plus-minus sign. Needs setlocale(LC_CTYPE, ""). */
bool paint_unicode(void);

#endif

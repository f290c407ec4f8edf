/*
 * What the command says on stderr: single lines "poolmark: ...".
 *
 * Control characters in a message (from a word of the user's or a name in a file) are shown as `?`, and a line is cut
 * at SAY_LINE bytes, so one message is always one line.
 */
#ifndef POOLMARK_TOOLS_SAY_H
#define POOLMARK_TOOLS_SAY_H

#include "interpose/base.h"

enum { SAY_LINE = 600 };

/* A remark or a warning; the work goes on. */
void say(const char *format, ...) FORMAT(1, 2);

/* Why we cannot go on. Returns EXIT_OURS, for `return say_failure(...)`. */
int say_failure(const char *format, ...) FORMAT(1, 2);

/* The same, returning false, for functions that report success. */
bool say_no(const char *format, ...) FORMAT(1, 2);

/*
 * Helper of suggestions: keeps in *best the candidate nearest to `word`, at most two edits away (one if
 * it is short). Start with *best NULL
 * and *distance 3.
 */
void say_nearest(const char *word, const char *candidate, const char **best, unsigned *distance);

#endif

/*
 * What `poolmark run` tells at the end: ten lines for a person, or one JSON document.
 */
#ifndef POOLMARK_TOOLS_SUMMARY_H
#define POOLMARK_TOOLS_SUMMARY_H

#include <jansson.h>
#include <stdio.h>

#include "tools/launch.h"
#include "tools/tree.h"

struct run {
    char *const *words; // the program and its arguments, ends with NULL
    const char *library;
    const struct launch *launch;
    const struct tree *tree;
    const char *objection; // why the preload did not take effect; NULL if it did
};

/* Peaks, allocations, fullest size classes, the process tree and the next command. Needs a tree with processes. */
void summary_print(const struct run *run, FILE *stream);

/* The document poolmark.run/1: the run, and the dump of each process as the library renders it. */
json_t *summary_json(const struct run *run);

#endif

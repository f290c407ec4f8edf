/*
 * Writes one JSON document, as the verbs with --json do.
 */
#ifndef POOLMARK_TOOLS_JSON_OUT_H
#define POOLMARK_TOOLS_JSON_OUT_H

#include <jansson.h>
#include <stdio.h>

/* Writes `document` with its last newline and releases it. Returns the exit status; a failure has been said. */
int json_print(json_t *document, FILE *stream);

/* A text for JSON: bytes that are no UTF-8 become `?`, since JSON has no other way. NULL becomes "". */
json_t *json_text(const char *bytes);

#endif

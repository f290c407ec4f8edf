/*
 * jansson does the work; here are only the two things that every verb would repeat.
 */
#include "tools/json_out.h"

#include <stdlib.h>
#include <string.h>

#include "tools/command.h"
#include "tools/say.h"

int json_print(json_t *document, FILE *stream)
{
    int failed = !document || json_dumpf(document, stream, JSON_INDENT(2) | JSON_REAL_PRECISION(9));
    json_decref(document);
    if (!failed)
        fputc('\n', stream);
    return failed ? say_failure("cannot write the JSON document") : EXIT_DONE;
}

json_t *json_text(const char *bytes)
{
    json_t *text = json_string(bytes ? bytes : "");
    if (text)
        return text;
    char *copy = strdup(bytes);
    if (!copy)
        return NULL;
    for (char *c = copy; *c; c++)
        if ((unsigned char)*c >= 0x80)
            *c = '?';
    text = json_string(copy);
    free(copy);
    return text;
}

/*
 * Texts for tests that throw nonsense at the parsers of settings. Call srand first: the same seed, the same texts.
 */
#ifndef POOLMARK_TEST_NOISE_H
#define POOLMARK_TEST_NOISE_H

#include <stdio.h>
#include <stdlib.h>

#include "interpose/base.h"

/* A text made of pieces that parsers care for, and of noise. */
static inline void noise(char *buffer, size_t size)
{
    static const char *const pieces[] = {"off", "on",   "auto",  "stderr", "1", "0", "99999999999", "K",  "M",
                                         "G",   "iB",   "ms",    "s",      "m", ":", ",",           "..", "|",
                                         "SIG", "USR1", "RTMIN", "+",      "-", "/", "%p",          "="};
    size_t used = 0;
    for (int i = rand() % 6; i >= 0 && used + 16 < size; i--) {
        if (rand() % 3)
            used += (size_t)snprintf(buffer + used, size - used, "%s", pieces[(size_t)rand() % ARRAY_LENGTH(pieces)]);
        else
            buffer[used++] = (char)(rand() % 255 + 1);
    }
    buffer[used] = '\0';
}

#endif

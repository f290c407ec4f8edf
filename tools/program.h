/*
 * The program that is to run, found as execvp finds it.
 */
#ifndef POOLMARK_TOOLS_PROGRAM_H
#define POOLMARK_TOOLS_PROGRAM_H

/* The file that execvp would execute for this word, NULL if none; to be freed. */
char *program_find(const char *name);

#endif

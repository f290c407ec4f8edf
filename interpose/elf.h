/*
 * Symbols of libraries that are already loaded, read from their own symbol tables.
 *
 * dlsym allocates, takes the loader's lock and can call back into malloc; this walks the link map (r_debug) and the
 * GNU hash tables instead. No locks: for start-up, before other threads can load or unload libraries.
 */
#ifndef POOLMARK_ELF_H
#define POOLMARK_ELF_H

#include "base.h"

/* The address of `symbol` in the first loaded object whose file name starts with `library` (for example "libc.so."),
 * NULL if there is none. Functions chosen at load time (IFUNC) are resolved. */
HIDDEN void *elf_symbol(const char *library, const char *symbol);

#endif

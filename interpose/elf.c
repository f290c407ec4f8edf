/*
 * Symbols of loaded libraries, by reading what the loader itself reads.
 *
 * _r_debug.r_map is the list of loaded objects that debuggers use. Each has a dynamic section with a symbol table, a
 * hash table over the names (DT_GNU_HASH everywhere today, DT_HASH in old or odd objects) and a version per symbol.
 * Of several versions of one name the default one counts, as for a program linked now: it is the one without the
 * "hidden" bit. Chosen-at-load functions (IFUNC) give their resolver's answer.
 *
 * The loader has turned the addresses in a dynamic section into pointers, except where it could not write there: the
 * vdso and objects linked with -z rodynamic still hold offsets. An offset is smaller than the load address, a pointer
 * is not, so each address is looked at on its own.
 *
 * Only the first name space is searched: the program's. dl_iterate_phdr takes the loader's lock, and dlsym allocates.
 */
#define _GNU_SOURCE
#include <link.h>

#include "elf.h"

enum {
    VERSION_HIDDEN = 0x8000, // in DT_VERSYM: not what a plain reference gets
    VERSION_LOCAL = 0,       // in DT_VERSYM: not visible outside
};

/* The tables of one object; those that it lacks are NULL. */
struct tables {
    uintptr_t base;
    const ElfW(Sym) * symbols;
    const char *names;
    const ElfW(Half) * versions;
    const uint32_t *gnu_hash, *hash;
};

static struct tables tables_of(const struct link_map *object)
{
    struct tables t = {.base = object->l_addr};
    for (const ElfW(Dyn) *entry = object->l_ld; entry->d_tag != DT_NULL; entry++) {
        uintptr_t address = entry->d_un.d_ptr;
        const void *at = (const void *)(address < t.base ? address + t.base : address);
        switch (entry->d_tag) {
        case DT_SYMTAB:
            t.symbols = at;
            break;
        case DT_STRTAB:
            t.names = at;
            break;
        case DT_VERSYM:
            t.versions = at;
            break;
        case DT_GNU_HASH:
            t.gnu_hash = at;
            break;
        case DT_HASH:
            t.hash = at;
            break;
        }
    }
    return t;
}

/* Whether symbol number `index` is a defined, visible, default-version one called `name`. */
static bool is_wanted(const struct tables *t, uint32_t index, const char *name)
{
    const ElfW(Sym) *symbol = &t->symbols[index];
    if (symbol->st_shndx == SHN_UNDEF || ELF64_ST_BIND(symbol->st_info) == STB_LOCAL)
        return false;
    if (ELF64_ST_TYPE(symbol->st_info) == STT_TLS) // an offset in each thread, not an address
        return false;
    if (t->versions && (t->versions[index] & VERSION_HIDDEN || t->versions[index] == VERSION_LOCAL))
        return false;
    return strcmp(t->names + symbol->st_name, name) == 0;
}

/* Header: bucket count, first hashed symbol, words of the filter, its second shift; then filter, buckets, chains. */
static const ElfW(Sym) * find_gnu(const struct tables *t, const char *name)
{
    uint32_t hash = 5381;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++)
        hash = hash * 33 + *c;
    uint32_t bucket_count = t->gnu_hash[0], first = t->gnu_hash[1], words = t->gnu_hash[2], shift = t->gnu_hash[3];
    const uint64_t *filter = (const uint64_t *)(t->gnu_hash + 4);
    const uint32_t *buckets = (const uint32_t *)(filter + words), *chains = buckets + bucket_count;
    if (bucket_count == 0 || words == 0)
        return NULL;
    uint64_t bits = filter[hash / 64 % words];
    if (!(bits >> hash % 64 & bits >> (hash >> shift) % 64 & 1))
        return NULL;
    uint32_t index = buckets[hash % bucket_count];
    if (index < first) // an empty bucket
        return NULL;
    for (;; index++) {
        uint32_t link = chains[index - first];
        if ((link | 1) == (hash | 1) && is_wanted(t, index, name))
            return &t->symbols[index];
        if (link & 1) // the chain's last
            return NULL;
    }
}

/* Header: bucket count, symbol count; then buckets and chains. */
static const ElfW(Sym) * find_sysv(const struct tables *t, const char *name)
{
    uint32_t hash = 0;
    for (const unsigned char *c = (const unsigned char *)name; *c; c++) {
        hash = (hash << 4) + *c;
        hash = (hash ^ (hash >> 24 & 0xf0)) & 0x0fffffff;
    }
    const uint32_t *buckets = t->hash + 2, *chains = buckets + t->hash[0];
    if (t->hash[0] == 0)
        return NULL;
    for (uint32_t index = buckets[hash % t->hash[0]]; index != STN_UNDEF; index = chains[index])
        if (is_wanted(t, index, name))
            return &t->symbols[index];
    return NULL;
}

static void *address_of(const struct tables *t, const ElfW(Sym) * symbol)
{
    uintptr_t address = symbol->st_value + (symbol->st_shndx == SHN_ABS ? 0 : t->base);
    if (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC)
        return ((void *(*)(void))address)();
    return (void *)address;
}

static bool is_called(const struct link_map *object, const char *prefix)
{
    const char *slash = strrchr(object->l_name, '/');
    const char *name = slash ? slash + 1 : object->l_name;
    return strncmp(name, prefix, strlen(prefix)) == 0;
}

void *elf_symbol(const char *library, const char *symbol)
{
    for (const struct link_map *object = _r_debug.r_map; object; object = object->l_next) {
        if (!object->l_name || !object->l_ld || !is_called(object, library))
            continue;
        struct tables t = tables_of(object);
        const ElfW(Sym) *found = NULL;
        if (t.symbols && t.names && t.gnu_hash)
            found = find_gnu(&t, symbol);
        else if (t.symbols && t.names && t.hash)
            found = find_sysv(&t, symbol);
        return found ? address_of(&t, found) : NULL;
    }
    return NULL;
}

/*
 * A ladder of reasons, from the file's rights to its ELF headers. Headers are read with <elf.h>: four fields do not
 * need libelf.
 *
 * The rules for rights are the kernel's: a setuid or setgid file sets AT_SECURE when the ids really change, a file
 * with capabilities when the caller is not root; ld.so then ignores preloads with a slash in their name.
 */
#include "tools/preload_check.h"

#include <elf.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include "interpose/base.h"
#include "tools/program.h"

enum { SCRIPT_DEPTH = 5, SCRIPT_LINE = 512, LOADER_NAME = 256 };

struct check {
    const char *library;
    char *why;
    size_t size;
};

static bool check_file(const struct check *check, const char *path, unsigned depth);

static bool refuse(const struct check *check, const char *format, ...) FORMAT(2, 3);
static bool refuse(const struct check *check, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(check->why, check->size, format, arguments);
    va_end(arguments);
    return false;
}

static bool check_library(const struct check *check)
{
    if (access(check->library, R_OK))
        return refuse(check, "the library %s cannot be read by this user", check->library);
    return true;
}

static bool check_rights(const struct check *check, const char *path, int fd)
{
    struct stat status;
    if (fstat(fd, &status))
        return true;
    if (status.st_mode & S_ISUID && status.st_uid != getuid())
        return refuse(check, "it is setuid (to user %u), and ld.so ignores preloads there", status.st_uid);
    if (status.st_mode & S_ISGID && status.st_mode & S_IXGRP && status.st_gid != getgid())
        return refuse(check, "it is setgid (to group %u), and ld.so ignores preloads there", status.st_gid);
    if (getuid() && getxattr(path, "security.capability", NULL, 0) > 0)
        return refuse(check, "it has file capabilities (see getcap), and ld.so ignores preloads there");
    return true;
}

static const char *machine_name(unsigned machine)
{
    static const struct {
        unsigned machine;
        const char *name;
    } names[] = {
        {EM_386, "i386"},    {EM_ARM, "ARM"},   {EM_AARCH64, "AArch64"},     {EM_RISCV, "RISC-V"},
        {EM_PPC64, "POWER"}, {EM_S390, "s390"}, {EM_LOONGARCH, "LoongArch"},
    };
    for (unsigned i = 0; i < ARRAY_LENGTH(names); i++)
        if (names[i].machine == machine)
            return names[i].name;
    return "another architecture";
}

/* The program's loader decides: glibc's is called ld-linux-x86-64.so.2 (older ones ld-2.31.so). */
static bool check_loader(const struct check *check, const char *loader)
{
    const char *name = strrchr(loader, '/');
    name = name ? name + 1 : loader;
    if (!strncmp(name, "ld-linux", 8) || !strncmp(name, "ld-2.", 5))
        return true;
    if (strstr(name, "musl"))
        return refuse(check, "it is linked with musl (loader %s), and the library needs glibc", loader);
    return refuse(check, "its loader %s is not that of glibc, which the library needs", loader);
}

static bool check_segments(const struct check *check, int fd, const Elf64_Ehdr *header)
{
    for (unsigned i = 0; i < header->e_phnum; i++) {
        Elf64_Phdr segment;
        char loader[LOADER_NAME];
        off_t at = (off_t)(header->e_phoff + (size_t)i * header->e_phentsize);
        if (pread(fd, &segment, sizeof segment, at) != sizeof segment)
            return refuse(check, "its ELF headers are damaged");
        if (segment.p_type != PT_INTERP)
            continue;
        size_t length = min_size(segment.p_filesz, sizeof loader - 1);
        if (pread(fd, loader, length, (off_t)segment.p_offset) != (ssize_t)length)
            return refuse(check, "its ELF headers are damaged");
        loader[length] = '\0';
        return check_loader(check, loader);
    }
    return refuse(check, "it is a static program: it has no loader that could load the library");
}

static bool check_elf(const struct check *check, int fd, const Elf64_Ehdr *header)
{
    if (header->e_ident[EI_CLASS] != ELFCLASS64)
        return refuse(check, "it is a 32-bit program (%s), and the library is 64-bit", machine_name(header->e_machine));
    if (header->e_machine != EM_X86_64)
        return refuse(check, "it is built for %s, and the library for x86-64", machine_name(header->e_machine));
    if (header->e_type != ET_EXEC && header->e_type != ET_DYN)
        return refuse(check, "it is an ELF file, but no program");
    return check_segments(check, fd, header);
}

/* The program that `env` would start, from the words after it in a #! line. */
static const char *word_after_env(char *words)
{
    char *rest = NULL;
    for (char *word = strtok_r(words, " \t", &rest); word; word = strtok_r(NULL, " \t", &rest))
        if (word[0] != '-' && !strchr(word, '='))
            return word;
    return NULL;
}

static bool check_script(const struct check *check, char *line, unsigned depth)
{
    char why[256];
    line += strspn(line, " \t");
    char *end = line + strcspn(line, " \t"), *words = *end ? end + 1 : end;
    *end = '\0';
    struct check inner = {check->library, why, sizeof why};
    if (!check_file(&inner, line, depth + 1))
        return refuse(check, "it is a script, and of its interpreter %s: %s", line, why);
    const char *name = strrchr(line, '/');
    if (!name || strcmp(name, "/env"))
        return true;
    const char *word = word_after_env(words);
    char *path = word ? program_find(word) : NULL;
    bool good = !path || check_file(&inner, path, depth + 1);
    free(path);
    return good ? true : refuse(check, "it is a script, and of its interpreter %s: %s", word, why);
}

static bool check_file(const struct check *check, const char *path, unsigned depth)
{
    union {
        Elf64_Ehdr elf;
        char text[SCRIPT_LINE];
    } head = {0};
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return refuse(check, "its file %s cannot be read, so the reason is not known", path);
    ssize_t length = read(fd, head.text, sizeof head.text - 1);
    bool good = true;
    if (length > 2 && !memcmp(head.text, "#!", 2)) {
        head.text[strcspn(head.text, "\n")] = '\0';
        good = depth >= SCRIPT_DEPTH || check_script(check, head.text + 2, depth);
    } else if (length >= (ssize_t)sizeof head.elf && !memcmp(head.text, ELFMAG, SELFMAG)) {
        good = check_rights(check, path, fd) && check_elf(check, fd, &head.elf);
    }
    close(fd);
    return good;
}

bool preload_check(const char *path, const char *library, char *why, size_t size)
{
    struct check check = {library, why, size};
    return check_library(&check) && check_file(&check, path, 0);
}

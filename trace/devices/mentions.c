/* mentions.c: whether a program may look for compilers while it runs. */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "compilers.h"

/* No whole name of a library may stand here: this is in the program, too. */
static const char begin[] = "libnv";
static const char *const ends[] = {"rtc", "JitLink", "vm"};
enum { BEGIN = sizeof(begin) - 1, ENDS = sizeof(ends) / sizeof(*ends) };

static bool is_library(const char *at, size_t size)
{
    if (size < BEGIN || memcmp(at, begin, BEGIN))
        return false;
    for (size_t i = 0; i < ENDS; i++) {
        size_t length = strlen(ends[i]);

        if (size - BEGIN >= length && !memcmp(at + BEGIN, ends[i], length))
            return true;
    }
    return false;
}

static bool mentions(const char *at, size_t size)
{
    const char *end = at + size;

    while ((at = memmem(at, (size_t)(end - at), begin, BEGIN))) {
        if (is_library(at, (size_t)(end - at)))
            return true;
        at++;
    }
    return false;
}

struct search {
    char system[PATH_MAX]; /* where libc is */
    bool found;
};

static const char *base_of(const char *path)
{
    const char *slash = strrchr(path, '/');

    return slash ? slash + 1 : path;
}

static size_t folder_of(const char *path)
{
    return (size_t)(base_of(path) - path);
}

static int note_libc(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    const char *path = object->dlpi_name;

    (void)size;
    if (!path || strncmp(base_of(path), "libc.so.", 8))
        return 0;
    snprintf(search->system, sizeof(search->system), "%.*s",
             (int)folder_of(path), path);
    return 1;
}

/* What the system brings is not looked through; nor is the kernel's object. */
static bool is_system(const struct search *search, const char *path)
{
    size_t length = strlen(search->system);

    if (!*path) /* the program */
        return false;
    if (!strchr(path, '/'))
        return true;
    return length && folder_of(path) == length &&
           !strncmp(path, search->system, length);
}

static int look(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    const char *path = object->dlpi_name ? object->dlpi_name : "";
    const char *base = base_of(path);

    (void)size;
    if (is_library(base, strlen(base)))
        return search->found = true;
    if (is_system(search, path))
        return 0;
    for (size_t i = 0; i < object->dlpi_phnum && !search->found; i++) {
        const ElfW(Phdr) *part = &object->dlpi_phdr[i];

        if (part->p_type == PT_LOAD && (part->p_flags & (PF_R | PF_W)) == PF_R)
            search->found =
                mentions((const char *)(object->dlpi_addr + part->p_vaddr),
                         part->p_filesz);
    }
    return search->found;
}

bool trace_compilers_possible(void)
{
    struct search search = {.found = false};
    int error = errno;

    dl_iterate_phdr(note_libc, &search);
    dl_iterate_phdr(look, &search);
    errno = error;
    return search.found;
}

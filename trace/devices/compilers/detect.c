/* detect.c: detects programs that may load a compiler while they run, by its
 * name among the program's constants. */
#include <errno.h>
#include <limits.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "compilers.h"
#include "trace/base/strings.h"

/* Split, because this code is part of the program that is searched. */
static const char begin[] = "libnv";
static const char *const ends[] = {"rtc", "JitLink", "vm"};
enum { BEGIN = sizeof(begin) - 1, ENDS = sizeof(ends) / sizeof(*ends) };

/* AddressSanitizer forbids reads between a program's constants, in libc's
 * functions as well. */
#define ANY_MEMORY __attribute__((no_sanitize("address")))

ANY_MEMORY static bool begins(const char *text, size_t size, const char *with)
{
    for (; *with; text++, with++, size--)
        if (!size || *text != *with)
            return false;
    return true;
}

ANY_MEMORY static bool is_library(const char *at, size_t size)
{
    if (!begins(at, size, begin))
        return false;
    for (size_t i = 0; i < ENDS; i++)
        if (begins(at + BEGIN, size - BEGIN, ends[i]))
            return true;
    return false;
}

/* Finds `begin` by looking at every fifth byte: any occurrence covers one of
 * them, and its five letters differ, so the letter tells the offset. */
ANY_MEMORY static bool mentions(const char *at, size_t size)
{
    static const unsigned char places[256] = {
        ['l'] = 1, ['i'] = 2, ['b'] = 3, ['n'] = 4, ['v'] = 5};

    for (size_t i = BEGIN - 1; i < size; i += BEGIN) {
        unsigned place = places[(unsigned char)at[i]];
        size_t start = i + 1 - place;

        if (place && is_library(at + start, size - start))
            return true;
    }
    return false;
}

struct search {
    char system[PATH_MAX]; /* the folder of libc */
    bool found;
};

static size_t folder_of(const char *path)
{
    return (size_t)(trace_base_name(path) - path);
}

static int note_libc(struct dl_phdr_info *object, size_t size, void *context)
{
    struct search *search = context;
    const char *path = object->dlpi_name;

    (void)size;
    if (!path || strncmp(trace_base_name(path), "libc.so.", 8))
        return 0;
    snprintf(search->system, sizeof(search->system), "%.*s",
             (int)folder_of(path), path);
    return 1;
}

/* Skips libraries in the system's folder and the kernel's vDSO. */
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
    const char *base = trace_base_name(path);

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

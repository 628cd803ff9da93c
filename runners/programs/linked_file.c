/* linked_file.c: reads which libraries a program is linked with. */
#include "linked_file.h"

#include <string.h>

static bool read_segment(const struct linked_file *linked, size_t i,
                         ElfW(Phdr) * segment)
{
    const ElfW(Ehdr) *header = &linked->file.header;
    const char *at =
        test_log_elf_at(&linked->file, header->e_phoff + i * sizeof(*segment),
                        sizeof(*segment));

    if (at)
        memcpy(segment, at, sizeof(*segment));
    return at && header->e_phentsize == sizeof(*segment);
}

/* The offset in the file of the data that is loaded at an address; 0: none. */
static uint64_t offset_of(const struct linked_file *linked, uint64_t address)
{
    ElfW(Phdr) segment;

    for (size_t i = 0;
         i < linked->file.header.e_phnum && read_segment(linked, i, &segment);
         i++)
        if (segment.p_type == PT_LOAD && address >= segment.p_vaddr &&
            address - segment.p_vaddr < segment.p_filesz)
            return segment.p_offset + (address - segment.p_vaddr);
    return 0;
}

/* Reads entry `i` of the dynamic section; false after the last one. */
static bool read_entry(const struct linked_file *linked, size_t i,
                       ElfW(Dyn) * entry)
{
    const char *at = NULL;

    if ((i + 1) * sizeof(*entry) <= linked->dynamic.p_filesz)
        at = test_log_elf_at(&linked->file,
                             linked->dynamic.p_offset + i * sizeof(*entry),
                             sizeof(*entry));
    if (at)
        memcpy(entry, at, sizeof(*entry));
    return at && entry->d_tag != DT_NULL;
}

bool runners_linked_open(struct linked_file *linked, const char *path)
{
    ElfW(Dyn) entry;

    *linked = (struct linked_file){.strings = 0};
    if (!test_log_elf_open(&linked->file, path))
        return false;
    for (size_t i = 0; i < linked->file.header.e_phnum &&
                       read_segment(linked, i, &linked->dynamic) &&
                       linked->dynamic.p_type != PT_DYNAMIC;
         i++)
        linked->dynamic.p_type = PT_NULL;
    if (linked->dynamic.p_type != PT_DYNAMIC)
        linked->dynamic.p_filesz = 0; /* it is linked statically */
    for (size_t i = 0; read_entry(linked, i, &entry); i++)
        if (entry.d_tag == DT_STRTAB)
            linked->strings = offset_of(linked, entry.d_un.d_ptr);
    return true;
}

const char *runners_linked_library(const struct linked_file *linked,
                                   const char *prefix)
{
    size_t size = strlen(prefix);
    ElfW(Dyn) entry;

    for (size_t i = 0; linked->strings && read_entry(linked, i, &entry); i++) {
        uint64_t offset = linked->strings + entry.d_un.d_val;
        const char *name;

        if (entry.d_tag != DT_NEEDED)
            continue;
        name = test_log_elf_at(&linked->file, offset, size);
        if (name && !strncmp(name, prefix, size) &&
            memchr(name, '\0', linked->file.size - offset))
            return name;
    }
    return NULL;
}

/* Finds the next segment of a type from `number` on; NULL: there is none. */
static const char *next_segment(const struct linked_file *linked, uint32_t type,
                                size_t *number, size_t *size)
{
    ElfW(Phdr) segment;
    const char *bytes;

    while (*number < linked->file.header.e_phnum &&
           read_segment(linked, (*number)++, &segment)) {
        if (segment.p_type != type)
            continue;
        bytes =
            test_log_elf_at(&linked->file, segment.p_offset, segment.p_filesz);
        *size = segment.p_filesz;
        if (bytes)
            return bytes;
    }
    return NULL;
}

/* Debug information is large, and not loaded. */
bool runners_linked_contains(const struct linked_file *linked, const char *text)
{
    size_t number = 0, size;
    const char *bytes;

    while ((bytes = next_segment(linked, PT_LOAD, &number, &size)))
        if (memmem(bytes, size, text, strlen(text)))
            return true;
    return false;
}

/* Whether glibc's loader loads the program. */
static bool is_dynamic(const struct linked_file *linked)
{
    size_t number = 0, size;
    const char *loader = next_segment(linked, PT_INTERP, &number, &size);

    return loader && memmem(loader, size, "/ld-linux", 9);
}

/* Programs that contain testlog have a name of its protocol in their file. */
bool runners_linked_has_testlog(const struct linked_file *linked)
{
    return runners_linked_library(linked, "libtestlog") ||
           runners_linked_contains(linked, "TESTLOG_SESSION");
}

/* Sanitizers have handlers of their own and must be loaded first; Rust's
 * runtime sets its handlers if there are none. */
bool runners_linked_takes_library(const struct linked_file *linked)
{
    static const char *const texts[] = {"san_init", "__ubsan_handle",
                                        "RUST_BACKTRACE"};

    if (!is_dynamic(linked))
        return false;
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++)
        if (runners_linked_contains(linked, texts[i]))
            return false;
    return true;
}

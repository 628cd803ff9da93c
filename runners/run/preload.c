/* preload.c: testlog run --preload: loads testlog into programs that are linked
 * with Criterion only. Criterion's main is in its shared library, so ours
 * replaces it.
 */
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "harness/results/folder/notice.h"
#include "harness/runner/program/elf_file.h"
#include "harness/runner/program/program.h"
#include "run.h"

/* ---- What a program is linked with ---- */

/* A program's file, and where its dynamic section and strings are. */
struct linked {
    struct test_log_elf file;
    ElfW(Phdr) dynamic;
    uint64_t strings; /* offset of the names; 0: there are none */
};

static bool read_segment(const struct linked *linked, size_t i,
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
static uint64_t offset_of(const struct linked *linked, uint64_t address)
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
static bool read_entry(const struct linked *linked, size_t i, ElfW(Dyn) * entry)
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

static bool open_linked(struct linked *linked, const char *path)
{
    ElfW(Dyn) entry;

    *linked = (struct linked){.strings = 0};
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

/* Returns the name of the first library that begins with a prefix. */
static const char *find_library(const struct linked *linked, const char *prefix)
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

/* ---- What it is started with ---- */

/* The runtimes of these must be loaded before any other library. */
static const char *find_sanitizer(const struct linked *linked)
{
    static const char *const prefixes[] = {"libasan.so", "liblsan.so",
                                           "libtsan.so", "libhwasan.so"};
    const char *found = NULL;

    for (size_t i = 0; i < sizeof(prefixes) / sizeof(*prefixes) && !found; i++)
        found = find_library(linked, prefixes[i]);
    return found;
}

/* Programs that contain testlog have a name of its protocol in their file. */
static bool has_testlog(const struct linked *linked)
{
    static const char name[] = "TESTLOG_SESSION";

    return find_library(linked, "libtestlog.so") ||
           memmem(linked->file.bytes, linked->file.size, name, sizeof(name));
}

bool runners_preload_suits(const char *path, bool preload)
{
    struct linked linked;
    bool suits;

    if (!open_linked(&linked, path))
        return false;
    suits = has_testlog(&linked) ||
            (preload && find_library(&linked, "libcriterion.so"));
    test_log_elf_close(&linked.file);
    return suits;
}

/* A file that cannot be parsed may be a script that starts the program. */
static int choose(struct program *program, const char *library)
{
    struct linked linked;
    const char *first = NULL;
    bool readable = open_linked(&linked, program->path), has = false;

    if (readable) {
        first = find_sanitizer(&linked);
        has = has_testlog(&linked);
    }
    if (!has && asprintf(&program->preload, "%s%s%s", first ? first : "",
                         first ? ":" : "", library) < 0)
        program->preload = NULL;
    if (readable)
        test_log_elf_close(&linked.file);
    return has || program->preload ? 0 : -1;
}

int runners_preload_begin(struct programs *programs)
{
    char library[PATH_MAX];

    if (programs->launcher_count) {
        test_log_notice("--preload and --launch exclude each other; link the "
                        "programs with -ltestlog");
        return -1;
    }
    if (!test_log_own_library(library)) {
        test_log_notice("--preload: no libtestlog.so beside testlog that only "
                        "you or root can replace; run make install");
        return -1;
    }
    if (strpbrk(library, ": ")) {
        test_log_notice("--preload: LD_PRELOAD ends a path at a blank or "
                        "colon, as in %s; install testlog elsewhere",
                        library);
        return -1;
    }
    for (size_t i = 0; i < programs->count; i++)
        if (choose(&programs->all[i], library)) {
            test_log_notice("out of memory");
            return -1;
        }
    return 0;
}

/* ---- Programs without effect ---- */

static const char *silent; /* the path of the first one */
static size_t silent_count;

void runners_preload_note(const struct program *program)
{
    if (!program->preload || runners_interrupted())
        return;
    if (!silent_count++)
        silent = program->path;
}

void runners_preload_explain(void)
{
    if (silent_count == 1)
        test_log_notice("--preload: %s sent no results, so only its exit "
                        "status counts: it does not use Criterion's main, or "
                        "is linked statically; link it with -ltestlog",
                        silent);
    else if (silent_count)
        test_log_notice("--preload: %s and %zu more sent no results, so only "
                        "their exit status counts: they do not use "
                        "Criterion's main, or are linked statically; link "
                        "them with -ltestlog",
                        silent, silent_count - 1);
}

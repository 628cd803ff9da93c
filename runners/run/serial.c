/* serial.c: finds the note of TEST_LOG_SERIAL in a program, without running
 * it. */
#include <string.h>

#include "harness/machine/elf_file.h"
#include "run.h"

/* As in TEST_LOG_SERIAL (test_log.h). */
static const char ours[8] = "testlog";

enum {
    SERIAL = 1, /* the type of the note */
    PLACE = 4,  /* parts of a note begin at multiples of it */
};

static uint64_t padded(uint64_t size)
{
    return (size + PLACE - 1) / PLACE * PLACE;
}

/* Looks for our note among those at `from`. */
static bool find_note(const struct test_log_elf *file, uint64_t from,
                      uint64_t size)
{
    ElfW(Nhdr) note;
    const char *at;

    while (size >= sizeof(note) && (at = test_log_elf_at(file, from, size))) {
        uint64_t step;

        memcpy(&note, at, sizeof(note));
        step = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
        if (note.n_type == SERIAL && note.n_namesz == sizeof(ours) &&
            size >= sizeof(note) + sizeof(ours) &&
            !memcmp(at + sizeof(note), ours, sizeof(ours)))
            return true;
        if (step > size)
            return false;
        from += step;
        size -= step;
    }
    return false;
}

static bool is_marked(const struct test_log_elf *file)
{
    const ElfW(Ehdr) *header = &file->header;
    ElfW(Phdr) segment;

    if (header->e_phentsize != sizeof(segment))
        return false;
    for (size_t i = 0; i < header->e_phnum; i++) {
        const char *from = test_log_elf_at(
            file, header->e_phoff + i * sizeof(segment), sizeof(segment));

        if (!from)
            return false;
        memcpy(&segment, from, sizeof(segment));
        if (segment.p_type == PT_NOTE &&
            find_note(file, segment.p_offset, segment.p_filesz))
            return true;
    }
    return false;
}

bool runners_is_serial(const char *path)
{
    struct test_log_elf file;
    bool marked;

    if (!test_log_elf_open(&file, path))
        return false;
    marked = is_marked(&file);
    test_log_elf_close(&file);
    return marked;
}

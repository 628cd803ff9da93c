/* serial.c: finds the note of TEST_LOG_SERIAL in a program, without running
 * it. */
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "run.h"

/* As TEST_LOG_SERIAL has it (test_log.h). */
static const char ours[8] = "testlog";

enum {
    SERIAL = 1, /* the type of the note */
    PLACE = 4,  /* parts of a note begin at multiples of it */
};

/* A file of any bytes. */
struct image {
    const char *bytes;
    size_t size;
};

static bool has(const struct image *image, uint64_t from, uint64_t size)
{
    return from <= image->size && size <= image->size - from;
}

static uint64_t padded(uint64_t size)
{
    return (size + PLACE - 1) / PLACE * PLACE;
}

/* Looks for our note among those at `from`. */
static bool find_note(const struct image *image, uint64_t from, uint64_t size)
{
    ElfW(Nhdr) note;

    while (size >= sizeof(note) && has(image, from, size)) {
        uint64_t step;

        memcpy(&note, image->bytes + from, sizeof(note));
        step = sizeof(note) + padded(note.n_namesz) + padded(note.n_descsz);
        if (note.n_type == SERIAL && note.n_namesz == sizeof(ours) &&
            size >= sizeof(note) + sizeof(ours) &&
            !memcmp(image->bytes + from + sizeof(note), ours, sizeof(ours)))
            return true;
        if (step > size)
            return false;
        from += step;
        size -= step;
    }
    return false;
}

static bool is_program(const struct image *image, ElfW(Ehdr) * header)
{
    if (!has(image, 0, sizeof(*header)))
        return false;
    memcpy(header, image->bytes, sizeof(*header));
    return !memcmp(header->e_ident, ELFMAG, SELFMAG) &&
           header->e_ident[EI_CLASS] ==
               (sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32) &&
           header->e_phentsize == sizeof(ElfW(Phdr));
}

static bool is_marked(const struct image *image)
{
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;

    if (!is_program(image, &header) ||
        !has(image, header.e_phoff, header.e_phnum * sizeof(segment)))
        return false;
    for (size_t i = 0; i < header.e_phnum; i++) {
        memcpy(&segment, image->bytes + header.e_phoff + i * sizeof(segment),
               sizeof(segment));
        if (segment.p_type == PT_NOTE &&
            find_note(image, segment.p_offset, segment.p_filesz))
            return true;
    }
    return false;
}

bool runners_is_serial(const char *path)
{
    int fd = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    struct image image = {0};
    struct stat status;
    bool marked = false;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && !fstat(fd, &status) && S_ISREG(status.st_mode) &&
        status.st_size > 0) {
        image.size = (size_t)status.st_size;
        bytes = mmap(NULL, image.size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (bytes != MAP_FAILED) {
        image.bytes = bytes;
        marked = is_marked(&image);
        munmap(bytes, image.size);
    }
    if (fd >= 0)
        close(fd);
    return marked;
}

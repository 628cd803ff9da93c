/* elf_file.c: maps the file of a program or shared object. */
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "harness/machine/elf_file.h"
#include "trace/base/file.h"

const char *test_log_elf_at(const struct test_log_elf *file, uint64_t offset,
                            uint64_t size)
{
    return offset <= file->size && size <= file->size - offset
               ? file->bytes + offset
               : NULL;
}

static bool map(struct test_log_elf *file, const char *path)
{
    int fd = trace_open_regular(path);
    struct stat status;
    void *bytes = MAP_FAILED;

    if (fd >= 0 && !fstat(fd, &status)) {
        file->size = (size_t)status.st_size;
        bytes = mmap(NULL, file->size, PROT_READ, MAP_PRIVATE, fd, 0);
    }
    if (fd >= 0)
        close(fd);
    file->bytes = bytes;
    return bytes != MAP_FAILED;
}

static bool read_header(struct test_log_elf *file)
{
    const int native = sizeof(ElfW(Addr)) == 8 ? ELFCLASS64 : ELFCLASS32;
    const char *header = test_log_elf_at(file, 0, sizeof(file->header));

    if (!header)
        return false;
    memcpy(&file->header, header, sizeof(file->header));
    return !memcmp(file->header.e_ident, ELFMAG, SELFMAG) &&
           file->header.e_ident[EI_CLASS] == native;
}

bool test_log_elf_open(struct test_log_elf *file, const char *path)
{
    *file = (struct test_log_elf){NULL};
    if (!map(file, path))
        return false;
    if (read_header(file))
        return true;
    test_log_elf_close(file);
    return false;
}

void test_log_elf_close(struct test_log_elf *file)
{
    munmap((void *)(uintptr_t)file->bytes, file->size);
}

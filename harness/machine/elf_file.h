/* elf_file.h: reads the files of programs and shared objects, which may contain
 * any bytes. Private.
 */
#ifndef TESTLOG_ELF_FILE_H
#define TESTLOG_ELF_FILE_H

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct test_log_elf {
    const char *bytes; /* the mapped file */
    size_t size;
    ElfW(Ehdr) header;
};

/* test_log_elf_open maps a file and reads its header; false if it cannot, or if
 * it is not an ELF file for this process's architecture. */
bool test_log_elf_open(struct test_log_elf *, const char *path);
void test_log_elf_close(struct test_log_elf *);

/* test_log_elf_at returns `size` bytes of the file at `offset`, not aligned;
 * NULL if the file is shorter. */
const char *test_log_elf_at(const struct test_log_elf *, uint64_t offset,
                            uint64_t size);

#endif

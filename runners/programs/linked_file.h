/* linked_file.h: what the file of a program tells of it. Private. */
#ifndef TESTLOG_LINKED_FILE_H
#define TESTLOG_LINKED_FILE_H

#include "harness/machine/elf_file.h"

/* A program's file, and where its dynamic section and strings are. */
struct linked_file {
    struct test_log_elf file;
    ElfW(Phdr) dynamic;
    uint64_t strings; /* offset of the names; 0: there are none */
};

/* runners_linked_open opens a program; false if it is no ELF file. Then
 * test_log_elf_close(&file->file) closes it. */
bool runners_linked_open(struct linked_file *, const char *path);

/* runners_linked_library returns the name of the first library that begins with
 * a prefix, NULL if the program needs none. runners_linked_contains tells
 * whether the file contains a text. */
const char *runners_linked_library(const struct linked_file *,
                                   const char *prefix);
bool runners_linked_contains(const struct linked_file *, const char *text);

/* runners_linked_has_testlog tells whether testlog is linked into the program.
 */
bool runners_linked_has_testlog(const struct linked_file *);

/* runners_linked_takes_library tells whether our library for crashes can be
 * loaded into the program. */
bool runners_linked_takes_library(const struct linked_file *);

#endif

/* runners_serial_test.c: finds the ELF note of TEST_LOG_SERIAL in any file. */
#include "runners/run/run.h"

#include <elf.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

/* A program with one segment of notes, in which another note precedes ours. */
struct image {
    ElfW(Ehdr) header;
    ElfW(Phdr) segment;
    ElfW(Nhdr) other;
    char other_name[4], other_text[8];
    ElfW(Nhdr) note;
    char name[8];
};

static struct image image;

static void begin(void)
{
    test_folder();
    memcpy(image.header.e_ident, ELFMAG, SELFMAG);
    image.header.e_ident[EI_CLASS] =
        sizeof(void *) == 8 ? ELFCLASS64 : ELFCLASS32;
    image.header.e_phoff = offsetof(struct image, segment);
    image.header.e_phentsize = sizeof(image.segment);
    image.header.e_phnum = 1;
    image.segment.p_type = PT_NOTE;
    image.segment.p_offset = offsetof(struct image, other);
    image.segment.p_filesz = sizeof(image) - offsetof(struct image, other);
    image.other = (ElfW(Nhdr)){4, 6, 1}; /* padded */
    memcpy(image.other_name, "GNU", 4);
    image.note = (ElfW(Nhdr)){8, 0, 1};
    memcpy(image.name, "testlog", 8);
}

TestSuite(runners_serial, .init = begin);

static bool is_serial(size_t size)
{
    FILE *file = fopen(test_path("program"), "we");

    cr_assert_not_null(file);
    cr_assert_eq(fwrite(&image, 1, size, file), size);
    cr_assert_eq(fclose(file), 0);
    return runners_is_serial(test_path("program"));
}

Test(runners_serial, finds_the_note_among_others)
{
    cr_expect(is_serial(sizeof(image)));
}

Test(runners_serial, ignores_other_notes)
{
    image.note.n_type = 2;
    cr_expect_not(is_serial(sizeof(image)));
    image.note.n_type = 1;
    image.name[0] = 'b';
    cr_expect_not(is_serial(sizeof(image)));
    image.name[0] = 't';
    image.segment.p_type = PT_LOAD;
    cr_expect_not(is_serial(sizeof(image)));
}

Test(runners_serial, survives_files_of_any_size)
{
    for (size_t size = 0; size < sizeof(image); size++)
        cr_expect_not(is_serial(size), "%zu", size);
}

Test(runners_serial, survives_any_sizes_in_headers)
{
    static const unsigned sizes[] = {0,          1,          7,
                                     0x7fffffff, 0xfffffffc, 0xffffffff};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        begin();
        image.other.n_namesz = sizes[i];
        is_serial(sizeof(image));
        begin();
        image.other.n_descsz = sizes[i];
        is_serial(sizeof(image));
        begin();
        image.segment.p_filesz = sizes[i];
        is_serial(sizeof(image));
        begin();
        image.segment.p_offset = ~(ElfW(Off))0 - sizes[i];
        cr_expect_not(is_serial(sizeof(image)));
        begin();
        image.header.e_phoff = ~(ElfW(Off))0 - sizes[i];
        cr_expect_not(is_serial(sizeof(image)));
        begin();
        image.header.e_phnum = (ElfW(Half))sizes[i];
        is_serial(sizeof(image));
    }
}

Test(runners_serial, reads_only_regular_files)
{
    cr_expect_not(runners_is_serial("nowhere"));
    cr_expect_not(runners_is_serial("/dev/zero"));
    cr_expect_not(runners_is_serial("/"));
    cr_expect_not(runners_is_serial("/proc/self/exe"), "this test is not");
}

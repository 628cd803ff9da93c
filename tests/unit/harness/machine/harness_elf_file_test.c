/* harness_elf_file_test.c: reads the files of programs, and any others. */
#include "tests/support/support.h"

#include "harness/machine/elf_file.h"

#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

static struct test_log_elf file;

TestSuite(harness_elf_file, .init = test_folder);

Test(harness_elf_file, opens_a_program)
{
    cr_assert(test_log_elf_open(&file, "/proc/self/exe"));
    cr_expect_eq(file.header.e_phentsize, sizeof(ElfW(Phdr)));
    cr_expect_not_null(
        test_log_elf_at(&file, file.header.e_phoff, file.header.e_phentsize));
    test_log_elf_close(&file);
}

Test(harness_elf_file, returns_no_bytes_behind_the_end)
{
    cr_assert(test_log_elf_open(&file, "/proc/self/exe"));
    cr_expect_not_null(test_log_elf_at(&file, 0, file.size));
    cr_expect_not_null(test_log_elf_at(&file, file.size, 0));
    cr_expect_null(test_log_elf_at(&file, 1, file.size));
    cr_expect_null(test_log_elf_at(&file, file.size + 1, 0));
    cr_expect_null(test_log_elf_at(&file, UINT64_MAX, 2));
    cr_expect_null(test_log_elf_at(&file, 2, UINT64_MAX));
    test_log_elf_close(&file);
}

static void leave(const char *name, const void *bytes, size_t size)
{
    FILE *stream = fopen(test_path(name), "w");

    cr_assert_not_null(stream);
    fwrite(bytes, 1, size, stream);
    fclose(stream);
}

Test(harness_elf_file, refuses_other_files)
{
    ElfW(Ehdr) header = {.e_ident = ELFMAG};

    header.e_ident[EI_CLASS] = ELFCLASSNONE;
    leave("foreign", &header, sizeof(header));
    header.e_ident[EI_CLASS] = ELFCLASS64;
    leave("short", &header, sizeof(header) - 1);
    leave("empty", "", 0);
    cr_assert_eq(mkfifo(test_path("fifo"), 0600), 0);
    cr_expect_not(test_log_elf_open(&file, test_path("foreign")));
    cr_expect_not(test_log_elf_open(&file, test_path("short")));
    cr_expect_not(test_log_elf_open(&file, test_path("empty")));
    cr_expect_not(test_log_elf_open(&file, test_path("fifo")));
    cr_expect_not(test_log_elf_open(&file, test_path("missing")));
    cr_expect_not(test_log_elf_open(&file, "/proc/self"));
}

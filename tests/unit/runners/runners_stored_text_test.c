/* runners_stored_text_test.c: a text in a file, whose write may be cut. */
#include "runners/run/run.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

TestSuite(runners_stored_text, .init = test_folder);

static void expect(int file, const char *expected)
{
    char *text = runners_stored_text(file);

    if (expected)
        cr_expect_str_eq(text ? text : "none", expected);
    else
        cr_expect_null(text);
    free(text);
}

static int open_file(void)
{
    int file = open(test_path("text"), O_RDWR | O_CREAT, 0600);

    cr_assert_geq(file, 0);
    return file;
}

Test(runners_stored_text, keeps_the_last_one)
{
    static const char *const texts[] = {"a", "longer than that", "", "b"};
    int file = open_file();

    expect(file, NULL);
    for (size_t i = 0; i < sizeof(texts) / sizeof(*texts); i++) {
        cr_expect_eq(runners_store_text(file, texts[i]), 0);
        expect(file, texts[i]);
    }
}

/* The bytes of the third text are those of the first from any place on. */
Test(runners_stored_text, keeps_the_one_before_if_a_write_is_cut)
{
    enum { HEAD = 24 };
    static const char first[] = "the first one", third[] = "the third one";
    int file = open_file();
    char before[HEAD + sizeof(first)], after[sizeof(before)];

    runners_store_text(file, first);
    cr_assert_eq(pread(file, before, sizeof(before), 0),
                 (ssize_t)sizeof(before) - 1);
    runners_store_text(file, "the second one");
    runners_store_text(file, third);
    cr_assert_geq(pread(file, after, sizeof(after), 0),
                  (ssize_t)sizeof(after) - 1);
    for (size_t cut = 0; cut < sizeof(before) - 1; cut++) {
        cr_assert_gt(pwrite(file, before, sizeof(before) - 1, 0), 0);
        cr_assert_eq(pwrite(file, after, cut, 0), (ssize_t)cut);
        expect(file,
               memcmp(after + cut, before + cut, sizeof(first) - 1 + HEAD - cut)
                   ? "the second one"
                   : third);
    }
}

Test(runners_stored_text, reads_any_bytes)
{
    char bytes[256];
    int file = open_file();

    srand(3);
    for (int round = 0; round < 200; round++) {
        for (size_t i = 0; i < sizeof(bytes); i++)
            bytes[i] = (char)(rand() % 4 ? 0 : rand());
        cr_assert_eq(pwrite(file, bytes, sizeof(bytes), 0),
                     (ssize_t)sizeof(bytes));
        free(runners_stored_text(file));
    }
}

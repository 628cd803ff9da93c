/* harness_tsv_test.c: lines of columns. */
#include "harness/machine/tsv.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static char line[64], *columns[3];

static size_t cut(const char *text)
{
    strcpy(line, text);
    return test_log_tsv_cut(line, columns, 3);
}

static void expect(const char *first, const char *second, const char *third)
{
    cr_expect_str_eq(columns[0], first);
    cr_expect_str_eq(columns[1], second);
    cr_expect_str_eq(columns[2], third);
}

Test(harness_tsv, cuts_columns)
{
    cr_expect_eq(cut("a\tb\tc"), 3);
    expect("a", "b", "c");
    cr_expect_eq(cut("a\t\tc\n"), 3);
    expect("a", "", "c");
}

Test(harness_tsv, leaves_the_rest_to_the_last)
{
    cr_expect_eq(cut("a\tb\tc\td\te\nf"), 3);
    expect("a", "b", "c\td\te");
}

Test(harness_tsv, has_empty_texts_for_what_is_missing)
{
    cr_expect_eq(cut("a\tb\n"), 2);
    expect("a", "b", "");
    cr_expect_eq(cut("\n"), 1);
    expect("", "", "");
    cr_expect_eq(cut(""), 1);
    expect("", "", "");
}

static void join(void *text, char **all, size_t count)
{
    snprintf((char *)text + strlen(text), 64 - strlen(text), "%zu:%s|%s;",
             count, all[0], all[1]);
}

Test(harness_tsv, reads_each_line_of_a_file, .init = test_folder)
{
    static const char lines[] = "a\tb\tc\n\nd\te";
    char text[64] = "";

    test_save(test_path("file"), lines, strlen(lines));
    cr_expect(
        test_log_tsv_each(open(test_path("file"), O_RDONLY), 2, join, text));
    cr_expect_str_eq(text, "2:a|b\tc;1:|;2:d|e;");
    cr_expect_not(
        test_log_tsv_each(open(test_path("none"), O_RDONLY), 2, join, text));
    cr_expect_eq(errno, ENOENT);
}

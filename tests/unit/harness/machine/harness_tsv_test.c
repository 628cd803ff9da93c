/* harness_tsv_test.c: lines of columns. */
#include <criterion/criterion.h>
#include <string.h>

#include "harness/machine/tsv.h"

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

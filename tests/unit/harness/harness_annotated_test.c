/* harness_annotated_test.c: finds annotated tests by their names. */
#include "harness/session.h"

#include <criterion/criterion.h>
#include <testlog/test_log.h>

static struct criterion_test size = {.name = "size", .category = "suite"},
                             sizes = {.name = "sizes", .category = "suite"},
                             other = {.name = "size", .category = "other"};
static struct test_log_entry entries[] = {
    {.test = &size}, {.test = &sizes}, {.test = &other}};

static void add_all(void)
{
    cr_assert_not(test_log_annotated());
    for (size_t i = 0; i < 3; i++)
        test_log_annotated_add(&entries[i]);
    cr_assert(test_log_annotated());
}

TestSuite(harness_annotated, .init = add_all);

Test(harness_annotated, finds_a_test_by_suite_and_name)
{
    cr_expect_eq(test_log_annotated_find("suite", "size"), &entries[0]);
    cr_expect_eq(test_log_annotated_find("suite", "sizes"), &entries[1]);
    cr_expect_eq(test_log_annotated_find("other", "size"), &entries[2]);
}

Test(harness_annotated, finds_instances_and_repetitions)
{
    cr_expect_eq(test_log_annotated_find("suite", "size[07]"), &entries[0]);
    cr_expect_eq(test_log_annotated_find("suite", "sizes#2"), &entries[1]);
    cr_expect_eq(test_log_annotated_find("suite", "sizes[1]#2"), &entries[1]);
}

Test(harness_annotated, finds_no_other_test)
{
    cr_expect_null(test_log_annotated_find("suite", "siz"));
    cr_expect_null(test_log_annotated_find("suite", "size_of"));
    cr_expect_null(test_log_annotated_find("other", "sizes"));
    cr_expect_null(test_log_annotated_find("suit", "size"));
    cr_expect_null(test_log_annotated_find("suite", ""));
}

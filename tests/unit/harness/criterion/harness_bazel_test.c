/* harness_bazel_test.c: the file by which Bazel notices a premature exit. */
#include "harness/criterion/plan/plan.h"
#include "harness/session.h"

#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/support.h"

static const struct test_log_session none, nested = {.nested = "1"},
                                           part = {.part = "1"};

static void begin(void)
{
    test_folder();
    cr_redirect_stderr();
    unsetenv("TESTLOG_RUN");
    setenv("TEST_PREMATURE_EXIT_FILE", test_path("file"), 1);
}

TestSuite(harness_bazel, .init = begin);

static bool is_there(void)
{
    return !access(test_path("file"), F_OK);
}

Test(harness_bazel, keeps_the_file_while_tests_run)
{
    test_log_bazel_begin(&none);
    cr_expect(is_there());
    test_log_bazel_end();
    cr_expect_not(is_there());
}

/* The file tells Bazel that the program supports shards. */
Test(harness_bazel, creates_and_keeps_the_shard_status_file)
{
    static const char *const names[] = {"TEST_SHARD_STATUS_FILE",
                                        "GTEST_SHARD_STATUS_FILE"};

    unsetenv("TEST_PREMATURE_EXIT_FILE");
    for (size_t i = 0; i < 2; i++) {
        setenv(names[i], test_path("file"), 1);
        test_log_bazel_begin(&none);
        test_log_bazel_end();
        cr_expect(is_there(), "%s", names[i]);
        unlink(test_path("file"));
        test_log_bazel_begin(&nested);
        cr_expect_not(is_there(), "%s, for a test's program", names[i]);
        unsetenv(names[i]);
    }
}

Test(harness_bazel, creates_no_file_without_the_variable)
{
    setenv("TEST_PREMATURE_EXIT_FILE", "", 1);
    test_log_bazel_begin(&none);
    cr_expect_not(is_there());
    test_log_bazel_end();
}

static void expect_left_alone(const struct test_log_session *session)
{
    test_log_bazel_begin(session);
    cr_expect_not(is_there());
    test_save(test_path("file"), "", 0);
    test_log_bazel_end();
    cr_expect(is_there());
    unlink(test_path("file"));
}

/* The program that Bazel started creates and removes the file. */
Test(harness_bazel, leaves_the_file_alone_in_parts_and_nested_runs)
{
    expect_left_alone(&nested);
    expect_left_alone(&part);
    setenv("TESTLOG_RUN", "/somewhere", 1);
    expect_left_alone(&none);
}

Test(harness_bazel, continues_if_the_file_cannot_be_created)
{
    setenv("TEST_PREMATURE_EXIT_FILE", "/nowhere/at/all", 1);
    test_log_bazel_begin(&none);
    test_log_bazel_end();
}

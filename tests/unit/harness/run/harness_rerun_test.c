/* harness_rerun_test.c: --failed chooses what failed in the last run. */
#include "harness/criterion/plan/plan.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/past/history.h"
#include "harness/session.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_past past[] = {
    {.outcome = TEST_LOG_OUTCOME_PASSED,
     .duration = 1,
     .program = (char *)"program",
     .name = (char *)"s/good"},
    {.outcome = TEST_LOG_OUTCOME_FAILED,
     .duration = 1,
     .program = (char *)"program",
     .name = (char *)"s/bad"},
    {.outcome = TEST_LOG_OUTCOME_TIMEOUT,
     .duration = 1,
     .program = (char *)"program",
     .name = (char *)"s/slow[03]"},
    {.outcome = TEST_LOG_OUTCOME_CRASHED,
     .duration = 1,
     .program = (char *)"program~2",
     .name = (char *)"s/other"},
    {.outcome = TEST_LOG_OUTCOME_PASSED,
     .duration = 1,
     .program = (char *)"passing",
     .name = (char *)"s/good"},
    {.outcome = TEST_LOG_OUTCOME_CRASHED,
     .duration = 1,
     .program = (char *)"crashed",
     .name = (char *)"s/bad"},
    {.outcome = TEST_LOG_OUTCOME_CRASHED,
     .duration = 1,
     .program = (char *)"crashed",
     .name = (char *)"crashed"},
    {.outcome = TEST_LOG_OUTCOME_FAILED,
     .duration = 1,
     .program = (char *)"crashed",
     .name = (char *)"s/worse"},
};
static struct test_log_history last = {.path = (char *)"/runs/last",
                                       .tests = past,
                                       .count = sizeof(past) / sizeof(*past)};
static struct test_log_options options = {.dir = "/runs", .failed = true};
static char *printed;
static size_t printed_size;

static void begin(void)
{
    unsetenv("TESTLOG_RUN");
    unsetenv("TESTLOG_SESSION");
    test_log_session_forget();
    test_log_out = open_memstream(&printed, &printed_size);
    cr_assert_not_null(test_log_out);
    fflush(test_log_out); /* makes it "" */
}

static void end(void)
{
    fclose(test_log_out);
    free(printed);
    test_log_options_free(&options);
}

TestSuite(harness_rerun, .init = begin, .fini = end);

/* ---- What runs ---- */

Test(harness_rerun, chooses_failed_tests_by_their_names)
{
    cr_assert(test_log_rerun_choose(&options, &last, "./bin/program"));
    cr_assert_not_null(options.only);
    cr_expect_str_eq(options.only[0], "s/bad");
    cr_expect_str_eq(options.only[1], "s/slow[03]");
    cr_expect_null(options.only[2]);
    cr_expect_str_eq(printed, "");
}

Test(harness_rerun, chooses_by_the_name_that_testlog_run_gave)
{
    test_log_session_export(&(struct test_log_session){.program = "program~2"});
    cr_assert(test_log_rerun_choose(&options, &last, "./bin/program"));
    cr_assert_not_null(options.only);
    cr_expect_str_eq(options.only[0], "s/other");
    cr_expect_null(options.only[1]);
}

Test(harness_rerun, runs_nothing_of_a_program_that_passed)
{
    cr_expect_not(test_log_rerun_choose(&options, &last, "passing"));
    cr_expect_null(options.only);
    cr_expect_str_eq(printed, "");
}

/* Its last line names the program: which test had run is not known. */
Test(harness_rerun, runs_all_tests_of_a_program_that_left_no_results)
{
    cr_expect(test_log_rerun_choose(&options, &last, "crashed"));
    cr_expect_null(options.only);
}

/* ---- Without a last run ---- */

static void expect_all(const char *program, const char *first,
                       const char *second)
{
    cr_expect(test_log_rerun_choose(&options, &last, program));
    cr_expect_null(options.only);
    cr_expect(strstr(printed, first), "%s", printed);
    cr_expect(strstr(printed, second), "%s", printed);
}

Test(harness_rerun, runs_all_tests_of_an_unknown_program)
{
    expect_all("unknown", "testlog: --failed: ", "unknown");
}

Test(harness_rerun, runs_all_tests_without_a_last_run)
{
    last.path = NULL;
    expect_all("program", "testlog: --failed: ", "/runs");
}

Test(harness_rerun, failed_first_leaves_out_no_test)
{
    options.failed = false;
    options.failed_first = true;
    cr_expect(test_log_rerun_choose(&options, &last, "passing"));
    cr_expect_null(options.only);
    cr_expect(test_log_rerun_choose(&options, &last, "unknown"));
    cr_expect_null(options.only);
    cr_expect(test_log_rerun_choose(&options, &last, "program"));
    cr_assert_not_null(options.only);
    cr_expect_str_eq(options.only[0], "s/bad");
    cr_expect_str_eq(printed, "");
}

/* `testlog run` has printed that for all its programs. */
Test(harness_rerun, program_of_testlog_run_repeats_no_message)
{
    last.path = NULL;
    setenv("TESTLOG_RUN", "/runs/this", 1);
    cr_expect(test_log_rerun_choose(&options, &last, "program"));
    cr_expect_str_eq(printed, "");
}

/* ---- Without memory ---- */

Test(harness_rerun, runs_all_tests_without_memory)
{
    size_t asked;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_fail_memory(0, false);
    cr_assert(test_log_rerun_choose(&options, &last, "program"));
    asked = test_fail_memory(0, false);
    cr_assert_gt(asked, 0);
    for (size_t i = 1; i <= asked; i++) {
        bool runs;

        test_log_options_free(&options);
        options.failed = true;
        test_fail_memory(i, false);
        runs = test_log_rerun_choose(&options, &last, "program");
        test_fail_memory(0, false);
        cr_expect(runs);
        cr_expect_null(options.only, "%zu", i);
    }
}

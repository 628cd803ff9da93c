/* harness_history_test.c: the results that a run keeps for the next one. */
#include "harness/results/history.h"
#include "harness/results/run_folder.h"
#include "harness/runner/plan.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "support.h"

static struct test_log_run run;
static struct test_log_history last;
static struct test_log_options options;

static void begin(void)
{
    test_folder();
    test_log_make_folders(test_path("latest"));
    run.path = strdup(test_path("latest"));
    unsetenv("TESTLOG_RUN");
    options.dir = test_path("");
}

static void end(void)
{
    test_log_run_free(&run);
    test_log_history_free(&last);
    test_log_options_free(&options);
}

TestSuite(harness_history, .init = begin, .fini = end);

static struct test_log_result *add(const char *suite, const char *name,
                                   enum test_log_outcome outcome,
                                   uint64_t duration)
{
    struct test_log_result *result = test_log_run_add(&run);

    cr_assert_not_null(result);
    result->program = strdup("program");
    result->suite = suite ? strdup(suite) : NULL;
    result->test = strdup(name);
    result->outcome = outcome;
    result->duration = duration;
    return result;
}

static void write_and_read(void)
{
    cr_assert_eq(test_log_history_write(&run, "results.tsv"), 0);
    test_log_history_read(&last, options.dir, NULL);
}

Test(harness_history, reads_back_results)
{
    const struct test_log_past *past;

    add("s", "good", TEST_LOG_OUTCOME_PASSED, 5);
    add("s", "bad[07]", TEST_LOG_OUTCOME_CRASHED, 6000000000);
    add("s", "nothing", TEST_LOG_OUTCOME_NONE, 1);
    write_and_read();
    cr_assert_eq(last.count, 2);
    past = test_log_history_of(&last, "program", "s/bad[07]");
    cr_assert_not_null(past);
    cr_expect_eq(past->duration, 6000000000);
    cr_expect_eq(past->outcome, TEST_LOG_OUTCOME_CRASHED);
    cr_expect_null(test_log_history_of(&last, "other", "s/good"));
    cr_expect_not_null(test_log_history_of(&last, "program", "s/good"));
}

Test(harness_history, chooses_failed_tests)
{
    add("s", "good", TEST_LOG_OUTCOME_PASSED, 1);
    add("s", "bad#2", TEST_LOG_OUTCOME_FAILED, 1);
    add("s", "slow", TEST_LOG_OUTCOME_TIMEOUT, 1);
    write_and_read();
    cr_assert(test_log_rerun_choose(&options, &last, "./bin/program"));
    cr_expect_str_eq(options.only[0], "s/bad");
    cr_expect_str_eq(options.only[1], "s/slow");
    cr_expect_null(options.only[2]);
}

Test(harness_history, chooses_no_test_of_a_program_without_failures)
{
    add("s", "bad", TEST_LOG_OUTCOME_FAILED, 1);
    free(add("s", "good", TEST_LOG_OUTCOME_PASSED, 1)->program);
    run.results[1].program = strdup("other");
    write_and_read();
    cr_expect_not(test_log_rerun_choose(&options, &last, "other"));
    cr_expect(test_log_history_failed(&last, NULL));
    cr_expect_not(test_log_history_failed(&last, "other"));
}

Test(harness_history, chooses_all_tests_of_an_unknown_program)
{
    add("s", "bad", TEST_LOG_OUTCOME_FAILED, 1);
    write_and_read();
    cr_expect(test_log_rerun_choose(&options, &last, "other"));
    cr_expect_null(options.only);
}

Test(harness_history, remembers_a_program_that_is_left_out)
{
    struct test_log_run next = {.path = run.path};

    add("s", "good", TEST_LOG_OUTCOME_PASSED, 7);
    write_and_read();
    test_log_history_carry(&last, "other", &next.left_out);
    cr_expect_null(next.left_out.data);
    test_log_history_carry(&last, "program", &next.left_out);
    cr_assert_eq(test_log_history_write(&next, "results.tsv"), 0);
    trace_text_free(&next.left_out);
    test_log_history_free(&last);
    test_log_history_read(&last, options.dir, NULL);
    cr_assert_eq(last.count, 1);
    cr_expect_eq(last.tests[0].outcome, TEST_LOG_OUTCOME_NONE);
    cr_expect_eq(last.tests[0].duration, 7);
    cr_expect_not(test_log_rerun_choose(&options, &last, "program"));
}

Test(harness_history, chooses_all_tests_of_a_program_that_crashed)
{
    add("s", "bad", TEST_LOG_OUTCOME_FAILED, 1);
    add(NULL, "program", TEST_LOG_OUTCOME_CRASHED, 1);
    write_and_read();
    cr_assert(test_log_rerun_choose(&options, &last, "program"));
    cr_expect_null(options.only);
}

Test(harness_history, skips_malformed_lines)
{
    static const char text[] =
        "passed\nfailed\t1\tp\n\t\t\t\nfailed\tx\tp\ts/t";
    char path[4096];

    snprintf(path, sizeof(path), "%s/results.tsv", run.path);
    test_save(path, text, strlen(text));
    test_log_history_read(&last, options.dir, NULL);
    cr_assert_eq(last.count, 2);
    cr_expect_eq(last.tests[0].outcome, TEST_LOG_OUTCOME_NONE);
    cr_expect_str_eq(last.tests[1].name, "s/t");
}

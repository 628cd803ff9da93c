/* harness_criterion_logger_test.c: turns Criterion's events into outcomes. */
#include "harness/criterion/logger.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/machine/now.h"
#include "harness/options/options.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <criterion/options.h>

static struct test_log_options options;
static struct test_log_run run;
static struct test_log_job *job;
static struct criterion_logger quiet, *before;
static struct criterion_test_extra_data data;
static struct criterion_test test = {.name = "t", .data = &data};
static struct criterion_suite suite = {.name = "s"};
static struct criterion_test_stats stats = {.test = &test};

/* Makes a run with one test, without any event yet. */
static void begin(void)
{
    struct test_log_result *result = test_log_run_add(&run);

    cr_assert_not_null(result);
    result->suite = strdup("s");
    result->test = strdup("t");
    test_log_runner = (struct test_log_runner){
        .options = &options, .run = &run, .job_count = 1};
    cr_assert_eq(test_log_jobs_make(&test_log_runner), 0);
    job = test_log_runner.jobs;
    job->test = &test;
    before = criterion_options.logger;
    criterion_options.logger = &quiet;
    test_log_logger_install();
}

static void end(void)
{
    criterion_options.logger = before;
    test_log_jobs_free(&test_log_runner);
    test_log_run_free(&run);
}

TestSuite(harness_criterion_logger, .init = begin, .fini = end, .timeout = 60);

/* Our logger; Criterion continues with its own. */
static const struct criterion_logger *ours(void)
{
    return criterion_options.logger;
}

static void expect(enum test_log_outcome outcome, const char *reason)
{
    cr_expect_eq(run.results[0].outcome, outcome, "%s",
                 test_log_outcome_word(run.results[0].outcome));
    cr_expect_str_eq(run.results[0].reason ? run.results[0].reason : "",
                     reason);
}

static void send_all_events(void)
{
    ours()->log_pre_init(&suite, &test);
    ours()->log_post_test(&stats);
    ours()->log_post_fini(&stats);
}

Test(harness_criterion_logger, finds_the_job_of_criterions_test)
{
    struct criterion_test other = {.name = "o", .data = &data};

    cr_expect_eq(test_log_job_of(&test_log_runner, &test), job);
    cr_expect_null(test_log_job_of(&test_log_runner, &other));
}

Test(harness_criterion_logger, passes_a_test_without_errors)
{
    stats.elapsed_time = 0.5f;
    send_all_events();
    expect(TEST_LOG_OUTCOME_PASSED, "");
    cr_expect_eq(run.results[0].duration, 500000000);
}

Test(harness_criterion_logger, leaves_the_time_for_stacks_out_of_durations)
{
    stats.elapsed_time = 0.5f;
    ours()->log_pre_init(&suite, &test);
    job->looked = 300000000;
    ours()->log_post_test(&stats);
    ours()->log_post_fini(&stats);
    cr_expect_eq(run.results[0].duration, 200000000);
}

Test(harness_criterion_logger, reports_the_first_failure_as_the_reason)
{
    struct criterion_assert_stats first = {
        .message = "one", .file = "f.c", .line = 1};
    struct criterion_assert_stats last = {
        .message = "two", .file = "f.c", .line = 2, .next = &first};

    stats.asserts = &last; /* Criterion's list begins with it */
    stats.failed_asserts = 2;
    stats.test_status = CR_STATUS_FAILED;
    send_all_events();
    expect(TEST_LOG_OUTCOME_FAILED, "f.c:1: one");
}

Test(harness_criterion_logger, fails_a_test_with_another_exit_code)
{
    data.exit_code = 3;
    stats.exit_code = 4;
    stats.test_status = CR_STATUS_FAILED;
    send_all_events();
    expect(TEST_LOG_OUTCOME_FAILED, "exited with 4 instead of 3");
}

Test(harness_criterion_logger, reports_a_signal_as_a_crash)
{
    stats.signal = SIGSEGV;
    stats.file = "f.c";
    stats.progress = 7;
    ours()->log_pre_init(&suite, &test);
    ours()->log_test_crash(&stats);
    expect(TEST_LOG_OUTCOME_CRASHED, "SIGSEGV, below f.c:7");
}

Test(harness_criterion_logger, reports_a_timeout)
{
    stats.elapsed_time = 2;
    stats.timed_out = true;
    ours()->log_pre_init(&suite, &test);
    ours()->log_test_timeout(&stats);
    ours()->log_post_fini(&stats);
    expect(TEST_LOG_OUTCOME_TIMEOUT, "after 2.00 s");
}

static int timeouts, crashes;

static void count_timeout(struct criterion_test_stats *of)
{
    timeouts += of->timed_out && of->elapsed_time >= 0;
}

static void count_crash(struct criterion_test_stats *of)
{
    (void)of;
    crashes++;
}

static void count_deaths(void)
{
    quiet.log_test_timeout = count_timeout;
    quiet.log_test_crash = quiet.log_other_crash = count_crash;
    criterion_options.logger = &quiet;
    test_log_logger_install();
    ours()->log_pre_init(&suite, &test);
}

Test(harness_criterion_logger, reports_a_killed_late_test_as_a_timeout)
{
    count_deaths();
    job->late = test_log_now();
    stats.signal = SIGPROF;
    ours()->log_test_crash(&stats);
    cr_expect_eq(run.results[0].outcome, TEST_LOG_OUTCOME_TIMEOUT);
    cr_expect_eq(timeouts, 1);
    job->killed = true;
    ours()->log_other_crash(&stats);
    cr_expect_eq(timeouts, 2);
    cr_expect_eq(crashes, 0);
    cr_expect_not_null(
        strstr(run.results[0].reason, " s; SIGPROF did not end it"));
}

Test(harness_criterion_logger, reports_tests_killed_by_an_interrupt_as_failed)
{
    count_deaths();
    job->ended = true;
    run.interrupted = SIGINT;
    stats.signal = SIGKILL;
    ours()->log_test_crash(&stats);
    cr_expect_eq(run.results[0].outcome, TEST_LOG_OUTCOME_FAILED);
    cr_expect_eq(timeouts + crashes, 0);
}

Test(harness_criterion_logger, reports_crashes_in_setup_and_teardown)
{
    ours()->log_pre_init(&suite, &test);
    ours()->log_other_crash(&stats);
    expect(TEST_LOG_OUTCOME_CRASHED, "in its setup");
    run.results[0].outcome = TEST_LOG_OUTCOME_NONE;
    ours()->log_post_test(&stats);
    ours()->log_other_crash(&stats);
    expect(TEST_LOG_OUTCOME_CRASHED, "in its teardown");
}

Test(harness_criterion_logger, skips_a_test_that_skips_itself)
{
    stats.test_status = CR_STATUS_SKIPPED;
    stats.message = "no need";
    send_all_events();
    expect(TEST_LOG_OUTCOME_SKIPPED, "no need");
}

Test(harness_criterion_logger, skips_tests_after_a_stop)
{
    cr_expect_null(test_log_runner.stopped);
    test_log_stop(&test_log_runner, "enough");
    test_log_stop(&test_log_runner, "later");
    cr_expect_not_null(test_log_runner.stopped);
    cr_expect(data.disabled);
    ours()->log_pre_init(&suite, &test);
    expect(TEST_LOG_OUTCOME_SKIPPED, "enough");
}

Test(harness_criterion_logger, does_not_stop_a_running_test)
{
    ours()->log_pre_init(&suite, &test);
    test_log_stop(&test_log_runner, "enough");
    cr_expect_not(data.disabled);
}

Test(harness_criterion_logger, fails_a_test_without_a_result)
{
    test_log_logger_end();
    expect(TEST_LOG_OUTCOME_FAILED, "Criterion did not report a result");
}

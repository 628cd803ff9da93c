/* harness_jobs_test.c: tests while they run. */
#include "harness/criterion/watch/jobs.h"
#include "harness/machine/now.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

enum { JOBS = 3 };

static struct criterion_test_extra_data data[JOBS];
static struct criterion_test tests[JOBS];
static struct test_log_run run;
static struct test_log_runner runner = {.run = &run, .job_count = JOBS};
static struct test_log_job *jobs;

static void begin(void)
{
    for (size_t i = 0; i < JOBS; i++) {
        struct test_log_result *result = test_log_run_add(&run);

        cr_assert_not_null(result);
        result->suite = strdup("s");
        result->test = strdup("t");
        tests[i].data = &data[i];
    }
    cr_assert_eq(test_log_jobs_make(&runner), 0);
    jobs = runner.jobs;
    for (size_t i = 0; i < JOBS; i++)
        jobs[i].test = &tests[i];
}

static void end(void)
{
    test_log_jobs_free(&runner);
    test_log_run_free(&run);
}

TestSuite(harness_jobs, .init = begin, .fini = end);

Test(harness_jobs, finds_the_job_of_a_test)
{
    struct criterion_test other = {.data = &data[0]};

    for (size_t i = JOBS; i-- > 0;) {
        cr_expect_eq(test_log_job_of(&runner, &tests[i]), &jobs[i]);
        cr_expect_eq(jobs[i].result, &run.results[i]);
    }
    cr_expect_null(test_log_job_of(&runner, &other));
}

Test(harness_jobs, finds_nothing_before_jobs_are_made)
{
    struct test_log_runner none = {.run = &run};

    cr_expect_null(test_log_job_of(&none, &tests[0]));
}

Test(harness_jobs, runs_a_job_until_it_has_an_outcome)
{
    cr_expect_not(test_log_job_runs(&jobs[0]));
    jobs[0].running = true;
    cr_expect(test_log_job_runs(&jobs[0]));
    jobs[0].result->outcome = TEST_LOG_OUTCOME_PASSED;
    cr_expect_not(test_log_job_runs(&jobs[0]));
}

Test(harness_jobs, stops_tests_that_have_not_begun)
{
    jobs[0].started = 1;
    data[1].disabled = true;
    test_log_stop(&runner, "enough");
    test_log_stop(&runner, "later");
    cr_expect_str_eq(runner.stopped, "enough");
    cr_expect_not(data[0].disabled);
    cr_expect_not(jobs[0].left_out);
    cr_expect_not(jobs[1].left_out, "it was disabled before");
    cr_expect(data[2].disabled);
    cr_expect(jobs[2].left_out);
}

Test(harness_jobs, disables_tests_with_their_suite)
{
    struct criterion_test_extra_data of_suite = {.disabled = true};
    struct criterion_suite suite = {.data = &of_suite}, plain = {0};

    cr_expect(test_log_is_disabled(&suite, &tests[0]));
    cr_expect_not(test_log_is_disabled(&plain, &tests[0]));
    data[0].disabled = true;
    cr_expect(test_log_is_disabled(&plain, &tests[0]));
}

Test(harness_jobs, keeps_the_earlier_try_on_a_retry)
{
    struct test_log_job *job = &jobs[0];
    struct test_log_result *result = job->result;

    job->limit = 5;
    job->late = 7;
    result->outcome = TEST_LOG_OUTCOME_FAILED;
    result->reason = strdup("why");
    cr_expect_not(test_log_job_retries(job));
    jobs[0].result->retries = 1;
    cr_assert(test_log_job_retries(job));
    cr_assert_eq(test_log_job_retry(job), 0);
    cr_expect_eq(job->test, &tests[0]);
    cr_expect_eq(job->limit, 5);
    cr_expect_eq(job->late, 0);
    cr_expect_eq(result->outcome, TEST_LOG_OUTCOME_NONE);
    cr_expect_null(result->reason);
    cr_expect_str_eq(result->earlier[0].reason, "why");
    result->outcome = TEST_LOG_OUTCOME_FAILED;
    cr_expect_not(test_log_job_retries(job));
    cr_expect_not(test_log_flaky(result));
    result->outcome = TEST_LOG_OUTCOME_PASSED;
    cr_expect(test_log_flaky(result));
}

Test(harness_jobs, does_not_retry_tests_killed_by_an_interrupt)
{
    jobs[0].result->retries = 1;
    jobs[0].result->outcome = TEST_LOG_OUTCOME_CRASHED;
    cr_expect(test_log_job_retries(&jobs[0]));
    jobs[0].ended = true;
    cr_expect_not(test_log_job_retries(&jobs[0]));
}

Test(harness_jobs, time_never_steps_back)
{
    uint64_t last = 0;

    for (size_t i = 0; i < 1000; i++) {
        uint64_t now = test_log_now();

        cr_assert_geq(now, last);
        last = now;
    }
    cr_expect_gt(last, 0);
}

/* harness_worker_status_test.c: passes the status of a worker (worker/status.c)
 * to the runner (runner/worker_status.c). */
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/worker/worker.h"

#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

static struct test_log_run run;
static struct test_log_runner runner = {.run = &run, .job_count = 1};

static struct test_log_job *job_of_this_test(void)
{
    struct test_log_result *result = test_log_run_add(&run);

    cr_assert_not_null(result);
    result->suite = strdup(criterion_current_test->category);
    result->test = strdup(criterion_current_test->name);
    cr_assert_eq(test_log_jobs_make(&runner), 0);
    runner.jobs[0].starting = true;
    return runner.jobs;
}

/* Starts a child that reports itself as this test's process, then does
 * `more`. */
static pid_t report_in_child(void (*more)(void))
{
    pid_t child = fork();

    if (!child) {
        test_log_session_export(
            &(struct test_log_session){.status = test_log_status_id()});
        test_log_session_forget();
        test_log_status_begin();
        if (more)
            more();
        _exit(0);
    }
    waitpid(child, NULL, 0);
    return child;
}

static void return_from_the_body(void)
{
    test_log_status_returned();
}

static void fail_twice(void)
{
    test_log_status_fail("the %s reason", "first");
    test_log_status_fail("the second reason");
}

Test(harness_worker_status, records_the_process_of_a_result)
{
    struct test_log_job *job = job_of_this_test();
    pid_t child;

    cr_assert_eq(test_log_status_open(4), 0);
    child = report_in_child(NULL);
    test_log_status_update(&runner);
    cr_expect_eq(job->pid, (uint32_t)child);
    cr_expect_not(job->starting);
    cr_expect_not(test_log_status_of(&runner, job).returned);
}

Test(harness_worker_status, reports_that_the_body_returned)
{
    struct test_log_job *job = job_of_this_test();

    cr_assert_eq(test_log_status_open(4), 0);
    report_in_child(return_from_the_body);
    cr_expect(test_log_status_of(&runner, job).returned);
    cr_expect_null(test_log_status_of(&runner, job).fault);
}

Test(harness_worker_status, keeps_the_first_reason_to_fail)
{
    struct test_log_job *job = job_of_this_test();

    cr_assert_eq(test_log_status_open(1), 0);
    report_in_child(fail_twice);
    cr_expect_str_eq(test_log_status_of(&runner, job).fault,
                     "the first reason");
}

/* The last report of a retried test counts; a full board changes nothing. */
Test(harness_worker_status, keeps_as_many_reports_as_fit)
{
    struct test_log_job *job = job_of_this_test();
    pid_t second;

    cr_assert_eq(test_log_status_open(2), 0);
    report_in_child(NULL);
    second = report_in_child(NULL);
    report_in_child(return_from_the_body);
    test_log_status_update(&runner);
    cr_expect_eq(job->pid, (uint32_t)second);
    cr_expect_not(test_log_status_of(&runner, job).returned);
}

Test(harness_worker_status, needs_no_file)
{
    struct rlimit none = {0, RLIM_INFINITY};
    struct test_log_job *job = job_of_this_test();
    pid_t child;

    setrlimit(RLIMIT_FSIZE, &none);
    cr_assert_eq(test_log_status_open(10000), 0);
    child = report_in_child(NULL);
    test_log_status_update(&runner);
    cr_expect_eq(job->pid, (uint32_t)child);
}

Test(harness_worker_status, reports_nothing_without_a_board)
{
    struct test_log_job *job = job_of_this_test();

    cr_expect_not(test_log_status_is_open());
    test_log_status_update(&runner);
    cr_expect_eq(job->pid, 0);
    cr_expect(test_log_status_of(&runner, job).returned);
}

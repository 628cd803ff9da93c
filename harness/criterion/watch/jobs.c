/* jobs.c: the tests of a run while it runs, and the processes that run them. */
#include <stdlib.h>
#include <time.h>

#include <criterion/criterion.h>

#include "jobs.h"
#include "trace/base/containers.h"

struct test_log_runner test_log_runner;

int test_log_jobs_make(struct test_log_runner *runner)
{
    struct test_log_run *run = runner->run;

    runner->jobs = calloc(run->count + 1, sizeof(*runner->jobs));
    for (size_t i = 0; runner->jobs && i < run->count; i++)
        runner->jobs[i].result = &run->results[i];
    return runner->jobs ? 0 : -1;
}

void test_log_jobs_free(struct test_log_runner *runner)
{
    for (size_t i = 0; i < runner->job_count; i++) {
        trace_text_free(&runner->jobs[i].assertion_stacks);
        test_log_tree_free(&runner->jobs[i].tree);
    }
    free(runner->jobs);
    runner->jobs = NULL;
    runner->job_count = 0;
}

struct test_log_job *test_log_job_of(const struct test_log_runner *runner,
                                     const struct criterion_test *test)
{
    static size_t expected; /* tests come in order */
    size_t count = runner->job_count;

    for (size_t i = 0; i < count; i++) {
        size_t number = (expected + i) % count;

        if (runner->jobs[number].test != test)
            continue;
        expected = number;
        return &runner->jobs[number];
    }
    return NULL;
}

bool test_log_job_runs(const struct test_log_job *job)
{
    return job->running && job->result->outcome == TEST_LOG_OUTCOME_NONE;
}

bool test_log_is_disabled(const struct criterion_suite *suite,
                          const struct criterion_test *test)
{
    return test->data->disabled || (suite->data && suite->data->disabled);
}

void test_log_stop(struct test_log_runner *runner, const char *why)
{
    if (!runner->stopped)
        runner->stopped = why;
    for (size_t i = 0; i < runner->job_count; i++) {
        struct test_log_job *job = &runner->jobs[i];

        if (job->started || job->test->data->disabled)
            continue;
        job->left_out = true;
        job->test->data->disabled = true;
    }
}

/* ---- Retries ---- */

bool test_log_job_retries(const struct test_log_job *job)
{
    return test_log_failed(job->result) && !job->ended &&
           job->result->earlier_count < job->result->retries;
}

int test_log_job_retry(struct test_log_job *job)
{
    struct test_log_result *result = job->result;

    if (!TRACE_ARRAY_RESERVE(result->earlier, result->earlier_capacity,
                             result->earlier_count + 1))
        return -1;
    result->earlier[result->earlier_count++] =
        (struct test_log_try){.outcome = result->outcome,
                              .reason = result->reason,
                              .folder = result->folder,
                              .began = result->began,
                              .duration = result->duration};
    result->outcome = result->written = TEST_LOG_OUTCOME_NONE;
    result->reason = NULL;
    free(result->known);
    free(result->assertions);
    result->known = result->assertions = NULL;
    result->folder = NULL;
    result->began = result->duration = 0;
    free(result->survivors);
    result->survivors = NULL;
    log_device_summary_free(result->gpu_summary);
    result->gpu_summary = NULL;
    trace_text_free(&job->assertion_stacks);
    test_log_tree_free(&job->tree);
    *job = (struct test_log_job){.test = job->test,
                                 .result = result,
                                 .known = job->known,
                                 .limit = job->limit,
                                 .serial = job->serial};
    return 0;
}

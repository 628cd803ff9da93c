/* jobs.h: tests while they run. Private. */
#ifndef TESTLOG_JOBS_H
#define TESTLOG_JOBS_H

#include "harness/machine/process_tree.h"
#include "harness/options/options.h"
#include "harness/run/past/history.h"

struct test_log_session;
struct criterion_suite;
struct criterion_test;

/* A test and its process. */
struct test_log_job {
    const struct criterion_test *test;
    struct test_log_result *result;
    const struct test_log_known_failure *known; /* NULL: it must pass */
    uint64_t forked;   /* ns, monotonic: when its worker was; 0: unknown */
    uint64_t started;  /* ns, monotonic; 0: not yet */
    uint64_t limit;    /* ns that it may take; 0: no limit */
    uint64_t paused;   /* ns of its time during which the runner was stopped */
    uint64_t looked;   /* ns during which it was stopped for its stacks */
    uint64_t late;     /* when its timeout was noticed; 0: not yet */
    uint64_t exited;   /* when its exit was first noticed; 0: not yet */
    uint32_t pid;      /* 0: not known */
    size_t assertions; /* whose stacks were looked at */
    bool limited;      /* some of its failed assertions have no stack */
    bool seen;         /* its crash was looked at */
    bool serial;       /* no other test may run beside it */
    struct trace_text assertion_stacks;
    size_t note; /* number of its process's report, from 1; 0: none */
    struct test_log_output_pipe *pipe; /* of its output; NULL: it is a file */
    struct test_log_tree tree;         /* with --fail-leaky */
    bool starting;              /* its process has not reported itself yet */
    bool begun;                 /* Criterion has reported that */
    bool running;               /* its files are not rendered yet */
    bool body_done;             /* Criterion has reported that */
    bool shown;                 /* its block is printed */
    bool left_out;              /* the run stopped before it began */
    bool abandoned;             /* its main thread has ended, others have not */
    bool killed;                /* because it did not end after its timeout */
    bool alone;                 /* when it is killed, its group is not */
    bool ended;                 /* killed because the run ends */
    bool slow;                  /* it was reported as slow */
    struct test_log_usage used; /* when it was stopped; peak 0: it was not */
    int sandboxed; /* the signal of its crash, killed by a sandbox; 0: none */
};

struct test_log_runner {
    const struct test_log_options *options;
    const struct test_log_history *history;
    struct test_log_run *run;
    struct test_log_job *jobs; /* one for each of the run's results */
    size_t job_count;
    size_t matched;      /* tests, by the filters */
    size_t at_once;      /* tests, as passed to Criterion; 0: processors */
    bool serial;         /* the serial tests run, one at a time */
    const char *stopped; /* why no further tests start; NULL: they do */
    char attempt[40];    /* "~7.try2": suffix of folder names */
    char outermost[16];  /* id of the process that ends the run */
};

/* The runner of this process: Criterion's hooks and loggers get no context. */
extern struct test_log_runner test_log_runner;

/* test_log_jobs_make makes a job for each result; -1 without memory. */
int test_log_jobs_make(struct test_log_runner *);
void test_log_jobs_free(struct test_log_runner *);

/* test_log_job_of returns the job of a test; NULL if it has none. */
struct test_log_job *test_log_job_of(const struct test_log_runner *,
                                     const struct criterion_test *);

/* test_log_job_runs tells whether a test runs and has no outcome yet. */
bool test_log_job_runs(const struct test_log_job *);

/* test_log_job_retries tells whether a test has failed, not as one that is
 * known to fail, and has a try left. */
bool test_log_job_retries(const struct test_log_job *);

/* test_log_job_retry makes a job and its result ready for the next try, and
 * keeps the result as an earlier one; -1 without memory. */
int test_log_job_retry(struct test_log_job *);

/* test_log_stop disables the tests that have not begun; the first reason
 * counts. */
void test_log_stop(struct test_log_runner *, const char *why);

bool test_log_is_disabled(const struct criterion_suite *,
                          const struct criterion_test *);

#endif

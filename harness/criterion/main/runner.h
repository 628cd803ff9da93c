/* runner.h: runs tests, in the process that Criterion keeps alive.
 * Private. */
#ifndef TESTLOG_RUNNER_H
#define TESTLOG_RUNNER_H

#include "harness/criterion/watch/jobs.h"
#include "harness/session.h"

struct criterion_test_set;

/* test_log_run_tests runs all tests of a set, with retries, and leaves the
 * results in runner->run. */
void test_log_run_tests(struct test_log_runner *, struct criterion_test_set *);

#endif

/* runner.h: runs tests, in the process that Criterion keeps alive, and ends
 * runs. Private. */
#ifndef TESTLOG_RUNNER_H
#define TESTLOG_RUNNER_H

#include "harness/criterion/watch/jobs.h"
#include "harness/session.h"

struct criterion_test_set;

/* test_log_run_tests runs all tests of a set, with retries, and leaves the
 * results in runner->run. */
void test_log_run_tests(struct test_log_runner *, struct criterion_test_set *);

/* ---- run_end.c ---- */

/* test_log_parent_of returns what the parent process has passed to a program.
 * test_log_command_of returns the words of a command, quoted for a shell, to be
 * freed. test_log_open_out opens what people read: stderr, whatever becomes of
 * its descriptor. */
struct test_log_parent test_log_parent_of(const struct test_log_session *);
char *test_log_command_of(char **argv);
void test_log_open_out(void);

/* test_log_run_write writes the files of a run. test_log_run_end does so, adds
 * the run to the history, removes old runs and prints the summary; `any`: a
 * test matched the filters. */
struct test_log_filters;
struct test_log_history;
void test_log_run_write(const struct test_log_run *,
                        const struct test_log_options *);
void test_log_run_end(struct test_log_run *, const struct test_log_options *,
                      const struct test_log_filters *,
                      const struct test_log_history *, bool any);

#endif

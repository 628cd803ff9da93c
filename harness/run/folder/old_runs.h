/* old_runs.h: removes old runs. Private. */
#ifndef TESTLOG_OLD_RUNS_H
#define TESTLOG_OLD_RUNS_H

#include <stdbool.h>
#include <stddef.h>

struct test_log_run;

/* How many runs are kept by default, and how many older ones that failed. */
enum { TEST_LOG_OLD_RUNS_KEPT = 20, TEST_LOG_OLD_RUNS_FAILED = 5 };

/* test_log_old_runs_hold marks an open run as in progress until it is freed or
 * its process ends; such a run is never removed. */
void test_log_old_runs_hold(struct test_log_run *);

/* test_log_old_runs_in_progress tells whether a process holds a run. */
bool test_log_old_runs_in_progress(int dir, const char *name);

/* test_log_old_runs_failed tells whether a run has a failed test, or was
 * killed: it has no run.json. */
bool test_log_old_runs_failed(int dir, const char *name);

/* test_log_old_runs_each calls `visit` for the runs of the current user, except
 * the last `keep`, the last few of the others that failed, and `latest`; 0
 * keeps all. Runs whose removal was interrupted come first. It ends when
 * `visit` returns false. */
typedef bool test_log_old_runs_visit(void *context, const char *name);
void test_log_old_runs_each(int dir, size_t keep, test_log_old_runs_visit *,
                            void *context);

/* test_log_old_runs_remove removes one of these runs. -1 with errno: EBUSY if
 * it is in progress, EINVAL if it is not a run. A partly removed run is no
 * longer listed. */
int test_log_old_runs_remove(int dir, const char *name);

/* test_log_old_runs_prune removes these runs from the folder `path`, except
 * those in progress. The process that made the given run there calls it. It
 * stops after two seconds, and prints the first failure. */
void test_log_old_runs_prune(const struct test_log_run *, const char *path,
                             size_t keep);

#endif

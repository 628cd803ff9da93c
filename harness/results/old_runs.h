/* old_runs.h: finds and removes the runs in a folder. Private. */
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

/* test_log_old_runs_is_run tells whether `name` in the folder `dir` is a run of
 * the current user: a folder, not a link, with the name and content of one. */
bool test_log_old_runs_is_run(int dir, const char *name);

/* test_log_old_runs_list returns the names of the runs in a folder, latest
 * first, to be freed with test_log_old_runs_free; NULL with errno. */
char **test_log_old_runs_list(int dir, size_t *count);
void test_log_old_runs_free(char **names, size_t count);

/* test_log_old_runs_failed tells whether a run has a failed test, or was
 * killed: it has no run.json. */
bool test_log_old_runs_failed(int dir, const char *name);

/* test_log_old_runs_remove removes a run. -1 with errno: EBUSY if it is in
 * progress, EINVAL if it is no run. A run that is removed only in part is no
 * longer listed. */
int test_log_old_runs_remove(int dir, const char *name);

/* test_log_old_runs_prune, called by the process that made the run in the
 * folder `path`, removes the old runs there, except the last `keep`, the last
 * few of the others that failed, `latest`, and those in progress; 0 keeps all.
 * It stops after two seconds, and prints the first failure. */
void test_log_old_runs_prune(const struct test_log_run *, const char *path,
                             size_t keep);

#endif

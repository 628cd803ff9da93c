/* list_runs.h: finds the runs in a folder. Private. */
#ifndef TESTLOG_LIST_RUNS_H
#define TESTLOG_LIST_RUNS_H

#include <stdbool.h>
#include <stddef.h>

/* test_log_is_run_name tells whether a name is a run's, test_log_is_run whether
 * an open folder has a run's content. A run is a folder with both, not a
 * link. */
bool test_log_is_run_name(const char *name);
bool test_log_is_run(int folder);

/* test_log_list_runs returns the names of the runs in a folder, latest first,
 * to be freed with test_log_free_names; NULL with errno. Runs without a number
 * (run_order.h) come after all others, by name. `own`: only those of the
 * current user. */
char **test_log_list_runs(int dir, bool own, size_t *count);

/* test_log_list_names returns the names in a folder that `wanted` accepts, in
 * any order. */
char **test_log_list_names(int dir, bool (*wanted)(const char *),
                           size_t *count);
void test_log_free_names(char **names, size_t count);

#endif

/* runs.h: a folder of runs, and results of their tests. */
#ifndef TESTS_RUNS_H
#define TESTS_RUNS_H

#include "harness/run/model/model.h"

/* runs_begin creates the test's folder with a folder "runs", which runs_dir
 * refers to, and keeps notices in runs_printed; for a suite's .init, with
 * runs_end as its .fini. */
extern char runs_printed[4096];
extern int runs_dir;
void runs_begin(void);
void runs_end(void);

/* runs_path returns the path of a file in "runs", as test_path does; runs_name
 * returns the name of a run, which the next call overwrites. */
const char *runs_path(const char *name);
const char *runs_name(int number);

/* runs_add_result adds the result of the test "suite/NAME" to a run; the reason
 * may be NULL. */
struct test_log_result *runs_add_result(struct test_log_run *,
                                        const char *program, const char *name,
                                        enum test_log_outcome,
                                        const char *reason);

#endif

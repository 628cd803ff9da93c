/* pass_times.h: the times of the passes of tests, or what else is measured of
 * them, on both sides. Private. */
#ifndef TESTLOG_PASS_TIMES_H
#define TESTLOG_PASS_TIMES_H

#include <stdint.h>

#include "judge.h"
#include "trace/base/containers.h"

struct test_log_run;

struct test_times {
    struct measured_runs sides[2]; /* the old and the new passes */
    uint64_t least[2], most[2];
};

/* The zero value is empty. */
struct pass_times {
    enum measure by;
    size_t groups; /* runs that were added */
    struct trace_table by_key;
    struct test_times *all;
    size_t count, capacity;
};

/* runners_test_key returns the key of a test for tables. Repetitions, "name#1",
 * are one test. */
uint64_t runners_test_key(const char *program, const char *name);

/* runners_pass_times_add adds a pass of a test to a side, and _add_run those
 * among the results of a run from `first` on. runners_pass_times_remember adds,
 * as old passes, those of the new runs' programs and flavours that .history
 * beside them remembers from before all runs that `names` lists. -1 without
 * memory. */
int runners_pass_times_add(struct pass_times *, int side, size_t group,
                           uint64_t key, uint64_t duration);
int runners_pass_times_add_run(struct pass_times *, int side,
                               const struct test_log_run *, size_t first);
int runners_pass_times_remember(struct pass_times *,
                                const struct test_log_run *,
                                const char *const *names, size_t count);

/* runners_pass_times_of returns the passes of a test; NULL if it has none. */
struct test_times *runners_pass_times_of(const struct pass_times *,
                                         uint64_t key);
void runners_pass_times_free(struct pass_times *);

#endif

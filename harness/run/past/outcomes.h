/* outcomes.h: the last outcomes of each test of a program. Private.
 *
 * They are kept beside the durations, in .history/PROGRAM.outcomes, whose lines
 * have columns separated by tabs; "-" is unknown:
 *
 *  run RUN FLAVOUR COMMIT HOST       the lines below are of this run
 *  test NUMBER NAME                  the name of a number, in order from 0 on
 *  passed NUMBER TRY NANOSECONDS     how a try ended; the first is 1
 *  failed NUMBER TRY NANOSECONDS REASON
 *
 * A run is appended. A last line without its end is dropped.
 */
#ifndef TESTLOG_OUTCOMES_H
#define TESTLOG_OUTCOMES_H

#include "harness/run/model/model.h"
#include "trace/base/containers.h"

enum { TEST_LOG_OUTCOMES_KEPT = 50 }; /* of each test and flavour */

struct test_log_past_run {
    const char *name, *flavour, *commit, *host; /* "-": unknown */
};

struct test_log_past_try {
    size_t test, run; /* in `tests` and `runs` */
    enum test_log_outcome outcome;
    unsigned number;   /* from 1 on */
    uint64_t duration; /* ns; 0: unknown */
    const char *reason;
};

/* In the order of the file. Texts belong to `text`. */
struct test_log_outcomes {
    struct test_log_past_run *runs;
    const char **tests;
    struct test_log_past_try *tries;
    size_t run_count, test_count, try_count;
    size_t run_capacity, test_capacity, try_capacity;
    char *text;
    size_t whole; /* bytes of the file's whole lines */
};

/* test_log_outcomes_read reads the file of a program in the folder `path`,
 * which may be open as `folder`, or 0. A malformed line is left out. -1 with
 * errno. */
int test_log_outcomes_read(struct test_log_outcomes *, const char *program,
                           const char *path, int folder);
void test_log_outcomes_free(struct test_log_outcomes *);

/* test_log_outcomes_append adds a run's results of a program to that file,
 * which the caller has locked. If the file is twice too long, it is written
 * anew. -1 with errno. */
int test_log_outcomes_append(const struct test_log_run *, const char *program,
                             const char *path, int folder);

#endif

/* durations.h: how long tests took in earlier runs, which balances shards.
 * Private.
 *
 * The file has the lines of results.tsv in any order: outcome, nanoseconds,
 * program, name and, in newer ones, nanoseconds from the start of the test's
 * worker to its end, which are then used instead. Tests that did not run have
 * no duration.
 */
#ifndef TESTLOG_DURATIONS_H
#define TESTLOG_DURATIONS_H

#include "harness/run/past/history.h"

struct test_log_duration {
    char *program, *name;
    uint64_t time; /* ns, at least 1 */
    enum test_log_outcome outcome;
};

/* Sorted by program and name, each once. */
struct test_log_durations {
    struct test_log_duration *tests;
    size_t count, capacity;
};

void test_log_durations_free(struct test_log_durations *);

/* test_log_durations_read adds the durations in a file; if a test has several,
 * the longest counts. `origin` is the flag or variable that names the file. -1
 * if it has printed what is wrong. */
int test_log_durations_read(struct test_log_durations *, const char *path,
                            const char *origin);

/* test_log_durations_add adds a copy of a test, or of a repetition; -1 without
 * memory. Call test_log_durations_sort after the last one; if a test has
 * several, it keeps the longest. */
int test_log_durations_add(struct test_log_durations *,
                           const struct test_log_duration *);
void test_log_durations_sort(struct test_log_durations *);

/* test_log_history_occupied returns how long a test's worker took in the last
 * passes, median, or that of its durations where that is unknown.
 * test_log_history_median returns the median of a test's last passes, in ns; 0
 * if it has not passed. */
uint64_t test_log_history_median(const struct test_log_past *);
uint64_t test_log_history_occupied(const struct test_log_past *);

/* test_log_durations_recall adds the median of each test's last passes. -1
 * without memory. */
int test_log_durations_recall(struct test_log_durations *,
                              const struct test_log_history *);

/* test_log_durations_keep removes the tests that are not `wanted`. */
typedef bool test_log_duration_wanted(const struct test_log_duration *,
                                      const void *context);
void test_log_durations_keep(struct test_log_durations *,
                             test_log_duration_wanted *wanted,
                             const void *context);

/* test_log_durations_of returns the ns of a test; 0: unknown. */
uint64_t test_log_durations_of(const struct test_log_durations *,
                               const char *program, const char *name);

/* test_log_durations_digest returns a number that differs if a duration does.
 */
uint64_t test_log_durations_digest(const struct test_log_durations *);

/* test_log_durations_put writes the lines of a file. */
void test_log_durations_put(const struct test_log_durations *, FILE *);

#endif

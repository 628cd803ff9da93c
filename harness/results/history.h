/* history.h: results.tsv, for people and for the next run. Private. */
#ifndef TESTLOG_HISTORY_H
#define TESTLOG_HISTORY_H

#include "harness/results/model.h"

/* A test of the last run. */
struct test_log_past {
    enum test_log_outcome outcome;
    uint64_t duration; /* ns */
    char *program, *name;
};

/* The last run. */
struct test_log_history {
    char *path; /* NULL: there was none */
    struct test_log_past *tests;
    size_t count, capacity;
};

/* test_log_history_write writes a run's results; -1 with errno. */
int test_log_history_write(const struct test_log_run *, const char *name);

/* test_log_history_read reads the results of the last run: the one at `path`,
 * or else the latest below `dir`. Both may be NULL. */
void test_log_history_read(struct test_log_history *, const char *dir,
                           const char *path);
void test_log_history_free(struct test_log_history *);

/* test_log_history_failed tells whether a test of a program failed, of any if
 * it is NULL; test_log_history_has, whether the last run had a test of it. */
bool test_log_history_failed(const struct test_log_history *,
                             const char *program);
bool test_log_history_has(const struct test_log_history *, const char *program);

/* test_log_history_carry adds lines to the next results.tsv for the tests of a
 * program that --failed skipped; their outcome is "none". */
void test_log_history_carry(const struct test_log_history *,
                            const char *program, struct trace_text *lines);

/* test_log_history_of returns what is known about a test; NULL if nothing. */
const struct test_log_past *test_log_history_of(const struct test_log_history *,
                                                const char *program,
                                                const char *name);

#endif

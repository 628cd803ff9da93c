/* history.h: what is remembered of tests from one run to the next. Private. */
#ifndef TESTLOG_HISTORY_H
#define TESTLOG_HISTORY_H

#include "harness/run/model/model.h"

enum { TEST_LOG_PAST_TIMES = 5 };

/* A test, or a program that left no results, which is its own test. */
struct test_log_past {
    enum test_log_outcome outcome; /* when it last ran; SKIPPED: it never ran */
    uint64_t duration;             /* ns, when it last ran */
    char *program, *name;
    uint64_t times[TEST_LOG_PAST_TIMES];    /* ns, of the last times that it
                                               passed, latest first; 0: fewer */
    uint64_t occupied[TEST_LOG_PAST_TIMES]; /* ns of their workers, likewise */
    bool seen, ran;                         /* in the run that is being added */
};

struct test_log_history {
    char *path;          /* of the folder that keeps it; NULL: there is none */
    const char *flavour; /* whose times count; NULL: those of all */
    struct test_log_past *tests;
    size_t count, capacity;
    struct trace_table numbers; /* of tests, by test_log_key */
};

/* test_log_history_open finds the history that is kept in `dir`, where runs go,
 * or the one at `path` if that is not NULL. test_log_history_read adds what is
 * known of a program; the times are those of the passes of a `flavour`, where
 * it has any. */
void test_log_history_open(struct test_log_history *, const char *dir,
                           const char *path, const char *flavour);
void test_log_history_read(struct test_log_history *, const char *program);
void test_log_history_free(struct test_log_history *);

/* test_log_history_failed tells whether a test of a program failed and has not
 * passed since; test_log_history_has, whether anything is known of the program.
 */
bool test_log_history_failed(const struct test_log_history *,
                             const char *program);
bool test_log_history_has(const struct test_log_history *, const char *program);

/* test_log_history_of returns what is known of a test; NULL if nothing. */
const struct test_log_past *test_log_history_of(const struct test_log_history *,
                                                const char *program,
                                                const char *name);

/* test_log_history_update adds a run to the history in `dir`. After a `whole`
 * run of a program, tests that it no longer has are forgotten; with `failed`,
 * --failed may have left tests out. If it cannot, it prints why. */
void test_log_history_update(const struct test_log_run *, const char *dir,
                             bool whole, bool failed);

/* ---- history_file.c: the file of one program ---- */

/* test_log_history_add adds a test and copies its names; NULL without memory.
 */
struct test_log_past *test_log_history_add(struct test_log_history *,
                                           const char *program,
                                           const char *name);

/* test_log_history_load and _save read and write the file of a program in a
 * folder, which is `path` and open as `folder`, or 0. -1 with errno. */
int test_log_history_load(struct test_log_history *, const char *program,
                          int folder);
int test_log_history_save(const struct test_log_history *, const char *program,
                          int folder);

#endif

/* index.h: index.html, the page of the runs in a folder. Private.
 *
 * The page needs no server: it lists the runs, each with a link to its report,
 * and shows the tests of the latest ones with an outcome for each run. It is
 * made of the small files that each run leaves, summary.tsv and results.tsv.
 */
#ifndef TESTLOG_INDEX_H
#define TESTLOG_INDEX_H

#include "harness/run/model/model.h"

enum {
    TEST_LOG_INDEX_RUNS = 100,   /* that are listed */
    TEST_LOG_INDEX_SHOWN = 25,   /* whose tests are shown */
    TEST_LOG_INDEX_TESTS = 2000, /* that are shown */
};

/* ---- index_runs.c: what runs have left ---- */

/* X(NAME, word): the state of a run. */
#define TEST_LOG_INDEX_STATES(X)                                               \
    X(PASSED, "passed")                                                        \
    X(FAILED, "failed")                                                        \
    X(INTERRUPTED, "interrupted")                                              \
    X(RUNNING, "running")                                                      \
    X(UNFINISHED, "unfinished") /* it was killed */

enum test_log_index_state {
#define TEST_LOG_X(name, word) TEST_LOG_INDEX_##name,
    TEST_LOG_INDEX_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

struct test_log_index_run {
    char *name; /* of its folder */
    enum test_log_index_state state;
    bool has_summary, has_report;
    uint64_t duration; /* ns */
    uint64_t passed, failed, skipped;
    char start[32], host[64], commit[64]; /* "": unknown */
    char command[256];                    /* its beginning; "": unknown */
};

/* A test in one of the shown runs, in sixteen bytes. Repetitions are one test:
 * the worst outcome, and the longest time. */
struct test_log_index_cell {
    uint64_t duration : 56; /* ns */
    uint64_t outcome : 4;   /* enum test_log_outcome; NONE: not in the run */
    uint64_t flaky : 1;     /* it passed after another try */
    uint32_t repetitions;   /* 0: it was not repeated */
    uint32_t passed;        /* of these */
};

#define TEST_LOG_INDEX_LONGEST ((UINT64_C(1) << 56) - 1)

/* X(NAME, word): what is notable about a test, the most important first. */
#define TEST_LOG_INDEX_NOTES(X)                                                \
    X(NEWLY_FAILING, "newly failing") /* it passed the last time */            \
    X(FAILING, "failing")                                                      \
    X(FLAKY, "flaky") /* it passed after another try, or now and then */       \
    X(NONE, "")

enum test_log_index_note {
#define TEST_LOG_X(name, word) TEST_LOG_INDEX_##name,
    TEST_LOG_INDEX_NOTES(TEST_LOG_X)
#undef TEST_LOG_X
        TEST_LOG_INDEX_NOTE_COUNT
};

struct test_log_index_test {
    char *program, *name;
    enum test_log_index_note note;
    bool
        flaky; /* as testlog flaky says, or it passed after a try that failed */
    struct test_log_index_cell cells[TEST_LOG_INDEX_SHOWN]; /* by run */
};

struct test_log_index {
    struct test_log_index_run *runs; /* the latest first */
    size_t run_count;
    size_t more;                       /* runs that are not listed */
    struct test_log_index_test *tests; /* by note, program and name */
    size_t test_count, test_capacity;
    struct trace_table numbers; /* of tests, by program and name */
    size_t shown;               /* runs whose tests are shown */
};

/* test_log_index_read reads the last `most` runs in a folder, and the tests of
 * the last `shown`, up to TEST_LOG_INDEX_SHOWN; -1 with errno. Call
 * test_log_index_free in any case. */
int test_log_index_read(struct test_log_index *, int dir, size_t most,
                        size_t shown);
void test_log_index_free(struct test_log_index *);

/* ---- index_html.c ---- */

/* test_log_index_put writes the page, test_log_index_put_tables only what is in
 * its <main>; errors are the stream's. */
void test_log_index_put(const struct test_log_index *, FILE *);
void test_log_index_put_tables(const struct test_log_index *, FILE *);

/* ---- index_file.c ---- */

/* test_log_index_write writes index.html into the folder that a run is in, once
 * the run has ended; if it cannot, it prints why. A program that is a part of a
 * run writes none. test_log_index_renew writes the one in the folder `path`
 * again, if there is one. */
void test_log_index_write(const struct test_log_run *);
void test_log_index_renew(const char *path);

#endif

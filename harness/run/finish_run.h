/* finish_run.h: the end of a run. Private. */
#ifndef TESTLOG_FINISH_RUN_H
#define TESTLOG_FINISH_RUN_H

#include "harness/options/options.h"
#include "harness/run/page/report_html.h"

struct test_log_history;

/* X(NAME): what is done with a run that has ended, in this order. */
#define TEST_LOG_STEPS(X)                                                      \
    X(LINES)    /* results.jsonl, of a run that has none yet */                \
    X(RUN_JSON) /* run.json */                                                 \
    X(FILES)    /* results.tsv, summary.tsv, junit.xml, trace.json */          \
    X(PAGE)     /* report.html */                                              \
    X(REPORTS)  /* results.tap, and the files of --report */                   \
    X(COMPRESS) /* recordings, before they leave a scratch folder */           \
    X(PAST)  /* .history, if the run is in options->dir; so for those below */ \
    X(PRUNE) /* old runs */                                                    \
    X(INDEX) /* index.html */

enum test_log_step {
#define TEST_LOG_X(name) TEST_LOG_STEP_##name,
    TEST_LOG_STEPS(TEST_LOG_X)
#undef TEST_LOG_X
};

#define TEST_LOG_WITHOUT(name) (1u << TEST_LOG_STEP_##name)

/* How a run is finished. Pointers are the caller's. */
struct test_log_finish {
    const struct test_log_options *options;
    struct test_log_page page; /* `run` and `fail_log` are filled in */
    unsigned without;          /* TEST_LOG_WITHOUT of steps that are left out */
    bool all; /* all tests were to run: the history forgets the others */
    const char *otherwise; /* what becomes of results that cannot be written;
                              NULL: they are printed */
    int (*stopped)(void);  /* whether COMPRESS has to end; NULL: never */
};

/* test_log_run_finish writes the files of a run that has ended, moves it from
 * its scratch folder, remembers it and removes old runs. It prints results
 * that it cannot write. If a program is a part of a run, it hands the results
 * to those who write them. -1 with errno if a file of the results is missing.
 */
int test_log_run_finish(struct test_log_run *, const struct test_log_finish *);

/* test_log_run_compress compresses the recordings of a run that has ended and
 * is in its place, unless options refuse; `stopped` as above. It comes after
 * what people read, because it takes time. */
void test_log_run_compress(const struct test_log_run *,
                           const struct test_log_options *,
                           int (*stopped)(void));

/* test_log_run_print prints what people read when a run has ended. `rerun` and
 * `debug` are the commands of failed tests; NULL: there are none. */
void test_log_run_print(const struct test_log_run *,
                        const struct test_log_options *,
                        const struct test_log_history *, const char *rerun,
                        const char *debug);

#endif

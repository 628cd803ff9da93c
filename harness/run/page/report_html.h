/* report_html.h: report.html, the page of a run. Private.
 *
 * The page in page/ reads blocks of data that follow it in the file: one about
 * the run, one for each test, and an end mark with what is only known at the
 * end. format.md describes them.
 */
#ifndef TESTLOG_REPORT_H
#define TESTLOG_REPORT_H

#include "harness/run/model/model.h"
#include "harness/run/page/blocks.h"
#include "harness/run/page/columns.h"

enum {
    TEST_LOG_PAGE_MOST = 64 << 20,   /* bytes of the file */
    TEST_LOG_PAGE_PASSING = 8 << 20, /* of these, for tests that passed */
};

/* A program of the run, and the command that runs it, without filters. */
struct test_log_page_program {
    const char *folder; /* NULL: it has no results */
    char *command;      /* NULL: no command runs a single test */
    char *debug;        /* that goes with --debug-failed; NULL: none does */
};

/* The contents of a page. Pointers are the caller's. */
struct test_log_page {
    const struct test_log_run *run;
    const char *shown_path; /* of the run; NULL: run->path */
    const char *members; /* of run.json, with a comma; NULL: those of `run` */
    const char *rerun; /* the command for failed tests, without filters; NULL */
    const char *debug; /* the same, but for one in a debugger */
    const struct test_log_page_program *programs; /* none: `rerun` is used */
    size_t program_count;
    size_t fail_log; /* hidden lines of a failed test */
    /* is_whole tells whether a test is written whatever its size is; NULL: none
     * is. It gets `context`. */
    bool (*is_whole)(const struct test_log_result *, void *context);
    void *context;
    uint64_t most;    /* bytes of the file; 0: TEST_LOG_PAGE_MOST */
    uint64_t passing; /* of these, for tests that did not fail; 0:
                         TEST_LOG_PAGE_PASSING */
};

/* test_log_page_put writes the page; errors are the stream's.
 * test_log_page_write writes report.html into the run's folder, if it has one;
 * if it cannot, it prints why. */
void test_log_page_put(const struct test_log_page *, FILE *);
void test_log_page_write(const struct test_log_page *);

/* ---- page.c, which the makefile makes of page/ ---- */

extern const unsigned char test_log_page_html[];
extern const size_t test_log_page_html_size;

/* ---- against_page.c, which is only in testlog: page/against/ ---- */

extern const unsigned char test_log_against_html[];
extern const size_t test_log_against_html_size;

/* ---- view_page.c, trend_page.c and served_page.c, which are only in testlog:
 * page/view/, page/trend/ and page/served/ ---- */

extern const unsigned char test_log_view_html[];
extern const size_t test_log_view_html_size;
extern const unsigned char test_log_trend_html[];
extern const size_t test_log_trend_html_size;
extern const unsigned char test_log_served_html[];
extern const size_t test_log_served_html_size;

/* ---- index_page.c, which the makefile makes of page/index/ ---- */

extern const unsigned char test_log_index_html[];
extern const size_t test_log_index_html_size;

/* ---- run_block.c ---- */

/* test_log_run_block adds the block of the run. */
void test_log_run_block(struct trace_text *, const struct test_log_page *);

/* ---- workers.c ---- */

/* test_log_page_workers returns the worker of each try of each test, from 1 on,
 * 0 for one that did not run, in the order of the tests, the earliest try of
 * each first; to be freed. NULL without memory. */
uint32_t *test_log_page_workers(const struct test_log_run *);

/* ---- failures.c ---- */

extern const struct test_log_table_kind test_log_failure_kind;

/* test_log_failures_add adds a row for each of the first failed tests. */
void test_log_failures_add(struct test_log_table *, struct test_log_strings *,
                           const struct test_log_page *);

/* test_log_failure_lines adds the last lines of a recording that its run
 * showed, and the last `most` that it hid. */
void test_log_failure_lines(struct trace_text *shown, struct trace_text *hidden,
                            size_t most, struct trace_reader *);

/* test_log_page_open opens the recording in a test's folder; without a folder,
 * that of a test which has none. */
struct trace_reader *test_log_page_open(const struct test_log_page *,
                                        const char *folder,
                                        const char *recording);

/* ---- compare.c ---- */

/* test_log_compare adds "previous", which compares the tests with earlier runs
 * in the same folder, as a member of a JSON object with a comma. */
void test_log_compare(struct trace_text *, const struct test_log_run *);

#endif

/* terminal.h: prints what people read while and after tests run. Private. */
#ifndef TESTLOG_TERMINAL_H
#define TESTLOG_TERMINAL_H

#include "harness/run/model/model.h"

struct test_log_report;

/* The choices of what a run prints. */
struct test_log_output {
    struct log_style style;
    bool live;        /* tests print directly */
    bool show_output; /* of passing tests, too */
    bool quiet;
    bool report_on_stdout; /* nothing else may go there */
    bool links;            /* paths of pages are links (OSC 8) */
    bool open;             /* open the page in a browser */
    uint64_t slow;         /* ns; longer tests are listed; 0: none */
    uint64_t named;        /* ns; a test that runs longer is named; 0: none */
    size_t durations;      /* how many of the slowest tests are listed */
    size_t fail_log;       /* hidden lines that a failed test's block shows */
    bool vanishes;         /* the run's files go when we end: name none */
    struct test_log_report *reports; /* of --report */
    size_t report_count, report_capacity;
};

/* test_log_print_block prints a test's captured output, lines, open spans and
 * its summary about GPUs, which the result keeps. */
void test_log_print_block(const struct test_log_run *, struct test_log_result *,
                          const struct test_log_output *);

/* test_log_print_try prints a line about a try that failed before the last one:
 * its place, reason and trace. */
void test_log_print_try(const struct test_log_run *,
                        const struct test_log_result *);

/* test_log_open_spans_text adds the innermost open span of each thread of the
 * test's process and of the processes in `alive`, as test_log_add_living writes
 * it (NULL: of all), each line after `indent`; test_log_print_open_spans prints
 * them. Both return how many there are. */
size_t test_log_open_spans_text(struct trace_text *, struct trace_reader *,
                                const char *alive, const char *indent);
size_t test_log_print_open_spans(struct trace_reader *, const char *alive,
                                 const char *indent);

/* test_log_print_stacks prints a test's stacks, if there are any. */
void test_log_print_stacks(const struct test_log_run *,
                           const struct test_log_result *);

/* test_log_print_running names a test that has been running for longer than
 * output->named; `limited`: it has a timeout. Its line begins with
 * TEST_LOG_RUNNING. */
#define TEST_LOG_RUNNING "testlog: slow: "
void test_log_print_running(const struct test_log_output *, const char *name,
                            bool limited);

/* test_log_print_slow lists the tests that took longer than --slow. */
void test_log_print_slow(const struct test_log_run *,
                         const struct test_log_output *);

/* test_log_print_times lists the slowest tests, if --durations asks for them,
 * and marks those that were slower than in the history; without --durations, it
 * lists only the slower ones. */
struct test_log_history;
void test_log_print_times(const struct test_log_run *,
                          const struct test_log_output *,
                          const struct test_log_history *);

/* test_log_is_longer tells whether a time is longer than an earlier one by more
 * than noise; both are in ns. */
bool test_log_is_longer(uint64_t time, uint64_t before);

/* test_log_print_unmatched warns about directives that matched no call site.
 * test_log_print_unmatched_one does so for one, "LOG: x"; `sites` are those
 * that it could have matched, and `meant` is what it probably meant, or NULL.
 */
void test_log_print_unmatched(const struct test_log_run *);
void test_log_print_unmatched_one(const char *unmatched, const char *sites,
                                  const char *meant);

/* test_log_first_failed returns the first test that failed or crashed, which a
 * debugger can look at; NULL if there is none. */
const struct test_log_result *test_log_first_failed(
    const struct test_log_run *);

/* test_log_print_summary lists flaky, skipped and failed tests, and prints how
 * to run the failed ones again, how to debug the first, how long all took and
 * where the run is. `rerun` is the command without filters, `program` the
 * program of the first failed test, quoted for a shell; NULL: unknown. */
void test_log_print_summary(const struct test_log_run *, const char *rerun,
                            const char *program);

/* ---- page_link.c: where report.html is ---- */

/* test_log_page_fragment adds what follows the page's address to show a test.
 */
void test_log_page_fragment(struct trace_text *, const struct test_log_run *,
                            const struct test_log_result *);

/* test_log_print_page prints "report: PATH", followed by a fragment or "". The
 * file need not exist yet, but its folder must. */
void test_log_print_page(const char *path, const char *fragment,
                         const struct test_log_output *);

/* test_log_find_page puts the path of a run's page; false if it has none. */
bool test_log_find_page(const struct test_log_run *, char *path);

/* ---- terminal.c: the closing line ---- */

/* test_log_print_closing prints the closing line. */
void test_log_print_closing(const struct test_log_run *,
                            const struct test_log_output *);

/* ---- open_page.c ---- */

/* test_log_open_page opens a page in the user's browser, and does not wait for
 * that; it prints a line if it cannot. test_log_show_page prints where the page
 * of a run is, if it has one, and opens it with --open. */
void test_log_open_page(const char *path);
void test_log_show_page(const struct test_log_run *,
                        const struct test_log_output *);

#endif

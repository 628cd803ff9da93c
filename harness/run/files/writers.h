/* writers.h: the files of a run, and its output to other programs. Private. */
#ifndef TESTLOG_WRITERS_H
#define TESTLOG_WRITERS_H

#include "harness/run/model/model.h"
#include "harness/run/terminal/terminal.h"
#include "trace/chrome/chrome.h"

/* ---- test_files.c ---- */

/* test_log_note_gpu stores in a result, and adds to the run, what the recording
 * of a test says about GPUs; test_log_render does so, too. */
void test_log_note_gpu(struct test_log_run *, struct test_log_result *,
                       struct trace_reader *);

/* test_log_settle settles the recording of a test that has ended; if `patient`,
 * not while processes run that the test has left. A full disk leaves it as it
 * is, which reads as well. */
void test_log_settle(const struct test_log_run *,
                     const struct test_log_result *, bool patient);

/* test_log_render writes a test's trace.json and log.txt from its recording,
 * unless the test passed and the recording is large, and stores in the result
 * what was lost and which processes outlived the test.
 * If `patient` and there are such processes, it does nothing and returns false.
 */
bool test_log_render(struct test_log_run *, struct test_log_result *,
                     const struct log_style *, bool patient);

/* test_log_note_late_losses adds the records that these processes have lost
 * since. */
void test_log_note_late_losses(const struct test_log_run *,
                               struct test_log_result *);

/* ---- run_trace.c ---- */

/* test_log_export_hint adds the command of testlog that shows the log ("log")
 * or the trace ("export") of a test. */
void test_log_export_hint(struct trace_text *, const struct test_log_run *,
                          const struct test_log_result *, const char *command);

/* test_log_write_trace writes the trace of the whole run, which only counts
 * tests that were not rendered; -1 with errno. */
int test_log_write_trace(const struct test_log_run *, const char *name);

/* test_log_take_try turns a copy of a result into the given earlier try, and
 * borrows what the result owns. test_log_trace_test returns a test as a trace
 * shows it; the strings are borrowed. test_log_trace_workers adds the workers
 * of a run. */
void test_log_take_try(struct test_log_result *copy, size_t number);
struct trace_chrome_test test_log_trace_test(const char *name,
                                             const struct test_log_run *,
                                             const struct test_log_result *);
void test_log_trace_workers(struct trace_chrome *, const struct test_log_run *);

/* ---- results_tsv.c ---- */

/* test_log_write_results writes results.tsv; -1 with errno. */
int test_log_write_results(const struct test_log_run *, const char *name);

/* ---- summary_tsv.c ---- */

/* test_log_write_summary writes summary.tsv; -1 with errno. */
int test_log_write_summary(const struct test_log_run *, const char *name);

/* ---- run_json.c ---- */

int test_log_write_run_json(const struct test_log_run *, const char *name);

/* test_log_run_members adds run.json without its tests, as members of a JSON
 * object; test_log_run_json adds the text of run.json. */
void test_log_run_members(struct trace_text *, const struct test_log_run *);
void test_log_run_json(struct trace_text *, const struct test_log_run *);

/* test_log_result_members adds a result as members of a JSON object; the caller
 * adds the braces. */
void test_log_result_members(struct trace_text *,
                             const struct test_log_result *);

/* test_log_loss_word returns the name of a cause of losses in run.json. */
const char *test_log_loss_word(enum trace_loss);

/* ---- report_files.c ---- */

/* X(NAME, word in flags, what writes it at the end of the run); a new report is
 * a row and such a function, which passes text from tests through
 * test_log_sanitize. */
#define TEST_LOG_REPORTS(X)                                                    \
    X(TAP, "tap", test_log_put_tap)                                            \
    X(JUNIT, "junit", test_log_put_junit)                                      \
    X(JSONL, "jsonl", NULL)

enum test_log_report_format {
#define TEST_LOG_X(name, word, put) TEST_LOG_REPORT_##name,
    TEST_LOG_REPORTS(TEST_LOG_X)
#undef TEST_LOG_X
};

struct test_log_report {
    enum test_log_report_format format;
    const char *file;   /* the caller's */
    const char *origin; /* "--report", "XML_OUTPUT_FILE" */
    bool of_file;       /* testlog.conf names it */
};

/* test_log_report_is_refused returns whether testlog.conf names a file that is
 * a link, which may lead anywhere. */
#define TEST_LOG_REPORT_REFUSED "%s: %s is a link; only a flag may name one"
bool test_log_report_is_refused(const struct test_log_report *);

/* test_log_report_add adds a report to an output; -1 without memory. */
int test_log_report_add(struct test_log_output *, struct test_log_report);
bool test_log_report_is_stdout(const char *file);

/* test_log_report_name returns a file's name for messages. */
const char *test_log_report_name(const char *file);

/* test_log_reports_begin, called before any test starts, keeps stdout for a
 * report that goes there; tests then print to stderr. `several`: the run will
 * start programs that are parts of it. */
void test_log_reports_begin(const struct test_log_run *,
                            const struct test_log_output *, bool several);

/* test_log_reports_stdout returns the descriptor of our own stdout;
 * test_log_reports_kept, the one that those programs get, or 0. */
int test_log_reports_stdout(void);
int test_log_reports_kept(void);

/* test_log_reports_write gives stdout back and writes results.tap and the
 * reports, unless another process does. */
void test_log_reports_write(const struct test_log_run *,
                            const struct test_log_output *);

/* test_log_reports_apart is for programs that will be started without a common
 * run: it prints which reports cannot be written, and removes files to which
 * those programs append. */
void test_log_reports_apart(const struct test_log_output *);

/* ---- tap.c, junit.c ---- */

void test_log_put_tap(FILE *, const struct test_log_run *);
void test_log_put_junit(FILE *, const struct test_log_run *);

int test_log_write_junit(const struct test_log_run *, const char *name);

/* ---- json_lines.c ---- */

/* The beginning of a test's line. */
#define TEST_LOG_JSONL_TEST "{\"schema\":1,\"event\":\"test\","

/* test_log_jsonl_open opens results.jsonl and other files of JSON lines.
 * test_log_jsonl_result writes a line, unless this try and outcome have one.
 * test_log_jsonl_close writes the missing lines of the run, if not NULL.
 * test_log_jsonl_line writes a line that a program handed over. */
void test_log_jsonl_open(const struct test_log_run *,
                         const struct test_log_output *);
void test_log_jsonl_result(struct test_log_result *);
void test_log_jsonl_close(struct test_log_run *);
void test_log_jsonl_line(const char *line, size_t size);

/* ---- send_results.c: results on their way to `testlog run` ---- */

/* The variable with the descriptor of that pipe, for programs that know nothing
 * of testlog but its lines of JSON. */
#define TEST_LOG_RESULTS "TESTLOG_RESULTS"

/* test_log_handover_begin takes `fd` if it is a pipe, and hides it from child
 * processes; test_log_handover_open tells whether there is a pipe. */
void test_log_handover_begin(int fd);
bool test_log_handover_open(void);

/* test_log_handover_line sends a line, test_log_handover_run the whole run as
 * the last line. -1 with errno if there is no pipe or no reader. */
int test_log_handover_line(const struct trace_text *line);
int test_log_handover_run(const struct test_log_run *);

/* ---- github.c: workflow commands, if GITHUB_ACTIONS is "true" ---- */

bool test_log_github_wanted(const struct test_log_run *);

/* test_log_github_begin stops commands, so that tests cannot print any.
 * test_log_github_token returns what enables commands, which programs of the
 * run need; NULL if nothing does. */
void test_log_github_begin(const struct test_log_run *);
const char *test_log_github_token(void);
void test_log_github_group(const struct test_log_result *);
void test_log_github_endgroup(void);

/* test_log_github_end annotates failed tests and enables commands again. */
void test_log_github_end(const struct test_log_run *);

/* ---- github_summary.c ---- */

/* test_log_github_summary adds tables of failed and slow tests to GitHub's job
 * summary, unless another process does. */
void test_log_github_summary(const struct test_log_run *);

#endif

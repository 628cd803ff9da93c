/* harness.h: what the harness's files and `testlog` share. Private.
 *
 * The runner is the process that Criterion keeps alive; a worker runs one test.
 * A run is a folder; several programs may write to it (testlog run).
 */
#ifndef TESTLOG_HARNESS_H
#define TESTLOG_HARNESS_H

#include <stdio.h>
#include <sys/types.h>

#include <testlog/log.h>

#include "trace/reader.h"

#define TEST_LOG_VERSION "0.1.0"

/* ---- options.c: flags and variables ---- */

enum test_log_exit {
    TEST_LOG_PASSED = 0,
    TEST_LOG_FAILED = 1,
    TEST_LOG_USAGE = 2,
    TEST_LOG_NO_TEST = 4,
};

/* A setting and where it came from: "--log", "LOG", "default". */
struct test_log_setting {
    const char *value, *origin;
};

struct test_log_options {
    struct test_log_setting show, record;
    enum log_format format;
    enum log_time time;
    bool color;
    bool live;
    bool show_output;
    bool quiet;
    bool fail_fast;
    bool report_on_stdout;
    bool informs; /* --list, --help, --version: no test runs */
    bool list_sites;
    uint64_t limit;  /* bytes a test may record */
    const char *dir; /* where runs go */
    size_t jobs;     /* 0 = as many as processors */
    char **patterns; /* of --filter, NULL at the end */
    size_t pattern_count;
    char **criterion; /* arguments for Criterion, NULL at the end */
    int criterion_count;
};

/* test_log_options_read reads variables and flags. Returns 0; else it has said
 * what is wrong, or what was asked for, and *code is the exit code. */
int test_log_options_read(struct test_log_options *, int argc, char **argv,
                          int *code);

void test_log_options_free(struct test_log_options *);

/* test_log_variable returns a variable's value, NULL if unset or empty. */
const char *test_log_variable(const char *name);

/* test_log_color decides about colours for `stream`; `flag` is "always",
 * "never", "auto" or NULL. */
bool test_log_color(const char *flag, FILE *stream);

/* ---- result.c ---- */

/* X(NAME, word in run.json, word in the report) */
#define TEST_LOG_OUTCOMES(X)                                                   \
    X(NONE, "none", "did not run")                                             \
    X(PASSED, "passed", "passed")                                              \
    X(FAILED, "failed", "failed")                                              \
    X(CRASHED, "crashed", "crashed")                                           \
    X(TIMEOUT, "timeout", "timed out")                                         \
    X(SKIPPED, "skipped", "skipped")

enum test_log_outcome {
#define TEST_LOG_X(name, word, report) TEST_LOG_OUTCOME_##name,
    TEST_LOG_OUTCOMES(TEST_LOG_X)
#undef TEST_LOG_X
};

const char *test_log_outcome_word(enum test_log_outcome);
const char *test_log_outcome_report(enum test_log_outcome);

/* test_log_outcome_of returns the outcome of a word; NONE if there is none. */
enum test_log_outcome test_log_outcome_of(const char *word);
bool test_log_outcome_bad(enum test_log_outcome);

struct test_log_result {
    char *program; /* its folder's name in the run */
    char *suite, *test;
    char *file;
    unsigned line;
    enum test_log_outcome outcome;
    char *reason;      /* NULL: none */
    uint64_t duration; /* ns */
    uint64_t dropped;  /* records */
    char *folder; /* of its files, from the run's folder; NULL: it has none */
    /* Of the runner, while it runs: */
    const void *key;  /* Criterion's test */
    char *filter;     /* which of its lines are shown */
    uint64_t started; /* ns, monotonic */
    uint32_t pid;
    bool running, body_done, shown;
};

/* A run, or one program's part of it. */
struct test_log_run {
    char *path;    /* of the folder, as it is to be shown */
    char *command; /* that started it */
    char *program; /* NULL: of several */
    struct trace_anchor start;
    char *show, *show_origin, *record, *record_origin;
    char **unseen; /* "LOG: x": directives that matched no call site */
    char **meant;  /* what each was meant to be, or NULL; NULL: none known */
    size_t unseen_count;
    bool annotated;      /* a program has annotated tests, and so ... */
    unsigned static_max; /* the most verbose level that one was built with */
    struct test_log_result *results;
    size_t count, capacity;
    bool foreign; /* the folder is another's: TESTLOG_RUN */
};

struct test_log_sums {
    size_t passed, failed, skipped;
};

/* test_log_run_add returns a new zeroed result, NULL without memory; earlier
 * pointers move. */
struct test_log_result *test_log_run_add(struct test_log_run *);
void test_log_run_free(struct test_log_run *);
struct test_log_sums test_log_run_sums(const struct test_log_run *);

/* test_log_name returns "suite/test" in a buffer that the next eight calls
 * leave alone. */
const char *test_log_name(const struct test_log_result *);

/* ---- run.c: folders ---- */

/* test_log_run_open makes the folder of a new run below `dir`, or joins the one
 * that TESTLOG_RUN names, and a folder for `program` (a path) if not NULL. If
 * `dir` cannot be written to, it says so and the run goes to a temporary
 * folder; -1 if that fails too. */
int test_log_run_open(struct test_log_run *, const char *dir,
                      const char *program);

/* test_log_path joins a run's path and `name` into `path` of PATH_MAX bytes;
 * -1 if it is too long. */
int test_log_path(const struct test_log_run *, const char *name, char *path);

/* test_log_file joins the path of a test's file; -1 if it has none. */
int test_log_file(const struct test_log_run *, const struct test_log_result *,
                  const char *name, char *path);

/* test_log_disk_full tells whether there is no room for even one recording. */
bool test_log_disk_full(const char *path);

/* test_log_program_folder finds the first free name for a program's folder:
 * "name", "name~2", ... */
char *test_log_program_folder(const struct test_log_run *, const char *program);
int test_log_make_folders(const char *path);

/* ---- sites.c ---- */

/* test_log_list_sites writes the program's call sites, one JSON object a line.
 */
int test_log_list_sites(FILE *);

/* ---- filters.c ---- */

struct test_log_filters {
    struct log_filter *show, *record;
};

/* test_log_filters_check reads the filters of the options, puts the default in
 * place of one that has nothing to be read and, if `say`, says what is wrong
 * and which filters are in force. */
void test_log_filters_check(struct test_log_filters *,
                            struct test_log_options *, bool say);
void test_log_filters_free(struct test_log_filters *);

/* test_log_filters_say says which filters are in force. */
void test_log_filters_say(const struct test_log_options *);

/* test_log_filter_of returns the filter of a test's lines, to be freed: `show`
 * of `origin`, which stands before its `own` (or NULL) unless it is the
 * default; what only takes away takes from its own. NULL without memory. */
char *test_log_filter_of(const char *show, const char *origin, const char *own);

/* test_log_filters_say_compiled_out says, once, that a filter asks for levels
 * which LOG_STATIC_MAX has left out of every program of the run. */
void test_log_filters_say_compiled_out(const struct test_log_filters *,
                                       const struct test_log_run *);

/* test_log_filters_find_unseen notes in the run which directives were about no
 * call site of this process or of what was recorded. */
void test_log_filters_find_unseen(struct test_log_filters *,
                                  struct test_log_run *);

/* ---- render.c, run_json.c, junit.c, run_trace.c: what is written ---- */

/* test_log_render writes a test's trace.json and log.txt from its recording,
 * and notes what was dropped. */
void test_log_render(struct test_log_run *, struct test_log_result *,
                     const struct log_style *);
int test_log_write_run_json(const struct test_log_run *, const char *name);
int test_log_write_junit(const struct test_log_run *, const char *name);
int test_log_write_trace(const struct test_log_run *, const char *name);

/* ---- report.c: what is said ---- */

/* test_log_out is where the runner speaks: the stderr it was started with. */
extern FILE *test_log_out;

/* test_log_notice says one line, beginning with "testlog: ", and sends no
 * control bytes to a terminal. */
void test_log_notice(const char *format, ...) TRACE_PRINTF(1, 2);

/* test_log_complain says what a filter's parser or advice added to a text. */
void test_log_complain(const struct trace_text *);

/* test_log_report_block prints a test's captured output, lines and open
 * spans. */
void test_log_report_block(const struct test_log_run *,
                           const struct test_log_result *,
                           const struct test_log_options *);

/* test_log_report_summary lists skipped and failed tests, says how to run these
 * again and where the run is; `rerun` is the command without filters. */
void test_log_report_summary(const struct test_log_run *, const char *rerun);

/* test_log_add_word adds a word for the shell, quoted if it has to be. */
void test_log_add_word(struct trace_text *, const char *word);

/* test_log_report_unseen warns of directives that matched no call site. */
void test_log_report_unseen(const struct test_log_run *);

/* test_log_report_closing prints the closing line, a line of its own. */
void test_log_report_closing(const struct test_log_run *,
                             const struct test_log_options *);

/* ---- session.c: from the runner to its workers, by environment ---- */

/* X(name of the field and, in capitals, of the variable) */
#define TEST_LOG_SESSION(X)                                                    \
    X(show)                                                                    \
    X(show_origin)                                                             \
    X(record)                                                                  \
    X(record_origin)                                                           \
    X(folder)                                                                  \
    X(limit)                                                                   \
    X(live)                                                                    \
    X(time)                                                                    \
    X(color)                                                                   \
    X(prefix)                                                                  \
    X(origin)

struct test_log_session {
#define TEST_LOG_X(name) char *name;
    TEST_LOG_SESSION(TEST_LOG_X)
#undef TEST_LOG_X
};

void test_log_session_export(const struct test_log_session *);

/* test_log_session_import takes the session out of the environment; false if
 * there is none. */
bool test_log_session_import(struct test_log_session *);

/* ---- worker.c ---- */

/* test_log_trampoline is what Criterion runs in place of an annotated test. */
void test_log_trampoline(void);

/* test_log_annotated tells whether the program has annotated tests. */
bool test_log_annotated(void);

/* test_log_entry_filter tells whether a test is annotated and its default
 * filter. `name` may be an instance's, "name[07]". */
bool test_log_entry_filter(const char *suite, const char *name,
                           const char **filter);

/* ---- plan.c: which tests run ---- */

struct criterion_test_set;

/* test_log_plan_expand gives every parameter instance a test of its own. */
void test_log_plan_expand(struct criterion_test_set *);

/* test_log_plan_select disables what the patterns leave out and counts what
 * they matched. */
size_t test_log_plan_select(struct criterion_test_set *,
                            const struct test_log_options *);

/* test_log_plan_seal fixes the order in which instances get parameters;
 * test_log_plan_free gives the parameters back. */
void test_log_plan_seal(struct criterion_test_set *);
void test_log_plan_free(void);

/* test_log_pattern_fault returns what is wrong with an extglob, NULL if
 * nothing is. */
const char *test_log_pattern_fault(const char *pattern);
bool test_log_pattern_matches(const char *pattern, const char *suite,
                              const char *test);

/* ---- runner.c ---- */

/* test_log_before_all is Criterion's hook before all tests. Whoever is linked
 * because of annotated tests names it, so that it is linked even if Criterion's
 * main runs, and can say so. */
typedef void test_log_hook(struct criterion_test_set *);
extern test_log_hook *const test_log_before_all;

/* test_log_runner_run runs all tests of a set and leaves the results in the
 * run. Returns how many the filters matched. */
size_t test_log_runner_run(struct criterion_test_set *,
                           const struct test_log_options *,
                           struct test_log_run *);

#endif

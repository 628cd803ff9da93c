/* frameworks.h: runs programs of other test frameworks. Private.
 *
 * The file of a program, or testlog.conf, tells which framework it uses. The
 * framework's own flags choose its tests, and its report tells how they ended.
 */
#ifndef TESTLOG_FRAMEWORKS_H
#define TESTLOG_FRAMEWORKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <testlog/trace.h>

#include "harness/run/model/model.h"

struct test_log_history;
struct test_log_options;

/* How much a program told of its tests. The last two are of programs of other
 * frameworks, with codes of their own: they told all, or nothing but the code.
 */
enum told {
    TOLD_NOTHING,
    TOLD_PARTLY,
    TOLD_ALL,
    TOLD_FLAGLESS,
    TOLD_BY_CODE,
};

/* ---- frameworks.c ---- */

/* The lines of a list of tests. */
enum framework_list {
    FRAMEWORK_LIST_SUITES, /* "Suite.", then its tests, indented */
    FRAMEWORK_LIST_NAMES,  /* a name each */
    FRAMEWORK_LIST_TREE,   /* suites and tests, marked with "*" */
    FRAMEWORK_LIST_XML,    /* elements TestCase */
};

/* How the tests of a process are chosen. Only GoogleTest's filter is exact; the
 * reports of others may have more results. */
enum framework_choice {
    FRAMEWORK_BY_FILE,  /* that names them */
    FRAMEWORK_EACH,     /* with an argument for each */
    FRAMEWORK_TOGETHER, /* with one, and commas */
};

enum { FRAMEWORK_PIPES = 2 };

struct framework {
    const char *name;      /* in testlog.conf */
    const char *title;     /* for people */
    const char *library;   /* how the name of a needed library begins */
    const char *marker;    /* text of a program that contains the framework */
    const char *report[5]; /* arguments for a report, with %s for its folder */
    const char *variables[3];           /* the same in the environment */
    const char *pipes[FRAMEWORK_PIPES]; /* reports that are begun anew, so that
                                           a file would have the last only */
    const char *list[3]; /* arguments that list the tests, to be tried */
    const char *places;  /* one more, for a report with the tests' places */
    enum framework_list form;
    const char *chosen[3]; /* arguments that choose tests, with %s for the path
                              of a file, or for names */
    enum framework_choice choice;
    const char *breaks;    /* an argument: a debugger stops at a failure */
    bool has_suites;       /* its reports name them */
    const char *separator; /* between a suite and a test; NULL: as ours */
    bool begins_report;    /* the report is there before the first test */
    bool prints_tests;     /* on stdout, as they begin and end, or how many */
    bool prints_reasons;   /* on stderr, which must be in order with stdout */
    bool is_silent;        /* it prints nothing else than the report */
    bool handles_signals;  /* those of crashes */
};

/* What the file of a program tells. The zero value is a script, which may start
 * any program. */
struct program_file {
    bool is_program;
    bool has_testlog;   /* or an adapter, which sends the program's results */
    bool has_criterion; /* as a library or linked statically */
    bool can_preload;   /* testlog can be loaded into it: as a library */
    bool takes_library; /* one that handles crashes can be loaded */
    bool is_sanitized;  /* it exits with a code of a sanitizer's */
    const struct framework *framework; /* NULL: it has Criterion */
};

/* runners_program_file reads the file of a program; without a slash, it is
 * searched in PATH. If the program has no framework, its exit code is all that
 * it tells. runners_framework_named returns a framework by its name, NULL if
 * there is none. */
struct program_file runners_program_file(const char *path);
const struct framework *runners_framework_named(const char *name);

/* runners_framework_chooses tells whether a framework can run some of a
 * program's tests only; runners_framework_reports, whether it says how each
 * test ended. */
bool runners_framework_chooses(const struct framework *);
bool runners_framework_reports(const struct framework *);

/* runners_framework_names returns the names of Criterion and all frameworks,
 * which NULL ends. */
const char *const *runners_framework_names(void);

/* ---- framework_lists.c: names of tests ---- */

struct framework_test {
    char *name;      /* "suite/test" */
    size_t suite;    /* bytes of it that are the suite's name */
    char *own;       /* as the framework calls it */
    bool of_program; /* it has no suite, so the program's name is its suite */
    bool disabled;   /* GoogleTest does not run it */
    char *file;      /* where it is written; NULL: unknown */
    unsigned line;
};

struct framework_tests {
    struct framework_test *all;
    size_t count, capacity;
};

/* runners_framework_list adds the tests of a program that its framework lists;
 * those without a suite are of the suite `program`. -1 if it fails, takes
 * longer than a minute, or we got a signal to end. With `all`, those that are
 * disabled are in the list, and places are known if the framework tells them.
 * runners_framework_read_list reads a list; with `disabled`, GoogleTest runs
 * disabled tests, too.
 * runners_framework_add adds one of GoogleTest's, "Suite.Test".
 * runners_framework_drop_disabled removes those that are disabled. */
struct framework_place;
int runners_framework_list(struct framework_tests *, const struct framework *,
                           const char *path, const char *arguments,
                           const struct framework_place *, const char *program,
                           bool all);
int runners_framework_add(struct framework_tests *, const char *own);
void runners_framework_drop_disabled(struct framework_tests *);
int runners_framework_read_list(struct framework_tests *,
                                const struct framework *, FILE *,
                                const char *program, bool disabled);

/* ---- framework_tests.c ---- */

/* runners_framework_twin counts names, and returns how often `name` has come: 1
 * for the first time. */
struct trace_table;
size_t runners_framework_twin(struct trace_table *counts, const char *name);

/* runners_framework_is_disabled tells whether GoogleTest does not run a test of
 * that name. */
bool runners_framework_is_disabled(const char *suite, const char *test);

/* runners_framework_title returns the title of a result, to be freed; NULL if
 * it is the name. */
char *runners_framework_title(const struct framework *,
                              const struct test_log_result *);

/* runners_framework_select leaves the tests that filters, --failed and shards
 * choose, and returns whether there are more in other shards;
 * runners_framework_selects tells whether the first two choose a test. */
bool runners_framework_selects(const struct test_log_options *,
                               const struct test_log_history *,
                               const char *program, const char *name,
                               const char *title);
bool runners_framework_select(struct framework_tests *,
                              const struct test_log_options *,
                              const struct test_log_history *,
                              const char *program);

/* runners_framework_write writes the file that chooses the first `count` tests,
 * -1 with errno. runners_framework_arguments adds arguments that do; it returns
 * how many tests fit, 0 without memory. */
int runners_framework_write(const struct framework_tests *, size_t count,
                            const struct framework *, FILE *);
struct framework_start;
size_t runners_framework_arguments(struct framework_start *,
                                   const struct framework_tests *, size_t count,
                                   const struct framework *);
int runners_framework_tests_copy(struct framework_tests *,
                                 const struct framework_tests *from);
void runners_framework_test_free(struct framework_test *);
void runners_framework_tests_free(struct framework_tests *);

/* ---- read_report.c ---- */

/* runners_framework_read_report adds the results in a report in XML: of
 * GoogleTest, Catch2, doctest, Boost.Test, Check or cmocka. It may end
 * anywhere, because the program died; then *open tells whether the last test
 * had not ended. Returns whether the report is complete. */
bool runners_framework_read_report(struct test_log_run *, FILE *,
                                   const struct framework *,
                                   const char *program, bool *open);

/* runners_framework_reason returns what a test has printed about its failure as
 * one reason, "file:line: text", to be freed. */
char *runners_framework_reason(const char *text);

/* ---- read_tap.c ---- */

/* runners_framework_read_tap adds the results in Check's reports in TAP, which
 * name no suites; returns whether the last one is complete. */
bool runners_framework_read_tap(struct test_log_run *, FILE *,
                                const char *program);

/* ---- boost_verdicts.c ---- */

/* The name of a report in Boost.Test's own form. */
#define FRAMEWORK_VERDICTS "verdicts.xml"

/* runners_framework_correct reads such a report of the results of `program`:
 * those that failed as expected have passed. It may end anywhere. */
void runners_framework_correct(struct test_log_run *, FILE *,
                               const char *program);

/* ---- printed_tests.c: what GoogleTest, cmocka and Check print ---- */

/* The tests of which a program's output tells. */
struct printed_tests {
    struct test_log_run *results;
    const char *program;
    bool has_suites;           /* "Suite.Test" */
    struct trace_text line;    /* that is not complete, its end if it is long */
    struct trace_text text;    /* that the running test has printed */
    bool runs;                 /* the last result's test has not ended */
    bool ended;                /* all tests have */
    struct trace_text suite;   /* of GoogleTest, the one that runs */
    struct trace_text outside; /* why it fails outside of its tests */
    bool tells;                /* more lines of that follow */
    struct test_log_run suites; /* those that failed so */
    struct {
        unsigned begun, ended, bad; /* runners, and checks that failed */
    } check;
    uint64_t began; /* ns, monotonic, of that test */
};

/* runners_printed_tests_read reads output; runners_printed_suites_take moves
 * the suites of GoogleTest that failed outside of their tests, which are not in
 * its report, to a run. runners_printed_tests_free frees all but the results.
 */
void runners_printed_tests_read(struct printed_tests *, const char *bytes,
                                size_t size);
void runners_printed_suites_take(struct printed_tests *, struct test_log_run *);
void runners_printed_tests_free(struct printed_tests *);

/* ---- framework_variables.c ---- */

/* runners_framework_clear adds the names of variables that are removed from the
 * environment of a program; -1 without memory. */
struct framework_start;
int runners_framework_clear(struct framework_start *, const struct framework *,
                            bool has_adapter);
/* ---- framework_flags.c ---- */
/* A program's arguments and variables; NULL ends each. A variable without "="
 * is removed. */
struct framework_start {
    char **arguments, **variables;
    size_t argument_count, variable_count;
    size_t argument_capacity, variable_capacity;
    const char *preload; /* a library for LD_PRELOAD; NULL: none */
};

/* How ctest starts a program: with arguments, in a place that `enter` goes to
 * in the new process, and with a limit for each test. The zero value is without
 * ctest. */
struct framework_place {
    char **arguments; /* NULL ends them; NULL: none */
    int (*enter)(const void *context);
    const void *context;
    double limit; /* s; 0: none */
};
/* runners_framework_argument and runners_framework_variable add one, with
 * `path` in place of %s if it is not NULL; -1 without memory.
 * runners_framework_start_free frees all. */
int runners_framework_argument(struct framework_start *, const char *form,
                               const char *path);
int runners_framework_variable(struct framework_start *, const char *form,
                               const char *path);
void runners_framework_start_free(struct framework_start *);

/* runners_framework_words adds the words of a text, or of NULL, which blanks
 * separate. */
int runners_framework_words(struct framework_start *, const char *text);

/* runners_framework_take_flags adds the variables in place of our flags, and
 * prints which flags a program of this framework cannot take; -1 if that is
 * wrong, because there are no programs `beside` it that may take them.
 * runners_criterion_take_flags adds the flags that Criterion has, too, and
 * stores the first of the others, NULL if there is none; -1 without memory. */
int runners_framework_take_flags(struct framework_start *,
                                 const struct framework *, const char *path,
                                 char **argv, bool beside);
int runners_criterion_take_flags(struct framework_start *, char **argv,
                                 const char **others);

/* ---- framework_program.c: which tests of a program run ---- */

/* A program of another framework, which may be started several times: when it
 * dies, the rest of its tests runs in another process, as do retries. */
struct framework_program;

/* runners_framework_open returns the program at `path`, which results call
 * `name`; NULL if it uses Criterion, or *failed: it has printed what is wrong.
 * * What the place points to lives as long. `argv` are our flags; if there are
 * programs `beside` it that may follow more of them, it only prints which ones
 * this program does not. */
struct framework_program *runners_framework_open(
    const char *path, const char *name, const struct program_file *,
    const struct framework_place *, const struct test_log_options *,
    char **argv, bool beside, bool *failed);
void runners_framework_close(struct framework_program *);

/* runners_framework_rename gives the program another name, which outlives it.
 */
void runners_framework_rename(struct framework_program *, const char *name);

/* runners_framework_is_known tells whether the program uses a framework; if
 * not, its exit code is all that it tells. */
bool runners_framework_is_known(const struct framework_program *);

/* runners_framework_is_gtest tells whether it uses GoogleTest. */
bool runners_framework_is_gtest(const struct framework_program *);

/* runners_framework_ask makes a program of GoogleTest run a test, "Suite.Test",
 * and others that it is asked for; -1 without memory. */
int runners_framework_ask(struct framework_program *, const char *own);
/* runners_framework_can_choose tells whether single tests of the program can
 * run. */
bool runners_framework_can_choose(const struct framework_program *);

/* runners_framework_choose, if options choose tests, lists those of the program
 * and chooses; -1 if it has printed what is wrong. Programs whose tests cannot
 * be chosen run whole, in one shard, which *whole counts; the history must then
 * live as long as the program. runners_framework_is_empty then tells whether
 * none is left, runners_framework_is_elsewhere whether there are some in other
 * shards; runners_framework_print_list prints them, for --list. */
int runners_framework_choose(struct framework_program *,
                             const struct test_log_history *, size_t *whole);
bool runners_framework_is_empty(const struct framework_program *);
bool runners_framework_is_elsewhere(const struct framework_program *);
void runners_framework_print_list(const struct framework_program *);

/* runners_framework_list_json adds them as an array of JSON. */
void runners_framework_list_json(const struct framework_program *,
                                 const struct test_log_history *,
                                 struct trace_text *);

/* ---- start_framework.c: a process of the program ---- */

/* runners_framework_begin prepares to start the program, whose folder in the
 * run is `folder`. It returns what to start it with, which is the program's;
 * NULL with errno. */
const struct framework_start *runners_framework_begin(
    struct framework_program *, const struct test_log_run *,
    const char *folder);

/* runners_framework_debug returns the command that starts the debugger with a
 * test of the program, which has ended; NULL without memory. */
const struct framework_start *runners_framework_debug(
    struct framework_program *, const struct test_log_result *);

/* runners_framework_prints tells whether the program's output must be passed to
 * runners_framework_read; runners_framework_prints_reasons, whether that on
 * stderr must, too, in order. */
bool runners_framework_prints(const struct framework_program *);
bool runners_framework_prints_reasons(const struct framework_program *);
void runners_framework_read(void *framework_program, const char *bytes,
                            size_t size);

/* runners_framework_check, while process `pid` of the program runs, reads its
 * reports if they are pipes, and kills it if a test takes too long. `folder` is
 * the program's in the run, and `told` is how many results it has sent.
 * runners_framework_needs_checks tells whether it must be called now and then,
 * even without --timeout. */
bool runners_framework_needs_checks(const struct framework_program *);
void runners_framework_check(struct framework_program *,
                             const struct test_log_run *, const char *folder,
                             int pid, size_t told);

/* ---- judge_framework.c: how its tests ended ---- */

/* runners_framework_store_stacks stores what the last process left when it
 * crashed in the folder of a result; nothing if it left none. */
void runners_framework_store_stacks(const struct framework_program *,
                                    const struct test_log_run *,
                                    struct test_log_result *);

/* runners_framework_itself adds a program to the run as a test of its own name,
 * because only its end is known; NULL without memory. */
struct test_log_result *runners_framework_itself(struct test_log_run *,
                                                 const char *program,
                                                 enum test_log_outcome,
                                                 const char *reason);

/* runners_framework_number_twins, of the results from number `from` on, calls
 * the second of one name "name (2)". */
void runners_framework_number_twins(struct test_log_run *, size_t from);

/* runners_framework_end reads the report after the process has ended with a
 * status, as waitpid has it, or takes the results that it has sent, those of
 * the run from number `from` on. If we were `interrupted`, the process did not
 * end by itself. Returns whether the program must be started again. */
bool runners_framework_end(struct framework_program *, struct test_log_run *,
                           size_t from, int status, bool interrupted);

/* runners_framework_results moves the results of all processes to the run;
 * false if there are none, and the framework does not tell that it has no test.
 */
bool runners_framework_results(struct framework_program *,
                               struct test_log_run *);

/* runners_framework_status returns the exit status that counts: 0 if only tests
 * have failed that are not selected. runners_framework_selects_none tells
 * whether the program has tests, but none that are selected. */
int runners_framework_status(const struct framework_program *, int status);
bool runners_framework_selects_none(const struct framework_program *);

#endif

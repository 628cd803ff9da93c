/* options.h: the flags and variables of a test program. Private. */
#ifndef TESTLOG_OPTIONS_H
#define TESTLOG_OPTIONS_H

#include "harness/options/flags.h"
#include "harness/options/known_failures.h"
#include "harness/options/settings.h"
#include "harness/run/model/test_stacks.h"
#include "harness/run/past/durations.h"
#include "harness/run/terminal/terminal.h"
#include "trace/record/profiler.h"

/* ---- option_values.c: profiler options ---- */

/* test_log_profiler_read parses "key=value,..." of a flag or variable called
 * `name`; -1 if it has printed what is wrong. */
int test_log_profiler_read(struct trace_profiler *, const char *name,
                           const char *text);

/* ---- options.c ---- */

enum test_log_exit {
    TEST_LOG_EXIT_PASSED = 0,
    TEST_LOG_EXIT_FAILED = 1,
    TEST_LOG_EXIT_USAGE = 2,
    TEST_LOG_EXIT_NO_TEST = 4,
    TEST_LOG_EXIT_SIGNAL = 128, /* plus the signal that ended the run */
};

/* A setting and where it came from: "--log", "LOG", "default". */
struct test_log_setting {
    const char *value, *origin;
};

/* The settings of testlog.conf for tests that match a pattern. */
struct test_log_override {
    const char *pattern;
    size_t at; /* of the setting, in struct test_log_options */
    double timeout;
    size_t retries;
    bool serial;
};

/* The forms of --list: names, --list=json and --list=cmake. */
enum test_log_list_form {
    TEST_LOG_LIST_NAMES,
    TEST_LOG_LIST_JSON,
    TEST_LOG_LIST_CMAKE,
};

/* A value that was read. */
struct test_log_given {
    const struct test_log_flag *flag;
    const char *name, *value;
};

struct test_log_options {
    struct test_log_setting show, record;
    struct test_log_output output;
    bool all_tests; /* treat every test as annotated */
    bool verbose;
    bool fail_fast;
    bool serial;         /* no test runs beside another */
    bool leave_children; /* when a test timed out, what it started goes on */
    bool fail_leaky;     /* tests fail that leave processes behind */
    bool render_all;   /* write trace.json and log.txt of large passing tests */
    bool reports;      /* Criterion's reports, to files or stdout */
    bool failed;       /* run what failed and has not passed since: */
    bool failed_first; /* or run it first: */
    char **only;       /* these names, NULL at the end; NULL: all */
    size_t retries, repeat; /* repeat 0 is once */
    double timeout;         /* s, the longest for each test; 0: none */
    enum test_log_stacks_of stacks;
    const char *debugger; /* to start if a test fails; NULL: none */
    bool callgrind;       /* counts instructions */
    const char *races;    /* the tool of valgrind that finds them; NULL: none */
    bool informs;         /* --list, --help, --version: no test runs */
    bool list, list_sites;
    enum test_log_list_form list_form;
    struct test_log_shard shard;
    struct test_log_setting shard_asked; /* "2/5", "auto", NULL */
    const char *shard_by; /* where shard.way comes from; NULL: default */
    struct test_log_setting history; /* a file of durations */
    struct test_log_rank rank;
    struct test_log_durations durations;
    uint64_t limit;                    /* bytes a test may record */
    struct test_log_setting functions; /* whose calls; NULL: all */
    size_t functions_depth;            /* most open calls; 0: any number */
    uint64_t functions_least;          /* ns of a call that calls nothing */
    struct test_log_setting lines;     /* that are recorded; NULL: none */
    bool unwinds;                      /* --sample-stacks=dwarf */
    size_t sample;                     /* Hz; 0: tests are not sampled */
    struct trace_profiler profiler;
    const char *flavour; /* of the build; NULL: what the compiler tells */
    const char *dir;     /* where runs go */
    bool dir_given;      /* `dir` is not the default */
    const char *scratch; /* "auto", "off" or a folder; NULL: "auto" */
    size_t keep;         /* how many runs there; 0: all */
    size_t jobs;         /* 0: as many as processors */
    char **patterns;     /* of --filter, NULL at the end */
    size_t pattern_count, pattern_capacity;
    const char *pattern_origin; /* of the last: "--filter" or a variable */
    const char **words;         /* parts of names, beside the patterns */
    size_t word_count, word_capacity;
    bool pass_with_no_tests;
    char **criterion; /* arguments for Criterion, NULL at the end */
    int criterion_count;
    size_t criterion_capacity, only_capacity;
    bool bystander; /* given: of a command that runs no test of the project */
    struct test_log_settings settings;
    struct test_log_override *overrides; /* in order */
    size_t override_count, override_capacity;
    struct test_log_known_failures known;
    struct trace_text test_filters; /* as test_log_filter_for reads them */
    const char *color;              /* "auto", "always", "never" */
    const char *profile;            /* of testlog.conf; NULL: none */
    bool show_config;
    struct test_log_given *given; /* in order */
    size_t given_count, given_capacity;
};

/* ---- options.c ---- */

/* test_log_print_profiler_options prints the profiler options for --help=all.
 */
void test_log_print_profiler_options(bool all);

/* test_log_program has the flags of test programs. */
extern const struct test_log_command test_log_program;

/* Readers of flags about lines: of enum log_format, of enum log_time, of the
 * bits of struct log_style, and of a word for test_log_color. */
test_log_read_flag test_log_flag_format, test_log_flag_time,
    test_log_flag_span_events, test_log_flag_details, test_log_flag_color;

/* ---- read_options.c ---- */

/* test_log_options_read reads testlog.conf, variables and flags; later ones
 * beat earlier ones. `all_tests` is its default; a `bystander` takes nothing
 * from testlog.conf that writes a file, starts a program or names a folder that
 * is not below the working directory. Returns 0; otherwise it has
 * printed what is wrong, or what was asked for, and *code is the exit code. */
int test_log_options_read(struct test_log_options *, char **argv, int *code);

/* ---- parsed_options.c ---- */

void test_log_options_free(struct test_log_options *);

/* test_log_options_select tells whether patterns or words select tests;
 * test_log_options_take_all, whether neither these nor shards do. */
bool test_log_options_select(const struct test_log_options *);
bool test_log_options_take_all(const struct test_log_options *);

/* test_log_override_of returns the retries of a test, whether it is serial, and
 * the timeout that testlog.conf sets for it, or 0. test_log_most_retries
 * returns the most that any test has, test_log_any_serial whether a test may be
 * serial.
 */
struct test_log_override test_log_override_of(const struct test_log_options *,
                                              const char *suite,
                                              const char *test);
size_t test_log_most_retries(const struct test_log_options *);
bool test_log_any_serial(const struct test_log_options *);

/* test_log_flavour_given returns --flavour's, otherwise the program's. */
const char *test_log_flavour_given(const struct test_log_options *);

/* test_log_copy_settings copies into a run the filters, shard and retries that
 * apply to it. */
void test_log_copy_settings(struct test_log_run *,
                            const struct test_log_options *);

/* ---- rerun.c ---- */

struct test_log_history;

/* test_log_rerun_name returns the name of a program (a path) in the history. */
const char *test_log_rerun_name(const char *program);

/* test_log_rerun_choose, for --failed and --failed-first, stores the failed
 * tests of a program (a path) in options->only; NULL if all run. Without a
 * history it prints so. False if --failed leaves no test. */
bool test_log_rerun_choose(struct test_log_options *,
                           const struct test_log_history *,
                           const char *program);

/* The notice if --failed leaves no test. */
#define TEST_LOG_NONE_FAILED                                                   \
    "--failed: all tests passed when they last ran; nothing to run"

/* ---- option_values.c ---- */

/* test_log_print_words ends a line of stderr with "a, b or c"; NULL ends the
 * words. */
void test_log_print_words(const char *const *words);

/* test_log_read_word finds a word, in any case, among `words`, which NULL ends;
 * `name` is the flag or variable. -1 if it has printed that the value is
 * unknown. The others parse the words of one setting each. */
int test_log_read_word(const char *name, const char *word,
                       const char *const *words, unsigned *choice);
int test_log_read_switch(const char *name, const char *word, bool *on);
int test_log_read_format(const char *name, const char *word, enum log_format *);
int test_log_read_time(const char *name, const char *word, enum log_time *);
int test_log_read_span_events(const char *name, const char *text,
                              unsigned *events);
int test_log_read_details(const char *name, const char *text,
                          unsigned *details);
int test_log_read_color(const char *name, const char *word, const char **color);

/* The words that these functions take, in the form of test_log_print_option. */
extern const char test_log_format_words[], test_log_time_words[],
    test_log_span_event_words[], test_log_detail_words[];

/* test_log_color decides about colours for `stream`; `flag` is "always",
 * "never", "auto" or NULL. */
bool test_log_color(const char *flag, FILE *stream);

/* test_log_links decides about links (OSC 8), which need a terminal that may
 * have colours. */
bool test_log_links(bool color, FILE *stream);

/* test_log_read_number parses a number up to `most`; `what` names it in
 * messages. test_log_read_count parses an integer, test_log_read_limit how much
 * a test may record. -1 if they have printed what is wrong. */
int test_log_read_number(const char *name, const char *text, const char *what,
                         double most, double *number);
int test_log_read_count(const char *name, const char *text, const char *what,
                        size_t *count);
int test_log_read_limit(const char *name, const char *text, uint64_t *limit);

/* ---- shards.c ---- */

/* test_log_shard_find finds which shard this is: the one asked for, otherwise
 * the one in variables of schedulers. -1 if it has printed what is wrong. */
int test_log_shard_find(struct test_log_shard *,
                        const struct test_log_setting *asked);
int test_log_shard_read_way(const char *name, const char *word,
                            enum test_log_shard_way *);

/* test_log_rank_find finds which rank of MPI this process is, unless it is a
 * shard because of that. */
void test_log_rank_find(struct test_log_rank *, const struct test_log_shard *);

/* ---- program_share.c: what `testlog run` gives a program beside others ----
 */

struct test_log_share {
    size_t jobs; /* tests at once; 0: the program has no share */
    bool color, links;
};

/* test_log_share_text writes a share for the session of a program;
 * test_log_share_take, in that program, reads it; false if there is none, or
 * if it was given to another process. */
void test_log_share_text(const struct test_log_share *, char *text,
                         size_t size);
bool test_log_share_take(struct test_log_share *);

/* ---- option_values.c: patterns ---- */

/* test_log_pattern_fault returns what is wrong with an extglob, NULL if
 * nothing is. */
const char *test_log_pattern_fault(const char *pattern);

/* ---- unused_sites.c ---- */

/* test_log_unused_sites_find registers the call sites of C++ code that has not
 * run, as far as the loaded objects have symbols. */
void test_log_unused_sites_find(void);

/* test_log_add_deciding adds those of a program's flags without which a failed
 * test may pass, each after a blank; `debugs`: that go with --debug-failed. */
struct trace_text;
void test_log_add_deciding(struct trace_text *, char **argv, bool debugs);

#endif

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

/* ---- profiler.c: the options of profilers ---- */

/* X(key, its usual value, the greatest, whether it is about GPUs) */
#define TEST_LOG_PROFILER_OPTIONS(X)                                           \
    X(device_tracer_level, 1, 1, true) /* 0: nothing is asked of GPUs */       \
    X(compress, 1, 1, false) /* 0: recordings stay as they were written */

struct test_log_profiler {
#define TEST_LOG_X(key, usual, most, gpu) unsigned key;
    TEST_LOG_PROFILER_OPTIONS(TEST_LOG_X)
#undef TEST_LOG_X
    bool given; /* somebody gave one about GPUs */
};

extern const struct test_log_profiler test_log_profiler_default;

/* test_log_profiler_read reads "key=value,..." of a flag or variable called
 * `name`; -1 if it has said what is wrong. */
int test_log_profiler_read(struct test_log_profiler *, const char *name,
                           const char *text);

/* ---- options.c: flags and variables ---- */

enum test_log_exit {
    TEST_LOG_PASSED = 0,
    TEST_LOG_FAILED = 1,
    TEST_LOG_USAGE = 2,
    TEST_LOG_NO_TEST = 4,
    TEST_LOG_SIGNAL = 128, /* and the number of the one that ended the run */
};

/* A setting and where it came from: "--log", "LOG", "default". */
struct test_log_setting {
    const char *value, *origin;
};

/* X(NAME, word): which tests are in a shard. */
#define TEST_LOG_SHARD_WAYS(X)                                                 \
    X(SLICE, "slice") /* each total-th of the sorted names */                  \
    X(HASH, "hash")   /* by its name alone */

enum test_log_shard_way {
#define TEST_LOG_X(name, word) TEST_LOG_SHARD_##name,
    TEST_LOG_SHARD_WAYS(TEST_LOG_X)
#undef TEST_LOG_X
};

struct test_log_shard {
    size_t index, total; /* from 0; total 0: there are no shards */
    enum test_log_shard_way way;
    const char *origin;
};

struct test_log_options {
    struct test_log_setting show, record;
    enum log_format format;
    enum log_time time;
    unsigned span_events; /* of enum log_span_event */
    bool color;
    bool live;
    bool show_output;
    bool all_tests; /* as if each was annotated */
    bool quiet;
    bool fail_fast;
    bool report_on_stdout;
    bool reports;           /* Criterion's, to files or stdout */
    bool failed;            /* only what failed in the last run, which is ... */
    char **only;            /* NULL: all; else names, NULL at the end */
    size_t retries, repeat; /* 0 times is once */
    uint64_t slow;          /* ns; 0: never */
    double timeout;         /* s, at most for every test; 0: none */
    bool informs;           /* --list, --help, --version: no test runs */
    bool list, list_sites;
    struct test_log_shard shard;
    struct test_log_setting shard_asked; /* "2/5", "auto", NULL */
    uint64_t limit;                      /* bytes a test may record */
    struct test_log_profiler profiler;
    const char *dir; /* where runs go... */
    bool dir_given;  /* ...as somebody has said */
    size_t jobs;     /* 0 = as many as processors */
    char **patterns; /* of --filter, NULL at the end */
    size_t pattern_count;
    const char *pattern_origin; /* of the last: "--filter" or a variable */
    bool pass_with_no_tests;
    struct test_log_report *outputs; /* of --report */
    size_t output_count;
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

/* ---- choose.c ---- */

/* test_log_print_words ends a line of stderr with "a, b or c"; NULL ends them.
 */
void test_log_print_words(const char *const *words);

/* test_log_read_word finds a word, in any case, among `words`, which NULL ends;
 * `name` is the flag or variable. -1 if it is none of them, which it says. So
 * do the others, for the words of one setting each. */
int test_log_read_word(const char *name, const char *word,
                       const char *const *words, unsigned *choice);
int test_log_read_format(const char *name, const char *word, enum log_format *);
int test_log_read_time(const char *name, const char *word, enum log_time *);
int test_log_read_span_events(const char *name, const char *text,
                              unsigned *events);
int test_log_read_color(const char *name, const char *word, const char **color);

/* test_log_suggest_flag returns the name of the one of getopt_long's flags that
 * a word, "--name" or "--name=value", was probably meant to be; NULL if none is
 * near. */
struct option;
const char *test_log_suggest_flag(const char *word, const struct option *);

/* ---- numbers.c ---- */

/* test_log_read_number reads a number up to `most`, of which `what` says what
 * it is; test_log_read_count a whole one; test_log_read_limit how much a test
 * may record. -1 if it is none, which they say. */
int test_log_read_number(const char *name, const char *text, const char *what,
                         double most, double *number);
int test_log_read_count(const char *name, const char *text, const char *what,
                        size_t *count);
int test_log_read_limit(const char *name, const char *text, uint64_t *limit);

/* ---- gpu_seen.c: what was seen of GPUs ---- */

/* X(NAME, word): the later ones tell more of a run. */
#define TEST_LOG_GPU_STATES(X)                                                 \
    X(UNUSED, "unused")                                                        \
    X(OFF, "off")                                                              \
    X(NO_DRIVER, "no-driver")                                                  \
    X(NO_LIBCUPTI, "no-libcupti")                                              \
    X(TOO_OLD, "too-old")                                                      \
    X(BUSY, "busy")                                                            \
    X(DENIED, "denied")                                                        \
    X(ON, "on")                                                                \
    X(PLAYBACK, "playback")

enum test_log_gpu_state {
#define TEST_LOG_X(name, word) TEST_LOG_GPU_##name,
    TEST_LOG_GPU_STATES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* X(name in the recording, behind "gpu.", and in run.json); counts add up. */
#define TEST_LOG_GPU_TEXTS(X)                                                  \
    X(notice) X(library) X(api) X(kinds) X(refused) X(source)
#define TEST_LOG_GPU_COUNTS(X)                                                 \
    X(launches)                                                                \
    X(launched) X(lost) X(orphans) X(dropped) X(undecoded) X(bad_times)

enum { TEST_LOG_GPU_DEVICES = 64 };

/* Of one test, or of a run: then the texts are those of the first test whose
 * state is the run's. */
struct test_log_gpu {
    enum test_log_gpu_state state;
#define TEST_LOG_X(name) char *name;
    TEST_LOG_GPU_TEXTS(TEST_LOG_X)
#undef TEST_LOG_X
#define TEST_LOG_X(name) uint64_t name;
    TEST_LOG_GPU_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
    char *devices[TEST_LOG_GPU_DEVICES]; /* names by ordinal; NULL: none */
    bool cuda;  /* a library of CUDA was in a program */
    bool asked; /* somebody wants to know of GPUs */
};

const char *test_log_gpu_word(enum test_log_gpu_state);

/* test_log_gpu_state_of finds the state that a word (or NULL) means; false if
 * there is none. */
bool test_log_gpu_state_of(const char *word, enum test_log_gpu_state *);

/* test_log_gpu_read reads what a recording tells, to be freed; false if that is
 * nothing. */
bool test_log_gpu_read(struct test_log_gpu *, const struct trace_reader *);
void test_log_gpu_add(struct test_log_gpu *all, const struct test_log_gpu *one);
void test_log_gpu_device(struct test_log_gpu *, size_t ordinal,
                         const char *name);
void test_log_gpu_free(struct test_log_gpu *);

/* test_log_gpu_members adds members of JSON; the braces are the caller's. */
void test_log_gpu_members(struct trace_text *, const struct test_log_gpu *);

/* test_log_gpu_print says, once a run, why nothing was seen of GPUs, where
 * anybody cares. */
void test_log_gpu_print(const struct test_log_gpu *);

/* ---- gpu.c: what makes GPUs seen ---- */

/* What begins a notice, before the reason. */
#define TEST_LOG_GPU_WITHOUT "GPU trace off: "

/* test_log_gpu_library finds libtestlog-gpu.so; `path` has PATH_MAX bytes.
 * test_log_gpu_hint names the one beside this program, which is testlog, to
 * others. One that another user could replace is none. */
bool test_log_gpu_library(char *path);
void test_log_gpu_hint(void);

/* test_log_gpu_driver tells whether files below `root` ("") say that there is
 * an NVIDIA driver, test_log_gpu_linked whether this program uses CUDA. */
bool test_log_gpu_driver(const char *root);
bool test_log_gpu_linked(void);

/* test_log_gpu_prepare sets the variables of workers; test_log_gpu_record those
 * of any program, whose processes record into folders in `folder`, an absolute
 * path. They note what is known before anything of CUDA runs. */
struct test_log_options;
void test_log_gpu_prepare(struct test_log_gpu *,
                          const struct test_log_options *);
void test_log_gpu_record(struct test_log_gpu *, const struct test_log_options *,
                         const char *folder);

/* test_log_gpu_hide, in a worker, takes back what is not for its children. */
void test_log_gpu_hide(void);

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
const char *test_log_outcome_text(enum test_log_outcome);

/* test_log_outcome_of returns the outcome of a word; NONE if there is none. */
enum test_log_outcome test_log_outcome_of(const char *word);
bool test_log_outcome_bad(enum test_log_outcome);

/* A try of a test that was then tried again. */
struct test_log_try {
    enum test_log_outcome outcome;
    char *reason; /* NULL: none */
    char *folder; /* as a result's */
    uint64_t duration;
};

struct test_log_result {
    char *program; /* its folder's name in the run */
    char *suite, *test;
    char *file;
    unsigned line;
    enum test_log_outcome outcome;
    char *reason;                    /* NULL: none */
    uint64_t duration;               /* ns */
    uint64_t lost[TRACE_LOSS_COUNT]; /* records */
    char *survivors; /* processes that outlived it; NULL: none */
    size_t unjudged; /* expectations, for want of records */
    enum test_log_gpu_state gpu;
    uint64_t gpu_lost; /* launches that no device told of */
    char *folder; /* of its files, from the run's folder; NULL: it has none */
    struct test_log_try *earlier; /* tries before this, the last one */
    size_t earlier_count;
    /* Of the runner, while it runs: */
    const void *key;  /* Criterion's test */
    char *filter;     /* which of its lines are shown */
    uint64_t started; /* ns, monotonic */
    uint64_t limit;   /* ns that it may take; 0: any */
    uint32_t pid;
    size_t note; /* of its process, on the board; 0: none */
    struct test_log_output_pipe *drain; /* of its output; NULL: it is a file */
    uint64_t paused; /* ns of its time that the runner stood still */
    bool unborn;     /* has a process, which has not noted itself */
    bool begun;      /* Criterion has told so */
    bool running, body_done, shown;
    enum test_log_outcome told; /* of this try */
    bool left;                  /* kept from beginning */
    uint64_t gone;              /* when its process was first found gone */
    uint64_t late;              /* when it was told that its time was over */
    bool killed;                /* for it went on all the same */
    bool ended;                 /* killed, for the run ends */
    bool noted;                 /* as slow */
    bool borrows;               /* its names: there was no memory for copies */
};

/* A run, or one program's part of it. */
struct test_log_run {
    char *path;             /* of the folder, as it is to be shown */
    int folder;             /* a descriptor of it; 0: `path` is opened */
    char *command;          /* that started it, as a shell reads it */
    const char *executable; /* NULL: of several */
    char *program;          /* its folder's name; NULL: of several */
    struct trace_anchor start;
    char *show, *show_origin, *record, *record_origin;
    char **unseen; /* "LOG: x": directives that matched no call site */
    char **meant;  /* what each was meant to be, or NULL; NULL: none known */
    size_t unseen_count;
    bool annotated;      /* a program has annotated tests, and so ... */
    unsigned static_max; /* the most verbose level that one was built with */
    struct test_log_result *results;
    size_t count, capacity;
    struct test_log_gpu gpu;
    struct test_log_shard shard;
    struct trace_text left_out; /* by --failed: lines for results.tsv */
    bool foreign;               /* the folder is another's: TESTLOG_RUN */
    bool dir_given;             /* a person has named where runs go */
    bool refused;               /* no memory for its results: no test ran */
    int interrupted;            /* by this signal, or 0 */
};

struct test_log_sums {
    size_t passed, failed, skipped;
};

/* test_log_run_add returns a new zeroed result, NULL without memory; earlier
 * pointers move. */
struct test_log_result *test_log_run_add(struct test_log_run *);

/* test_log_run_replace puts the last result in the place of another. */
void test_log_run_replace(struct test_log_run *, size_t number);
void test_log_run_free(struct test_log_run *);

/* test_log_flaky tells whether a test passed after a try that did not. */
bool test_log_flaky(const struct test_log_result *);
struct test_log_sums test_log_run_sums(const struct test_log_run *);

/* test_log_name returns "suite/test" in a buffer that the next eight calls
 * leave alone. */
const char *test_log_name(const struct test_log_result *);

/* test_log_signal returns "SIGSEGV", or "signal 35" for one without a name, in
 * a buffer that the next call has as well. */
const char *test_log_signal(int number);

/* ---- run.c: folders ---- */

/* test_log_run_open makes the folder of a new run below `dir`, or joins the one
 * that TESTLOG_RUN names, and a folder for `program` (a path) if not NULL. If
 * `dir` cannot be written to, or belongs to a user whom we do not trust and
 * nobody has named it, it says so and the run goes to a temporary folder; -1 if
 * that fails too. */
int test_log_run_open(struct test_log_run *, const char *dir,
                      const char *program);

/* test_log_disk_full tells whether there is no room for even one recording. */
bool test_log_disk_full(const char *path);

/* test_log_program_name returns what the number-th program of a base name is
 * called, "name" or "name~2", to be freed; NULL without memory. */
char *test_log_program_name(const char *program, unsigned number);

/* test_log_program_folder finds the first free name for a program's folder:
 * "name", "name~2", ... */
char *test_log_program_folder(const struct test_log_run *, const char *program);
int test_log_make_folders(const char *path);

/* ---- trust.c: whose files are as good as our own ---- */

/* test_log_trusts tells whether a user is we, root, the one who called sudo, or
 * one who could replace the program that runs, or one that was named to
 * test_log_trust_program and is to be run; test_log_trust_end forgets these. */
bool test_log_trusts(uid_t user);
void test_log_trust_program(const char *path);
void test_log_trust_end(void);

/* test_log_trusts_folder tells whether a folder, and a link to it, belongs to
 * such a user, else whose it is; one that is not there does. */
bool test_log_trusts_folder(const char *path, uid_t *owner);

/* test_log_trusts_file tells whether code may be loaded from a file: it and all
 * folders above its absolute path, which has no links, belong to such users,
 * and no other user can replace it. */
bool test_log_trusts_file(const char *path);

/* ---- run_files.c: files in the folder of a run ---- */

/* test_log_path joins a run's path and `name` into `path` of PATH_MAX bytes;
 * -1 if it is too long. */
int test_log_path(const struct test_log_run *, const char *name, char *path);

/* test_log_file joins the path of a test's file; -1 if it has none. Both are to
 * be shown: files are opened below. */
int test_log_file(const struct test_log_run *, const struct test_log_result *,
                  const char *name, char *path);

/* test_log_open opens a file of a run as trace_beneath does; test_log_create
 * and test_log_create_file, for one of a test, begin to write a file that
 * appears complete; test_log_read opens one of a test to be read. On failure
 * -1 or NULL, with errno. */
int test_log_open(const struct test_log_run *, const char *name, int flags);
int test_log_create(const struct test_log_run *, const char *name,
                    struct trace_file *);
int test_log_create_file(const struct test_log_run *,
                         const struct test_log_result *, const char *file,
                         struct trace_file *);
FILE *test_log_read(const struct test_log_run *, const struct test_log_result *,
                    const char *file);

/* test_log_recording opens a test's recording; test_log_change_recording calls
 * trace_seal_beneath or trace_shrink_beneath for it. */
struct trace_reader *test_log_recording(const struct test_log_run *,
                                        const struct test_log_result *);
int test_log_change_recording(const struct test_log_run *,
                              const struct test_log_result *,
                              int (*change)(int folder, const char *name));

/* test_log_make_folder makes a folder, of which the parents are there;
 * test_log_remove removes a file. */
int test_log_make_folder(const struct test_log_run *, const char *name);
int test_log_remove(const struct test_log_run *, const char *name);

/* ---- sites.c ---- */

/* test_log_list_sites writes the program's call sites, one JSON object a line;
 * -1 if not all could be. */
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

/* test_log_filters_print says which filters are in force. */
void test_log_filters_print(const struct test_log_options *);

/* test_log_filter_of returns the filter of a test's lines, to be freed: `show`
 * of `origin`, which stands before its `own` (or NULL) unless it is the
 * default; what only takes away takes from its own. NULL without memory. */
char *test_log_filter_of(const char *show, const char *origin, const char *own);

/* test_log_filters_print_compiled_out says, once, that a filter asks for levels
 * which LOG_STATIC_MAX has left out of every program of the run. */
void test_log_filters_print_compiled_out(const struct test_log_filters *,
                                         const struct test_log_run *);

/* test_log_filters_ask tells whether one of them is about GPUs. */
bool test_log_filters_ask(const struct test_log_filters *);

/* test_log_filters_find_unseen notes in the run which directives were about no
 * call site of this process or of what was recorded. */
void test_log_filters_find_unseen(struct test_log_filters *,
                                  struct test_log_run *);

/* ---- render.c, run_json.c, junit.c, run_trace.c: what is written ---- */

/* test_log_survivors counts the processes that recorded, are not the test's own
 * and are alive, and adds their numbers and names unless `names` is NULL. */
size_t test_log_survivors(struct trace_text *names,
                          const struct trace_reader *);

/* test_log_loss_word returns the name of a cause of losses in run.json. */
const char *test_log_loss_word(enum trace_loss);

/* test_log_render writes a test's trace.json and log.txt from its recording,
 * and notes what was lost and which processes have outlived the test. If it is
 * patient, and there are such, it does nothing and returns false. */
bool test_log_render(struct test_log_run *, struct test_log_result *,
                     const struct log_style *, bool patient);

/* test_log_note_late_losses notes what survivors have lost since then. */
void test_log_note_late_losses(const struct test_log_run *,
                               struct test_log_result *);
int test_log_write_run_json(const struct test_log_run *, const char *name);

/* test_log_run_json adds the text of run.json. */
void test_log_run_json(struct trace_text *, const struct test_log_run *);

/* test_log_result_members adds what is said of a result in JSON: members, the
 * braces are the caller's. */
void test_log_result_members(struct trace_text *,
                             const struct test_log_result *);
int test_log_write_junit(const struct test_log_run *, const char *name);
int test_log_write_trace(const struct test_log_run *, const char *name);

/* ---- clean.c ---- */

/* test_log_sanitize adds text of any bytes as UTF-8 that XML, YAML and JSON
 * take:
 * '?' for control characters other than newline and tab, U+FFFD for what is no
 * character or reorders text. test_log_sanitize_line has spaces for these two.
 */
void test_log_sanitize(struct trace_text *, const char *, size_t size);
void test_log_sanitize_line(struct trace_text *, const char *);

/* ---- standard.c ---- */

/* test_log_stdio_hold takes the numbers of stdin, stdout and stderr where a
 * program was started without: no file may get them. Reading and writing there
 * goes on to fail. */
void test_log_stdio_hold(void);

/* test_log_stdio_outlive has a run go on when nobody reads what it says any
 * more, as with `| head`, or when a file may grow no more (ulimit -f);
 * processes that it starts still end. */
void test_log_stdio_outlive(void);

/* ---- preflight.c: what Criterion would abort without ---- */

/* test_log_preflight_memory tells whether tests can share memory with the
 * runner; if not, it has said so. */
bool test_log_preflight_memory(void);

/* test_log_preflight_program tells whether a program is in PATH. */
bool test_log_preflight_program(const char *name);

/* ---- outputs.c, tap.c, junit.c, jsonl.c: results for machines ---- */

/* X(NAME, word in flags, what writes it at the end of the run) */
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
    const char *file;   /* not ours */
    const char *origin; /* "--report", "XML_OUTPUT_FILE" */
};

/* test_log_report_add adds one to the options; -1 without memory. */
int test_log_report_add(struct test_log_options *, struct test_log_report);
bool test_log_report_is_stdout(const char *file);

/* test_log_report_name returns what a file is called where it is spoken of. */
const char *test_log_report_name(const char *file);

/* test_log_reports_part tells whether this program is one of several of a run,
 * whose results another process writes. */
bool test_log_reports_part(void);

/* test_log_reports_begin, before any test starts, keeps stdout for a report
 * that goes there: what tests print goes to stderr. `several`: programs will
 * be started that are parts of the run. */
void test_log_reports_begin(const struct test_log_options *, bool several);

/* test_log_reports_stdout returns the descriptor of our own stdout. */
int test_log_reports_stdout(void);

/* test_log_reports_write gives stdout back and writes results.tap and what was
 * asked for, if no other process does. */
void test_log_reports_write(const struct test_log_run *,
                            const struct test_log_options *);

/* test_log_reports_apart: programs will be started of which nobody can write
 * the results together. */
void test_log_reports_apart(const struct test_log_options *);

void test_log_put_tap(FILE *, const struct test_log_run *);
void test_log_put_junit(FILE *, const struct test_log_run *);

/* What begins the line of a test. */
#define TEST_LOG_JSONL_TEST "{\"schema\":1,\"event\":\"test\","

/* test_log_jsonl_open opens results.jsonl and other files of JSON lines,
 * test_log_jsonl_result writes a line, unless there is one of this try with
 * that outcome, and test_log_jsonl_close writes those that are missing of the
 * run, if any. test_log_jsonl_line writes a line that a program handed over. */
void test_log_jsonl_open(const struct test_log_run *,
                         const struct test_log_options *);
void test_log_jsonl_result(struct test_log_result *);
void test_log_jsonl_close(struct test_log_run *);
void test_log_jsonl_line(const char *line, size_t size);

/* test_log_write_all writes all of it; -1 with errno, as when the reader of a
 * pipe is gone. */
int test_log_write_all(int fd, const char *data, size_t size);

/* ---- handover.c: results on their way to `testlog run` ---- */

/* The number of the pipe's end that a program writes to. */
#define TEST_LOG_HANDOVER_VARIABLE "TESTLOG_RESULTS"

/* test_log_handover_begin takes the pipe, if it was `testlog run` that started
 * this program, and hides it from others; test_log_handover_open tells whether
 * there is one. */
void test_log_handover_begin(void);
bool test_log_handover_open(void);

/* test_log_handover_line sends a line, test_log_handover_run the whole run as
 * its last line. -1 with errno if there is no pipe or nobody reads it. */
int test_log_handover_line(const struct trace_text *line);
int test_log_handover_run(const struct test_log_run *);

/* ---- github.c: workflow commands, if GITHUB_ACTIONS is "true" ---- */

bool test_log_github_wanted(void);

/* test_log_github_begin stops commands, whatever prints them; `several` as
 * above. */
void test_log_github_begin(bool several);
void test_log_github_group(const struct test_log_result *);
void test_log_github_endgroup(void);

/* test_log_github_end annotates failed tests and lets commands through. */
void test_log_github_end(const struct test_log_run *);

/* ---- bazel.c: files that say that a test did not end, or knows of shards ----
 */

void test_log_bazel_begin(void);
void test_log_bazel_end(void);

/* ---- report.c: what is said ---- */

/* test_log_out is where the runner speaks: the stderr it was started with. */
extern FILE *test_log_out;

/* test_log_notice says one line, beginning with "testlog: ", and sends no
 * control bytes to a terminal. */
void test_log_notice(const char *format, ...) TRACE_PRINTF(1, 2);

/* test_log_complain says what a filter's parser or advice added to a text. */
void test_log_complain(const struct trace_text *);

/* test_log_print_block prints a test's captured output, lines and open
 * spans. */
void test_log_print_block(const struct test_log_run *,
                          const struct test_log_result *,
                          const struct test_log_options *);

/* test_log_print_open_spans prints, for each thread, the spans that it is in,
 * each line behind `indent`; returns how many. */
size_t test_log_print_open_spans(struct trace_reader *, const char *indent);

/* test_log_print_slow lists the tests that took longer than --slow. */
void test_log_print_slow(const struct test_log_run *,
                         const struct test_log_options *);

/* test_log_print_summary lists skipped and failed tests, says how to run these
 * again and where the run is; `rerun` is the command without filters. */
void test_log_print_summary(const struct test_log_run *, const char *rerun);

/* test_log_add_word adds a word for the shell, quoted if it has to be. */
void test_log_add_word(struct trace_text *, const char *word);

/* test_log_print_unseen warns of directives that matched no call site. */
void test_log_print_unseen(const struct test_log_run *);

/* test_log_print_closing prints the closing line, a line of its own. */
void test_log_print_closing(const struct test_log_run *,
                            const struct test_log_options *);

/* ---- expect.c ---- */

/* What begins the message of a passed assertion that was not judged. */
#define TEST_LOG_UNJUDGED "not judged: "

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
    X(format)                                                                  \
    X(time)                                                                    \
    X(span_events)                                                             \
    X(color)                                                                   \
    X(prefix)                                                                  \
    X(origin)                                                                  \
    X(all_tests)                                                               \
    X(attempt)                                                                 \
    X(drained)                                                                 \
    X(runner)

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

/* test_log_worker_begin starts the log and trace of a test that is not
 * annotated, if the runner wants all tests to have them; test_log_worker_end
 * ends those that were begun. */
void test_log_worker_begin(void);
void test_log_worker_end(void);

/* test_log_annotated tells whether the program has annotated tests. */
bool test_log_annotated(void);

/* test_log_entry_filter tells whether a test is annotated and its default
 * filter. `name` may be an instance's, "name[07]". */
bool test_log_entry_filter(const char *suite, const char *name,
                           const char **filter);

/* test_log_entry_place puts where an annotated test stands; what Criterion has
 * of it in a worker points elsewhere. */
void test_log_entry_place(const char *suite, const char *name,
                          const char **file, unsigned *line);

/* ---- interpose.c ---- */

/* test_log_next_function puts the function of a name that is behind ours, that
 * of Criterion or its libraries, into the pointer at `function`; without one,
 * it says so and aborts. */
void test_log_next_function(const char *name, void *function);

/* test_log_record_error records an ERROR event of a place in a file. */
void test_log_record_error(const char *file, unsigned line, const char *text);

/* ---- diff.c ---- */

/* git_libgit2_init starts libgit2, except for Criterion, for which it starts
 * with its first diff. Returns how often it was started. */
TRACE_API int git_libgit2_init(void);

/* ---- sanitizers.c ---- */

/* These are for the beginning of a test, for when only its tear-down is to
 * come, and for when nobody listens to it any more. */
void test_log_sanitizers_begin(void);
void test_log_sanitizers_last(void);
void test_log_sanitizers_end(void);

/* ---- valgrind.c ---- */

/* test_log_valgrind_runs tells whether valgrind executes this process. From
 * test_log_valgrind_begin on, test_log_valgrind_found tells whether it has
 * found errors or leaks, and puts which. */
bool test_log_valgrind_runs(void);
void test_log_valgrind_begin(void);
bool test_log_valgrind_found(char *reason, size_t size);

/* ---- all.c ---- */

/* test_log_all is there if it was asked for when the program was linked, by
 * -Wl,-u,test_log_all: then all tests have a log and a trace. */
TRACE_API extern const void *const test_log_all;

/* ---- plan.c: which tests run ---- */

struct criterion_test;
struct criterion_test_set;

/* test_log_plan_expand gives every parameter instance a test of its own. */
void test_log_plan_expand(struct criterion_test_set *);

/* test_log_plan_select takes out what the patterns leave out and counts what
 * they matched; test_log_plan_only takes out what is none of `names`, if these
 * are not NULL. */
void test_log_plan_only(struct criterion_test_set *, char **names);
size_t test_log_plan_select(struct criterion_test_set *,
                            const struct test_log_options *);

/* test_log_plan_print_unmatched names patterns, of several, that matched none
 * of what was selected. */
void test_log_plan_print_unmatched(struct criterion_test_set *,
                                   const struct test_log_options *);

/* test_log_plan_nearest returns the test, or a quoted pattern of those, that
 * the patterns, which matched none, probably meant; NULL if none is near. It
 * lasts until the next selection. */
const char *test_log_plan_nearest(void);

/* test_log_plan_repeat gives every test its place `times` times, as "name#1",
 * "name#2", ... */
void test_log_plan_repeat(struct criterion_test_set *, size_t times);

/* test_log_plan_keep takes out of the set what is not `wanted`. */
typedef bool test_log_wanted(const struct criterion_test *);
void test_log_plan_keep(struct criterion_test_set *, test_log_wanted *);

/* test_log_plan_seal fixes the order in which instances get parameters;
 * test_log_plan_free gives the parameters back. */
void test_log_plan_seal(struct criterion_test_set *);
void test_log_plan_free(void);

/* test_log_pattern_fault returns what is wrong with an extglob, NULL if
 * nothing is. */
const char *test_log_pattern_fault(const char *pattern);
bool test_log_pattern_matches(const char *pattern, const char *suite,
                              const char *test);

/* ---- shards.c: a part of the tests ---- */

/* test_log_shard_find finds which shard this is: the one asked for, else what
 * variables say. -1 if it has said what is wrong. */
int test_log_shard_find(struct test_log_shard *,
                        const struct test_log_setting *asked);
int test_log_shard_read_way(const char *name, const char *word,
                            enum test_log_shard_way *);

/* test_log_shard_has tells whether a test, and which of the sorted ones it is,
 * belongs to a shard. */
bool test_log_shard_has(const struct test_log_shard *, size_t place,
                        const char *name);

/* test_log_shard_take takes out of a set what other shards have, and
 * test_log_shard_list lists what filters and shards leave. */
void test_log_shard_take(struct criterion_test_set *,
                         const struct test_log_shard *);
void test_log_shard_list(struct criterion_test_set *,
                         const struct test_log_options *);

/* test_log_shard_print adds which shard it is, for people,
 * test_log_shard_member for run.json. test_log_shard_print_empty says if it has
 * no test. */
void test_log_shard_print(struct trace_text *, const struct test_log_shard *);
void test_log_shard_member(struct trace_text *, const struct test_log_shard *);
void test_log_shard_print_empty(const struct test_log_run *);

/* ---- runner.c ---- */

/* test_log_before_all is Criterion's hook before all tests. Whoever is linked
 * because of annotated tests names it, so that it is linked even if Criterion's
 * main runs, and can say so. */
typedef void test_log_hook(struct criterion_test_set *);
TRACE_API extern test_log_hook *const test_log_before_all;

struct test_log_history;

/* test_log_runner_run runs all tests of a set and leaves the results in the
 * run; the last run tells how long they may take. Returns how many the filters
 * matched. */
size_t test_log_runner_run(struct criterion_test_set *,
                           const struct test_log_options *,
                           const struct test_log_history *,
                           struct test_log_run *);

#endif

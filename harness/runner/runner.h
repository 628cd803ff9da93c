/* runner.h: the process that Criterion keeps alive. Private. */
#ifndef TESTLOG_RUNNER_H
#define TESTLOG_RUNNER_H

#include "harness/results/history/history.h"
#include "harness/runner/options.h"

struct criterion_logger;
struct test_log_session;
struct criterion_suite;
struct criterion_test;
struct criterion_test_set;

/* ---- races.c ---- */

enum { TEST_LOG_RACES_SLOWER = 50 }; /* timeouts are longer by this */

/* test_log_races_begin executes the program under valgrind if --races asks for
 * it. It returns 0 if this is so already or need not be, and -1 if it has
 * printed why it cannot. */
int test_log_races_begin(const struct test_log_options *, int argc,
                         char **argv);

/* test_log_races_folder returns where valgrind writes its logs; "": nowhere.
 * test_log_races_end removes it. */
const char *test_log_races_folder(void);
void test_log_races_end(void);

/* The text of valgrind.supp. */
extern const char test_log_suppressions[];

/* ---- jobs.c: tests while they run ---- */

/* A test and its process. */
struct test_log_job {
    const struct criterion_test *test;
    struct test_log_result *result;
    uint64_t started;  /* ns, monotonic; 0: not yet */
    uint64_t limit;    /* ns that it may take; 0: no limit */
    uint64_t paused;   /* ns of its time during which the runner was stopped */
    uint64_t looked;   /* ns during which it was stopped for its stacks */
    uint64_t late;     /* when its timeout was noticed; 0: not yet */
    uint64_t exited;   /* when its exit was first noticed; 0: not yet */
    uint32_t pid;      /* 0: not known */
    size_t assertions; /* whose stacks were looked at */
    bool limited;      /* not at those of all its failed assertions */
    bool seen;         /* its crash was looked at */
    bool serial;       /* no other test may run beside it */
    struct trace_text assertion_stacks;
    size_t note; /* its process reports there, from 1; 0: nowhere */
    struct test_log_output_pipe *pipe; /* of its output; NULL: it is a file */
    bool starting;  /* its process has not reported itself yet */
    bool begun;     /* Criterion has reported that */
    bool running;   /* its files are not rendered yet */
    bool body_done; /* Criterion has reported that */
    bool shown;     /* its block is printed */
    bool left_out;  /* the run stopped before it began */
    bool killed;    /* because it went on after its timeout */
    bool ended;     /* killed because the run ends */
    bool slow;      /* it was reported as slow */
    int sandboxed;  /* the signal of its crash, killed by a sandbox; 0: none */
};

struct test_log_runner {
    const struct test_log_options *options;
    const struct test_log_history *history;
    struct test_log_run *run;
    struct test_log_job *jobs; /* one for each of the run's results */
    size_t job_count;
    size_t matched;      /* tests, by the filters */
    size_t at_once;      /* tests, as Criterion was told; 0: processors */
    bool serial;         /* the serial tests run, one at a time */
    const char *stopped; /* why no further test starts; NULL: they do */
    char attempt[16];    /* ".try2": suffix of folder names */
    char outermost[16];  /* id of the process that ends the run */
};

/* The runner of this process: Criterion's hooks and loggers get no context. */
extern struct test_log_runner test_log_runner;

/* test_log_jobs_make makes a job for each result; -1 without memory. */
int test_log_jobs_make(struct test_log_runner *);
void test_log_jobs_free(struct test_log_runner *);

/* test_log_job_of returns the job of a test; NULL if it has none. */
struct test_log_job *test_log_job_of(const struct test_log_runner *,
                                     const struct criterion_test *);

/* test_log_job_runs tells whether a test runs and has no outcome yet. */
bool test_log_job_runs(const struct test_log_job *);

/* test_log_job_retries tells whether a test has failed and has a try left. */
bool test_log_job_retries(const struct test_log_job *);

/* test_log_job_retry makes a job and its result ready for the next try, and
 * keeps the result as an earlier one; -1 without memory. */
int test_log_job_retry(struct test_log_job *);

/* test_log_stop disables the tests that have not begun; the first reason
 * counts. */
void test_log_stop(struct test_log_runner *, const char *why);

bool test_log_is_disabled(const struct criterion_suite *,
                          const struct criterion_test *);

/* test_log_now is the time on CLOCK_MONOTONIC, in ns. */
uint64_t test_log_now(void);

/* ---- prepare.c ---- */

/* test_log_prepare prepares a run: chooses its tests and makes their folders,
 * jobs and session. test_log_prepare_retry prepares the number-th try of the
 * tests that have one left, and returns how many there are. */
void test_log_prepare(struct test_log_runner *, struct criterion_test_set *);
size_t test_log_prepare_retry(struct test_log_runner *,
                              struct criterion_test_set *, size_t number);

/* ---- run_tests.c ---- */

/* test_log_run_tests runs all tests of a set, with retries, and leaves the
 * results in runner->run. */
void test_log_run_tests(struct test_log_runner *, struct criterion_test_set *);

/* ---- filters.c ---- */

struct test_log_filters {
    struct log_filter *show, *record;
};

/* test_log_filters_check parses the filters of the options and uses the default
 * for one of which nothing can be parsed; if `print`, it prints what is
 * wrong. */
void test_log_filters_check(struct test_log_filters *,
                            struct test_log_options *, bool print);
void test_log_filters_free(struct test_log_filters *);

/* test_log_filters_print prints which filters are in force. */
void test_log_filters_print(const struct test_log_options *);

/* test_log_filters_print_compiled_out warns if a filter asks for levels that
 * LOG_STATIC_MAX removed from every program of the run. */
void test_log_filters_print_compiled_out(const struct test_log_filters *,
                                         const struct test_log_run *);

/* test_log_filters_ask tells whether a filter is about GPUs. */
bool test_log_filters_ask(const struct test_log_filters *);

/* test_log_filters_find_unseen notes in the run which directives matched no
 * call site of this process or of what was recorded. */
void test_log_filters_find_unseen(struct test_log_filters *,
                                  struct test_log_run *);

/* ---- gpu_setup.c ---- */

/* A notice begins with this, followed by the reason. */
#define TEST_LOG_GPU_WITHOUT "GPU trace off: "

/* test_log_gpu_library finds libtestlog-gpu.so; `path` has PATH_MAX bytes. A
 * file that another user could replace is not used. test_log_gpu_own finds the
 * one beside this program, which is testlog. */
bool test_log_gpu_library(char *path);
bool test_log_gpu_own(char *path);

/* test_log_own_library finds, for the program testlog, the shared library that
 * belongs to it, in the same way. */
bool test_log_own_library(char *path);

/* test_log_stacks_program finds the program testlog-stacks beside that
 * library. */
bool test_log_stacks_program(char *path);

/* test_log_gpu_driver tells whether files below `root` ("") show an NVIDIA
 * driver, test_log_gpu_linked whether this program uses CUDA. */
bool test_log_gpu_driver(const char *root);
bool test_log_gpu_linked(void);

/* test_log_gpu_prepare sets the variables of workers; test_log_gpu_record those
 * of any program, whose processes record into folders in `folder`, an absolute
 * path. They note what is known before anything of CUDA runs. */
void test_log_gpu_prepare(struct test_log_gpu *,
                          const struct test_log_options *);
void test_log_gpu_record(struct test_log_gpu *, const struct test_log_options *,
                         const char *folder);

/* ---- criterion_logger.c ---- */

/* test_log_logger_install wraps Criterion's logger. */
void test_log_logger_install(void);

/* test_log_logger_render writes the files of all tests that have ended;
 * test_log_logger_end does so and fails the tests without an outcome. */
void test_log_logger_render(void);
void test_log_logger_end(void);

/* ---- failed_assertions.c ---- */

/* test_log_assertions_capture makes a logger keep what it would print about
 * assertions. test_log_assertions_take returns a test's failed assertions with
 * it, one "file:line: message" each, to be freed; NULL if there is none. */
struct criterion_test_stats;
void test_log_assertions_capture(struct criterion_logger *);
char *test_log_assertions_take(const struct criterion_test_stats *);

/* ---- Criterion's logger ---- */

/* X(name, parameters, arguments): its functions for the parts of an
 * assertion. */
#define TEST_LOG_ASSERTION_PARTS(X)                                            \
    X(log_assert_sub,                                                          \
      (struct criterion_assert_stats * a, const char *b, const char *c),       \
      (a, b, c))                                                               \
    X(log_assert_formatted,                                                    \
      (struct criterion_assert_stats * a, const char *b), (a, b))              \
    X(log_assert_param,                                                        \
      (struct criterion_assert_stats * a, struct cr_log_assert_param * b),     \
      (a, b))                                                                  \
    X(log_assert_param_eq,                                                     \
      (struct criterion_assert_stats * a, struct cr_log_assert_param * b,      \
       struct cr_log_assert_param * c),                                        \
      (a, b, c))

/* ---- locked_logger.c ---- */

/* test_log_locked_logger returns a logger that calls each function of `logger`
 * between test_log_supervisor_enter and _leave. */
struct criterion_logger *test_log_locked_logger(
    const struct criterion_logger *logger);

/* ---- tracees.c ---- */

/* test_log_tracees_hide makes the stops of tests that ask to be traced
 * invisible to Criterion, which takes them for their ends. */
void test_log_tracees_hide(void);

/* ---- message_size.c ---- */

/* nn_bind takes the place of nanomsg's. */
TRACE_API int nn_bind(int socket, const char *address);

/* ---- lazy_libgit2.c ---- */

/* git_libgit2_init starts libgit2. If Criterion calls it, libgit2 starts with
 * the first diff. Returns how often it was started. */
TRACE_API int git_libgit2_init(void);

/* ---- stdio_fds.c ---- */

/* test_log_stdio_hold occupies stdin, stdout and stderr if a program was
 * started without them, so that no file gets their numbers. Reading and writing
 * there still fails. */
void test_log_stdio_hold(void);

/* test_log_stdio_outlive lets a run continue when nobody reads its output any
 * more (`| head`), or when a file reaches its size limit (ulimit -f). These
 * signals still kill the processes that it starts. */
void test_log_stdio_outlive(void);

/* ---- preflight.c ---- */

/* test_log_preflight_memory tells whether tests can share memory with the
 * runner; if not, it prints why. */
bool test_log_preflight_memory(void);

/* test_log_preflight_criterion tells whether the Criterion that is loaded has
 * the structs of the one that we were built with; if not, it prints so. */
bool test_log_preflight_criterion(void);

/* test_log_preflight_program tells whether a program is in PATH. */
bool test_log_preflight_program(const char *name);

/* ---- bazel.c ---- */

/* test_log_bazel_begin creates the files that tell Bazel that a test did not
 * end, and that it supports shards; test_log_bazel_end removes the first. */
void test_log_bazel_begin(const struct test_log_session *);
void test_log_bazel_end(void);

/* ---- list_sites.c ---- */

/* test_log_list_sites writes the program's call sites, one JSON object a line;
 * -1 if not all were written. */
int test_log_list_sites(FILE *);

/* ---- unused_sites.c ---- */

/* test_log_unused_sites_find registers the call sites of C++ code that has not
 * run, as far as the loaded objects have symbols. */
void test_log_unused_sites_find(void);

#endif

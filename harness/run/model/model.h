/* model.h: a run and the results of its tests. Private.
 *
 * A run is a folder; several programs may write to it (testlog run).
 */
#ifndef TESTLOG_MODEL_H
#define TESTLOG_MODEL_H

#include <stdio.h>

#include "harness/run/model/device_state.h"
#include "harness/run/model/run_members.h"
#include "harness/run/model/usage.h"
#include "log/devices/device_summary.h"
#include "trace/base/containers.h"

/* ---- A test ---- */

/* X(NAME, word in run.json, word for people) */
#define TEST_LOG_OUTCOMES(X)                                                   \
    X(NONE, "none", "did not run")                                             \
    X(PASSED, "passed", "passed")                                              \
    X(FAILED, "failed", "failed")                                              \
    X(CRASHED, "crashed", "crashed")                                           \
    X(TIMEOUT, "timeout", "timed out")                                         \
    X(SKIPPED, "skipped", "skipped")

enum test_log_outcome {
#define TEST_LOG_X(name, word, text) TEST_LOG_OUTCOME_##name,
    TEST_LOG_OUTCOMES(TEST_LOG_X)
#undef TEST_LOG_X
};

const char *test_log_outcome_word(enum test_log_outcome);
const char *test_log_outcome_text(enum test_log_outcome);

/* test_log_outcome_of returns the outcome of a word; NONE if there is none. */
enum test_log_outcome test_log_outcome_of(const char *word);
bool test_log_outcome_bad(enum test_log_outcome);

/* An earlier try of a test that was tried again. */
struct test_log_try {
    enum test_log_outcome outcome;
    char *reason; /* NULL: none */
    char *folder; /* as a result's */
    uint64_t began, duration;
    size_t source; /* as a result's */
};

struct test_log_result {
    char *program; /* its folder's name in the run */
    char *suite, *test;
    char *title;   /* its name as its framework writes it; NULL: as ours */
    char *flavour; /* how the program was built; NULL: unknown */
    char *file;
    unsigned line;
    enum test_log_outcome outcome;
    char *reason;      /* NULL: none */
    char *known;       /* why it may fail; NULL: it must pass */
    char *assertions;  /* that failed, as its block prints them; NULL: none */
    uint64_t began;    /* ns since the run's start; 0: it did not run */
    uint64_t duration; /* ns */
    uint64_t occupied; /* ns from its worker's start to its end; 0: unknown */
    struct test_log_usage usage;     /* peak 0: unknown */
    uint64_t lost[TRACE_LOSS_COUNT]; /* records */
    char *survivors; /* processes that outlived it; NULL: none */
    size_t unjudged; /* expectations, because records are missing */
    enum test_log_gpu_state gpu;
    uint64_t gpu_lost; /* launches without a device record */
    unsigned devices[TRACE_BACKENDS_MOST];  /* states of others, by row */
    struct log_device_summary *gpu_summary; /* NULL: no activity */
    char *filter;                           /* which of its lines are shown */
    char *folder; /* of its files, below the run's folder; NULL: it has none */
    char *recording;              /* of a test without one; NULL: none */
    struct test_log_try *earlier; /* tries before this one */
    size_t earlier_count, earlier_capacity;
    size_t source;                 /* of a merged run, from 1 on; 0: none */
    size_t retries;                /* how many more tries it gets if it fails */
    enum test_log_outcome written; /* outcome in this try's line of JSON */
    bool unrendered; /* its recording is large: no trace.json, no log.txt */
    bool running;    /* in a run that goes on */
    bool borrows;    /* its names are not copies: memory ran out */
};

/* test_log_name returns "suite/test" in a static buffer that is reused after
 * eight more calls. test_log_title returns the name that people read, such as
 * "Suite.Test"; patterns match either. */
const char *test_log_name(const struct test_log_result *);
const char *test_log_title(const struct test_log_result *);

/* GoogleTest's adapter gives these names to what sets a suite up and tears it
 * down, and to what does so for the program. Such a failure counts as a test,
 * which no name selects. test_log_is_of_suite tells whether a result is that of
 * a suite. */
#define TEST_LOG_OF_SUITE   "SetUpTestSuite or TearDownTestSuite"
#define TEST_LOG_OF_PROGRAM "SetUp or TearDown of an environment"
bool test_log_is_of_suite(const struct test_log_result *);

/* test_log_base_size returns the bytes of a name without the number of its
 * repetition or rank, as "#2" in "suite/test#2". */
size_t test_log_base_size(const char *name);

/* test_log_key identifies a test of a program in tables; test_log_result_key,
 * that of a result. */
uint64_t test_log_key(const char *program, const char *name);
uint64_t test_log_result_key(const struct test_log_result *);

/* test_log_failed tells whether a test fails the run: a known failure does not.
 */
bool test_log_failed(const struct test_log_result *);

/* test_log_counted_outcome returns a result's outcome, but SKIPPED if it is a
 * known failure, which all counts and reports take for that. */
enum test_log_outcome test_log_counted_outcome(const struct test_log_result *);

/* Where a test failed or was skipped: the place in its reason, "file:line:
 * why", or its own; of a crash without one, that at the end of its reason. */
struct test_log_place {
    const char *file; /* `size` bytes; 0: it is unknown */
    size_t size;
    unsigned line;
    const char *why; /* the rest of the reason; NULL: there is none */
    bool found;      /* the reason begins with the place */
};

struct test_log_place test_log_place_of(const struct test_log_result *);

/* test_log_first_bad returns the first earlier try that did not pass, NULL if
 * all did: a shard may have run twice. test_log_flaky tells whether a test
 * passed after such a try. */
const struct test_log_try *test_log_first_bad(const struct test_log_result *);
bool test_log_flaky(const struct test_log_result *);

/* test_log_signal returns "SIGSEGV", or "signal 35" for one without a name, in
 * a buffer that the next call overwrites. */
const char *test_log_signal(int number);

/* ---- A shard ---- */

/* X(NAME, word): how tests are divided among shards. */
#define TEST_LOG_SHARD_WAYS(X)                                                 \
    X(SLICE, "slice") /* every total-th of the sorted names */                 \
    X(HASH, "hash")   /* by the name alone */                                  \
    X(TIME, "time")   /* by durations of earlier runs */

enum test_log_shard_way {
#define TEST_LOG_X(name, word) TEST_LOG_SHARD_##name,
    TEST_LOG_SHARD_WAYS(TEST_LOG_X)
#undef TEST_LOG_X
};

struct test_log_shard {
    size_t index, total; /* from 0; total 0: there are no shards */
    enum test_log_shard_way way;
    const char *origin;
    size_t durations; /* how many are known */
    uint64_t history; /* a digest of them, the same for all shards */
};

/* test_log_shard_by_time tells whether durations divide the tests. */
bool test_log_shard_by_time(const struct test_log_shard *);

/* The words of TEST_LOG_SHARD_WAYS, NULL at the end. */
extern const char *const test_log_shard_ways[];

/* test_log_shard_text adds which shard this is, for people;
 * test_log_shard_json adds it as a value of JSON. */
void test_log_shard_text(struct trace_text *, const struct test_log_shard *);
void test_log_shard_json(struct trace_text *, const struct test_log_shard *);

/* ---- A source of a merged run ---- */

/* X(NAME, word in run.json): how a run ended. */
#define TEST_LOG_ENDS(X)                                                       \
    X(FINISHED, "finished")                                                    \
    X(INTERRUPTED, "interrupted")                                              \
    X(KILLED, "killed") /* it left no run.json */

enum test_log_end {
#define TEST_LOG_X(name, word) TEST_LOG_END_##name,
    TEST_LOG_ENDS(TEST_LOG_X)
#undef TEST_LOG_X
};

/* A run that testlog merge made a source of another one. */
struct test_log_merged_run {
    char *run;  /* its folder, as it was named */
    char *host; /* NULL: unknown */
    size_t host_number;
    char *testlog; /* the version that wrote it; NULL: unknown */
    struct test_log_shard shard;
    enum test_log_end end;
    uint64_t start;       /* ns since 1970, by its host's clock */
    int64_t offset;       /* ns, added to its host's clock */
    uint64_t uncertainty; /* ns, of the offset; UINT64_MAX: unknown */
    size_t tests;
};

/* test_log_end_word returns how a run ended; test_log_end_of, by its word. */
const char *test_log_end_word(enum test_log_end);
enum test_log_end test_log_end_of(const char *word);

struct test_log_run;

/* test_log_merged_runs_complete numbers the hosts, once all sources are there.
 * Then test_log_host returns the host of a result or try with such a source,
 * NULL if it is unknown or the only one; test_log_host_number, its number from
 * 0 on.
 */
void test_log_merged_runs_complete(struct test_log_run *);
const char *test_log_host(const struct test_log_run *, size_t source);
size_t test_log_host_number(const struct test_log_run *, size_t source);

/* ---- A rank of MPI ---- */

enum { TEST_LOG_RANKS_MOST = 10000000 };

struct test_log_rank {
    size_t index, total; /* total 0: there are no ranks */
};

/* ---- A run ---- */

/* Of tests that share a recording, the report and trace.json have what those
 * recorded that passed if there are at most so many. */
enum { TEST_LOG_PARTS_RENDERED = 1000 };

/* X(NAME): what this process is in its run. */
#define TEST_LOG_ROLES(X)                                                      \
    X(WHOLE) /* the run is its own */                                          \
    X(APART) /* so it is, but another process writes the reports */            \
    X(PART)  /* of a run that another process makes, and writes the rest of */ \
    X(RANK)  /* a PART that shares its folder with other ranks of MPI */

enum test_log_role {
#define TEST_LOG_X(name) TEST_LOG_ROLE_##name,
    TEST_LOG_ROLES(TEST_LOG_X)
#undef TEST_LOG_X
};

/* What this program's parent process passed to it. */
struct test_log_parent {
    const char *folder;  /* of the run that it created; NULL: none */
    const char *program; /* name of our folder in that; NULL: any */
    const char *process; /* of the one for files of this process alone, such as
                            "program/process.2"; NULL: that of the program */
    const char *token;   /* that enables GitHub's commands; NULL: none */
    int results;         /* a pipe for results; 0: none */
    int output;          /* its stdout, for a report; 0: ours is used */
    const char *shown;   /* path of its run as printed; NULL: `folder` */
    bool nested;         /* we run inside a test */
    bool beside;         /* its run has other programs, too */
    unsigned share;      /* number among the program's processes in a run that
                            a ctest made; 0: there are no others */
};

struct test_log_output;

/* A run, or the share that one program has in it. */
struct test_log_run {
    enum test_log_role role;
    char *path;               /* of the folder, as printed */
    int folder;               /* a descriptor of it; 0: `path` is opened */
    int lock;                 /* one that holds its lock; 0: none */
    const char *scratch_word; /* the setting; NULL: "auto" */
    char *scratch; /* path of the folder until the run ends; NULL: `path` */
    int shared; /* a descriptor of `path`, if `folder` is that of `scratch` */
    char *command; /* that started it, quoted for a shell */
    char **argv;   /* the same; NULL: unknown */
    char *commit;  /* that it tested; "": unknown; NULL: see commit.c */
    const char *executable; /* NULL: of several */
    pid_t process;          /* that recorded it; 0: this one */
    char *program;          /* its folder's name; NULL: of several */
    struct trace_anchor start;
    char *show, *show_origin, *record, *record_origin;
    char **unmatched; /* "LOG: x": directives that matched no call site */
    char **meant;     /* what each probably meant, or NULL */
    size_t unmatched_count, unmatched_capacity, meant_capacity;
    bool annotated;      /* a program has annotated tests */
    unsigned static_max; /* most verbose level of a program with them */
    struct test_log_result *results;
    size_t count, capacity;
    size_t retries; /* the most that any of its tests has */
    size_t repeat;  /* how often each test runs; 0: once */
    struct test_log_gpu gpu;
    struct test_log_device devices[TRACE_BACKENDS_MOST]; /* by row */
    struct test_log_zones zones;
    struct test_log_shard shard;
    struct test_log_rank rank;
    struct trace_text plan; /* the tests of all shards: the programs of "plan"
                               in run.json; empty without shards */
    struct test_log_merged_run *sources; /* of a merged run */
    size_t source_count, source_capacity;
    size_t host_count; /* from test_log_merged_runs_complete */
    struct test_log_parent parent;
    /* open opens the recording in a test's folder; NULL: trace_reader_beneath
     * does. */
    struct trace_reader *(*open)(const struct test_log_run *,
                                 const char *folder);
    const struct test_log_output *output; /* of blocks; NULL: unknown */
    bool whole;      /* no option leaves tests out, or repeats them */
    bool flagless;   /* its program takes none of our flags */
    bool unfinished; /* it goes on, or was killed */
    bool render_all; /* write trace.json and log.txt of every test */
    bool dir_given;  /* the user chose where runs go */
    bool refused;    /* no memory for its results; no test ran */
    int interrupted; /* by this signal, or 0 */
    uint64_t took;   /* ns, once a merged run is complete; 0: it is running */
};

/* test_log_is_part tells whether another process makes the run. */
static inline bool test_log_is_part(const struct test_log_run *run)
{
    return run->role >= TEST_LOG_ROLE_PART;
}

/* The reason of tests that an interrupt kept from running. */
#define TEST_LOG_INTERRUPTED "not run: interrupted"

/* The reason of tests that an interrupt ended, or how it begins. */
#define TEST_LOG_CUT_SHORT   "interrupted"
#define TEST_LOG_ENDED_AFTER "ended after "

struct test_log_sums {
#define TEST_LOG_X(name) size_t name;
    TEST_LOG_COUNTS(TEST_LOG_X)
#undef TEST_LOG_X
};

struct test_log_sums test_log_run_sums(const struct test_log_run *);

/* test_log_run_flavour returns the flavour that all tests of a run have, NULL
 * if they differ. */
const char *test_log_run_flavour(const struct test_log_run *);

/* test_log_run_time returns the ns since the run started, or those that it
 * took.
 */
uint64_t test_log_run_time(const struct test_log_run *);

/* test_log_run_last_end returns when the last test ended, in ns since the
 * start, at least 1. */
uint64_t test_log_run_last_end(const struct test_log_run *);

/* test_log_add_try makes a result, with its tries, tries of a later one of the
 * test, before its own. False without memory. */
bool test_log_add_try(struct test_log_result *later,
                      struct test_log_result *before);

/* test_log_run_settle makes the last result that of its test. An earlier one of
 * the test in `numbers`, which has the results by key, is replaced, and becomes
 * a try unless the last result has it or is a later line of it. Returns the
 * number of the result, SIZE_MAX without memory. */
size_t test_log_run_settle(struct test_log_run *, struct trace_table *numbers);

/* test_log_run_add returns a new zeroed result, NULL without memory; it moves
 * earlier results. test_log_run_replace moves the last result into the place of
 * another; test_log_run_drop removes it. */
struct test_log_result *test_log_run_add(struct test_log_run *);
void test_log_run_replace(struct test_log_run *, size_t number);
void test_log_run_drop(struct test_log_run *);
void test_log_run_free(struct test_log_run *);

/* ---- environment.c ---- */

/* test_log_environment_member adds the variables that change a run as
 * "environment", a member of a JSON object; no other variable is written. */
void test_log_environment_member(struct trace_text *);

/* ---- shard_text.c ---- */

/* test_log_print_empty_shard prints a line if a shard has no test. */
void test_log_print_empty_shard(const struct test_log_run *);

#endif

/* session.h: what the runner and its workers share: the session that a worker
 * gets from the environment, the status that it reports, and the list of
 * annotated tests. Private.
 *
 * The runner is the process that Criterion keeps alive; a worker is a process
 * that runs one test.
 */
#ifndef TESTLOG_SESSION_H
#define TESTLOG_SESSION_H

#include <testlog/log.h>

#include "harness/run/model/usage.h"
#include "trace/device.h"
#include "trace/recording.h"

/* ---- session.c: from a process to those that it starts ---- */

/* One environment variable, TESTLOG_SESSION, holds all fields. */

/* X(name): what `testlog run` passes to its programs. */
#define TEST_LOG_SESSION_PROGRAM(X)                                            \
    X(runner)      /* the process that ends the run */                         \
    X(program)     /* name of the program's folder in the run */               \
    X(start)       /* of the run, as test_log_anchor_text writes it */         \
    X(run)         /* path of the run as printed, if it is another one */      \
    X(test)        /* "suite/test" that runs as ranks of MPI; "": list all */  \
    X(history)     /* path of the folder that keeps it */                      \
    X(durations)   /* path of a file of all programs' durations */             \
    X(share)       /* as test_log_share_text writes it */                      \
    X(others)      /* as test_log_others_text writes it */                     \
    X(results)     /* descriptor of a pipe for results */                      \
    X(output)      /* descriptor of the stdout that belongs to a report */     \
    X(token)       /* that lets GitHub's commands through */                   \
    X(gpu_library) /* a path where libtestlog-gpu.so may be */                 \
    X(preload)     /* how LD_PRELOAD begins, for tests without testlog */      \
    X(part)        /* "1": another process writes the reports */               \
    X(joined)      /* number among processes with the same folder */           \
    X(process)     /* name of the folder for files of this process alone */    \
    X(suggest)     /* "1": print the test that was probably meant */           \
    X(whole_files) /* "1": the user is not in our working directory */

/* The suffix of the tests' names, for a program with an adapter whose tests are
 * repeated. */
#define TEST_LOG_REPETITION "TESTLOG_REPETITION"

/* The variable by which programs that a test starts are found: id of the worker
 * and the beginning of its run. */
#define TEST_LOG_WORKER "TESTLOG_WORKER"

/* X(name): what the runner passes to its workers. */
#define TEST_LOG_SESSION_WORKER(X)                                             \
    X(show)                                                                    \
    X(show_origin)                                                             \
    X(record)                                                                  \
    X(record_origin)                                                           \
    X(folder)                                                                  \
    X(limit)                                                                   \
    X(profiler)  /* as trace_profiler_text writes it */                        \
    X(functions) /* "": all; "none"; or the id of a filter's memory */         \
    X(lines)     /* as --lines has them; "": none */                           \
    X(live)                                                                    \
    X(format)                                                                  \
    X(time)                                                                    \
    X(span_events)                                                             \
    X(details)                                                                 \
    X(color)                                                                   \
    X(prefix)                                                                  \
    X(origin)                                                                  \
    X(all_tests)                                                               \
    X(attempt)                                                                 \
    X(piped)                                                                   \
    X(test_filters) /* as test_log_filter_for reads them */                    \
    X(stacks)       /* "1": the runner looks at the stacks of a crash */       \
    X(races)        /* the folder of valgrind's logs; "": none */              \
    X(counts)       /* the folder of callgrind's counts; "": none */           \
    X(debugger)     /* "1": a failed test stops for a debugger */

struct test_log_session {
#define TEST_LOG_X(name) const char *name;
    TEST_LOG_SESSION_PROGRAM(TEST_LOG_X)
    TEST_LOG_SESSION_WORKER(TEST_LOG_X)
#undef TEST_LOG_X
    const char *status; /* id of the memory for the worker's status */
    const char *nested; /* "1": the process runs inside a test */
};

/* test_log_session returns what the parent process passed to this one; fields
 * are NULL without it. The first call removes the variable from the
 * environment: processes that this one starts see only `nested`. */
const struct test_log_session *test_log_session(void);

/* test_log_session_forget makes the next call parse the variable again, for
 * tests. */
void test_log_session_forget(void);

/* test_log_session_export passes the fields that are not NULL to processes that
 * are started from now on. Returns false with errno if it cannot: E2BIG if they
 * are too long for a variable on Linux. */
bool test_log_session_export(const struct test_log_session *);

/* test_log_session_is_worker tells whether all fields of a worker are set. */
bool test_log_session_is_worker(const struct test_log_session *);

/* test_log_session_from_parent tells whether the runner of a session is this
 * process's parent. A program that a script starts inherits a session, too. */
bool test_log_session_from_parent(const struct test_log_session *);

/* test_log_anchor_text writes a moment as a field of a session;
 * test_log_anchor_of reads it. */
enum { TEST_LOG_ANCHOR_SIZE = 96 };
void test_log_anchor_text(const struct trace_anchor *,
                          char text[TEST_LOG_ANCHOR_SIZE]);
struct trace_anchor test_log_anchor_of(const char *text);

/* test_log_filter_of returns the filter of a test's lines, to be freed: `show`,
 * which comes from `origin`, overrides the test's `own` filter (or NULL) unless
 * it is the default; a filter of `!` and `^` alone is added to `own`. NULL
 * without memory. */
char *test_log_filter_of(const char *show, const char *origin, const char *own);

/* test_log_filter_for does so for a test of a session. The last line "pattern",
 * tab, "filter" of session->test_filters that matches is its own filter. */
char *test_log_filter_for(const struct test_log_session *, const char *suite,
                          const char *test, const char *own);

/* test_log_pattern_matches tells whether an extended glob matches a test, or
 * the parameterized test that a test is an instance of. */
bool test_log_pattern_matches(const char *pattern, const char *suite,
                              const char *test);

/* test_log_gpu_hide removes our audit library from LD_AUDIT, because it is not
 * for programs that a test starts. */
void test_log_gpu_hide(void);

/* test_log_preload_hide removes from LD_PRELOAD what `testlog run --preload`
 * put there. test_log_tool_environment returns the environment of a program
 * that the runner starts to look at a test, to be freed; NULL without
 * memory. */
void test_log_preload_hide(void);
char **test_log_tool_environment(void);

/* ---- interpose.c: functions with the names of Criterion's own ---- */

/* test_log_next_function stores the next function called `name`, that of
 * Criterion or its libraries, in the pointer at `function`. If there is none,
 * it prints why and aborts. */
void test_log_next_function(const char *name, void *function);

/* test_log_is_criterion tells whether an address is in Criterion's library: the
 * tested code may call the functions of its libraries, too. */
bool test_log_is_criterion(const void *address);

/* ---- Names ---- */

/* The FIFO in a test's folder that the test prints to under a file size limit.
 */
#define TEST_LOG_OUTPUT_PIPE "output.pipe"

/* The beginning of an expectation's message if it could not be judged. */
#define TEST_LOG_UNJUDGED "not judged: "

/* ---- status.c: from a worker to the runner, by shared memory ---- */

/* Most bytes of a failure's text that a run prints and writes in one place. */
enum { TEST_LOG_TEXT_MAX = 64 << 10 };

enum { TEST_LOG_NOTE_SIZE = 2048, TEST_LOG_STATUS_PAGE = 4096 };

/* X(id, function): where a test stops for a debugger without a signal. The user
 * wants to see the caller of that function. */
#define TEST_LOG_STOPS(X)                                                      \
    X(ASSERTION, "criterion_send_assert")                                      \
    X(NEW_ASSERTION, "cri_assert_node_send")                                   \
    X(SANITIZER, "test_log_status_stop")                                       \
    X(THROW, "__cxa_throw")                                                    \
    X(RETHROW, "__cxa_rethrow")                                                \
    X(RETHROW_POINTER, "std::rethrow_exception")

enum test_log_stop {
#define TEST_LOG_X(id, function) TEST_LOG_STOP_##id,
    TEST_LOG_STOPS(TEST_LOG_X)
#undef TEST_LOG_X
};

/* A signal as its handler saw it. */
struct test_log_crash {
    int32_t signal; /* 0: none, and `code` is an enum test_log_stop */
    int32_t code;
    uint32_t thread;
    uint64_t address;     /* si_addr */
    uint64_t stack;       /* the stack pointer */
    uint64_t instruction; /* its address */
    uint64_t context;     /* address of the thread's ucontext_t */
    uint64_t type, text;  /* addresses of those of an exception; 0: unknown */
};

/* test_log_is_throw tells whether a process stops for a C++ exception. */
static inline bool test_log_is_throw(const struct test_log_crash *crash)
{
    return !crash->signal && crash->code >= TEST_LOG_STOP_THROW;
}

/* The report of one worker. */
struct test_log_note {
    uint32_t pid;
    uint32_t ready;    /* pid and name are set */
    uint32_t returned; /* the body has returned, or an assertion has ended it */
    uint32_t checking; /* the leak checker is running */
    uint32_t failed;   /* 1: the worker is writing why, 2: it has */
    uint32_t asserting;       /* the thread whose assertion failed; 0: none */
    uint32_t line;            /* of that assertion */
    uint32_t crashing;        /* the signal whose handler began; 0: none has */
    uint32_t crashing_thread; /* 0: unknown */
    uint32_t crashed;         /* enum test_log_crash_step */
    uint32_t devices;         /* all activities of devices are recorded */
    struct trace_demand demand; /* for those that are held back */
    struct test_log_crash crash;
    struct test_log_usage before, after; /* the test */
    char name[1284];                     /* as test_log_name returns it */
    char reason[288];
    uint32_t is_known; /* 1: the test is writing why it may fail, 2: it has */
    char known[164];
    uint32_t used;   /* enum test_log_usage_step */
    uint64_t output; /* where test_log_read_pending finds an unfinished line */
    uint64_t closing, closed; /* ns on CLOCK_MONOTONIC: the recording */
};

enum test_log_usage_step {
    TEST_LOG_USAGE_NONE,
    TEST_LOG_USAGE_BEGAN, /* `before` is set */
    TEST_LOG_USAGE_ENDED, /* `after`, too */
};

enum test_log_crash_step {
    TEST_LOG_CRASH_NONE,
    TEST_LOG_CRASH_WRITING,
    TEST_LOG_CRASH_STOPPED, /* the process waits until the runner has looked */
    TEST_LOG_CRASH_SEEN,
};

/* The first page of the segment; notes follow it. */
struct test_log_status {
    uint32_t capacity;
    uint32_t taken; /* atomic; may exceed the capacity */
};

/* test_log_status_size returns the bytes of a segment for that many notes;
 * test_log_status_note returns one of its notes. */
size_t test_log_status_size(size_t notes);
struct test_log_note *test_log_status_note(struct test_log_status *,
                                           size_t number);

/* ---- annotated.c: the annotated tests of this program ---- */

struct test_log_entry;

/* test_log_annotated_add adds a test, which the caller keeps;
 * test_log_annotated tells whether there is any. */
void test_log_annotated_add(struct test_log_entry *);
bool test_log_annotated(void);

/* test_log_flavour returns a word for how this program was built, as its
 * compiler tells: gcc-O-traced. */
const char *test_log_flavour(void);

/* test_log_annotated_find returns the entry of a test, NULL if it is not
 * annotated. `name` may be an instance's, "name[07]". */
const struct test_log_entry *test_log_annotated_find(const char *suite,
                                                     const char *name);

/* ---- What a program links ---- */

/* test_log_trampoline is what Criterion runs in place of an annotated test. */
void test_log_trampoline(void);

/* test_log_before_all is Criterion's hook before all tests. Annotated tests
 * refer to it, so that the runner is linked even if Criterion's main runs, and
 * can print why nothing is recorded. */
struct criterion_test_set;
typedef void test_log_hook(struct criterion_test_set *);
TRACE_API extern test_log_hook *const test_log_before_all;

/* test_log_all is linked by -Wl,-u,test_log_all: then all tests have a log and
 * a trace. */
TRACE_API extern const void *const test_log_all;

#endif

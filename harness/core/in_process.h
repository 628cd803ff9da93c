/* in_process.h: what the files of harness/core/ share. Private.
 *
 * A program's folder in the run has three files that all of its tests share:
 * `recording.live`, in which each test has a part; `output.txt`; and
 * `journal.tsv`, which says where the tests are in these, and how they ended.
 * The journal is written while tests run, so that it is there if the process
 * dies. The run is made from it, and can be made again until the journal is
 * removed.
 */
#ifndef TESTLOG_IN_PROCESS_H
#define TESTLOG_IN_PROCESS_H

#include <sys/types.h>

#include "harness/run/model/model.h"
#include "trace/base/descriptor.h"

#define TEST_LOG_JOURNAL   "journal.tsv"
#define TEST_LOG_LIVE      "recording.live"
#define TEST_LOG_RECORDING "recording" /* once the process has ended */
#define TEST_LOG_OUTPUT    "output.txt"

/* The fact that the owner dies, and of what. */
#define TEST_LOG_DIED "died"

/* ---- journal.c ---- */

/* A test as the journal has it. */
struct test_log_noted {
    char *suite, *test;
    char *title;                   /* for people; NULL: "suite/test" */
    char *reason;                  /* NULL: none */
    char *folder;                  /* of a test that did not pass; NULL: none */
    char *known;                   /* why it may fail; NULL: it may not */
    bool flaky, strict;            /* it may pass; it must not */
    enum test_log_outcome outcome; /* NONE: it has not ended */
    pid_t process;
    uint64_t began, ended;        /* ns, CLOCK_MONOTONIC */
    uint64_t recorded;            /* where in the recording its part begins */
    uint64_t printed, printed_to; /* its range of the output */
    bool has_recording;
    bool is_compact;  /* `recorded` is in the copy */
    unsigned threads; /* that outlived it */
};

/* test_log_noted_free frees what a test has, and leaves it empty. */
void test_log_noted_free(struct test_log_noted *);

struct test_log_journal {
    char *facts; /* "name\0value\0...", ended by an empty name */
    struct test_log_noted *tests;
    size_t count, capacity;
    size_t torn; /* lines that a full disk has cut, which do not count */
};

/* test_log_journal_fact writes a fact about the run, test_log_journal_begin and
 * test_log_journal_end a test's beginning and end, test_log_journal_known that
 * it may fail, each with one write(2). -1 with errno. */
int test_log_journal_fact(int fd, const char *name, const char *value);
int test_log_journal_begin(int fd, const struct test_log_noted *);
int test_log_journal_known(int fd, const struct test_log_noted *);
int test_log_journal_end(int fd, const struct test_log_noted *);

/* test_log_journal_read reads all of a journal; what is cut off or malformed is
 * left out. -1 with errno. test_log_journal_value returns a fact, NULL if it is
 * missing. */
int test_log_journal_read(struct test_log_journal *, int fd);
const char *test_log_journal_value(const struct test_log_journal *,
                                   const char *name);
void test_log_journal_free(struct test_log_journal *);

/* test_log_journal_owner returns the process of the fact "owner", 0 without
 * one; test_log_journal_is_alive tells whether it has not ended.
 * test_log_journal_running returns a test that another process still runs; NULL
 * if there is none. */
pid_t test_log_journal_owner(const struct test_log_journal *);
bool test_log_journal_is_alive(const struct test_log_journal *);
const struct test_log_noted *test_log_journal_running(
    const struct test_log_journal *);

/* test_log_journal_own marks the journal as that of this process until it ends;
 * test_log_journal_is_owned tells whether another process has done so.
 * test_log_journal_lock lets one process at a time take space in the recording.
 */
int test_log_journal_own(int fd);
bool test_log_journal_is_owned(int fd);
void test_log_journal_lock(int fd);
void test_log_journal_unlock(int fd);

/* ---- test_output.c ---- */

/* test_log_output_begin redirects stdout and stderr to a file of `size` bytes,
 * until test_log_output_end. When the process dies, test_log_output_rescue
 * writes the test's output to the stderr that was replaced; a signal handler
 * may call it. test_log_output_size returns the bytes of the file. */
void test_log_output_begin(int file, uint64_t size);
void test_log_output_end(void);
void test_log_output_rescue(void);

/* test_log_output_restore gives a process that has just been forked the stdout
 * and stderr that were replaced. */
void test_log_output_restore(void);
uint64_t test_log_output_size(int file);

/* ---- results.c ---- */

/* test_log_core_result adds a noted test to the run as a result; NULL without
 * memory. */
struct test_log_result *test_log_core_result(struct test_log_run *,
                                             const struct test_log_noted *,
                                             const char *flavour);

/* test_log_make_test_folder gives a test a folder, below that of its program;
 * false if it cannot. */
bool test_log_make_test_folder(const struct test_log_run *,
                               struct test_log_result *);

/* test_log_core_extract gives a test that did not pass a folder with its part
 * of the recording and of the output. */
void test_log_core_extract(const struct test_log_run *,
                           struct test_log_result *,
                           const struct test_log_noted *);

/* test_log_core_results adds the tests of a journal to the run, except those
 * that are among the run's results from number `from` on. Tests that have not
 * ended have crashed; their processes must be gone. `sent`: the results of the
 * others went through the pipe. test_log_core_is_written tells whether the run
 * has a run.json. test_log_core_remove_journal removes the journal, and the
 * recording if there is a copy. */
void test_log_core_results(struct test_log_run *, size_t from,
                           struct test_log_journal *, const struct log_style *,
                           bool sent);
bool test_log_core_is_written(const struct test_log_run *);
void test_log_core_remove_journal(const struct test_log_run *);

/* ---- outlived_threads.c ---- */

/* test_log_threads_begin notes the threads that a test finds.
 * test_log_threads_end returns how many others there are at its end, and keeps
 * them from recording. */
void test_log_threads_begin(void);
unsigned test_log_threads_end(void);

#endif

/* watch.h: what the runner looks after while tests run: signals, time limits, a
 * status line, tries, and what it knows of the last run. Private.
 */
#ifndef TESTLOG_WATCH_H
#define TESTLOG_WATCH_H

#include "harness/harness.h"

/* ---- board.c: which process runs which test ---- */

/* test_log_status_open makes a board for that many notes and names it to
 * workers; -1 with errno without it, and nothing is known of processes then. */
int test_log_status_open(size_t notes);
bool test_log_status_is_open(void);
void test_log_status_close(void);

/* test_log_status_note, in a worker, notes which test this process runs. */
void test_log_status_note(void);

/* test_log_forked tells whether this is a process that a test has forked. */
bool test_log_forked(void);

/* The worker adds to its note that the test's body has returned, that the leak
 * checker is at work, which may end the process, and why the test fails, though
 * Criterion has not been told; the first reason counts. */
void test_log_status_returned(void);
void test_log_status_checking(bool on);
void test_log_status_fail(const char *format, ...) TRACE_PRINTF(1, 2);

/* What a worker has said. */
struct test_log_worker_status {
    bool returned; /* or nothing is known */
    bool checking;
    const char *fault; /* NULL: none; else until the next call */
};

struct test_log_worker_status test_log_status_of(
    struct test_log_run *, const struct test_log_result *);

/* test_log_status_update gives results the processes that were noted since. */
void test_log_status_update(struct test_log_run *);

/* ---- spawn.c: the worker that is being started ---- */

/* test_log_spawn_begin, on Criterion's thread, begins to look for the process
 * of the worker that Criterion starts; test_log_spawn_again is for the next try
 * of a run. Without memory nothing is known of it. */
void test_log_spawn_begin(struct test_log_run *);
void test_log_spawn_again(void);
void test_log_spawn_end(void);

/* test_log_spawn_read gives the result whose test is being started its process
 * and marks it unborn. */
void test_log_spawn_read(void);

/* test_log_spawn_release frees Criterion's thread, which waits for an unborn
 * test to begin; true once the process can be killed. To be called again until
 * it is. */
bool test_log_spawn_release(const struct test_log_result *);

/* ---- drain.c: output of tests under RLIMIT_FSIZE ---- */

/* test_log_file_limit returns how many bytes a file may have (ulimit -f),
 * UINT64_MAX for any number. */
uint64_t test_log_file_limit(void);

/* test_log_output_pipe_wanted tells whether tests' output must not go to files.
 */
bool test_log_output_pipe_wanted(const struct test_log_options *);

/* test_log_output_pipe_enter, in a worker, makes a FIFO in a test's folder and
 * returns its end to write to; -1 with errno if it can't. */
int test_log_output_pipe_enter(const char *folder);

/* test_log_output_pipe_open opens the other end, if the worker has made a FIFO;
 * test_log_output_pipe_pump moves what is there to the test's output.txt and
 * returns whether there may be more later; test_log_output_pipe_finish does so
 * for the last time, and says what was lost. */
void test_log_output_pipe_open(const struct test_log_run *,
                               struct test_log_result *);
bool test_log_output_pipe_pump(struct test_log_result *);
void test_log_output_pipe_finish(struct test_log_result *);
void test_log_output_pipe_close(struct test_log_result *);

/* ---- last.c: results.tsv, for people and for the next run ---- */

struct test_log_past {
    enum test_log_outcome outcome;
    uint64_t duration;
    char *program, *name;
};

/* The last run; without one, `path` is NULL. */
struct test_log_history {
    char *path;
    struct test_log_past *tests;
    size_t count;
};

int test_log_write_results(const struct test_log_run *, const char *name);

/* test_log_history_read reads what the last run below `dir`, or the one that
 * TESTLOG_LAST names, left behind. */
void test_log_history_read(struct test_log_history *, const char *dir);
void test_log_history_free(struct test_log_history *);

/* test_log_history_failed tells whether something of a program failed, of any
 * if it is NULL. */
bool test_log_history_failed(const struct test_log_history *,
                             const char *program);

/* test_log_history_knows tells whether the last run had a test of a program;
 * test_log_history_carry adds lines that make the next results.tsv know its
 * tests, which --failed has left out: their outcome is "none". */
bool test_log_history_knows(const struct test_log_history *,
                            const char *program);
void test_log_history_carry(const struct test_log_history *,
                            const char *program, struct trace_text *lines);

/* test_log_history_choose, for --failed, leaves in the options which tests of a
 * program (a path) are to run; false if it had no failure. Without a last run
 * all are, and it says so. */
bool test_log_history_choose(const struct test_log_history *,
                             struct test_log_options *, const char *program);

/* test_log_history_of returns what is known of a test; NULL if nothing is. */
const struct test_log_past *test_log_history_of(const struct test_log_history *,
                                                const char *program,
                                                const char *name);

/* ---- retry.c ---- */

/* test_log_retry_wanted tells whether a test has failed and has a try left. */
bool test_log_retry_wanted(const struct test_log_options *,
                           const struct test_log_result *);

/* test_log_retry makes a result ready for the next try and keeps the one that
 * was; -1 without memory. */
int test_log_retry(struct test_log_result *);

/* ---- progress.c: the status line ---- */

/* What `testlog run` knows of other programs: tests done before, tests to come
 * and how long they took last time, and which program this is. */
struct test_log_others {
    unsigned long long done, failed, to_come, time;
    unsigned number, count;
};

void test_log_others_export(const struct test_log_others *);

/* test_log_progress_begin decides whether there is a status line. The rest does
 * nothing if there is none. */
void test_log_progress_begin(const struct test_log_run *,
                             const struct test_log_options *,
                             const struct test_log_history *);
bool test_log_progress_shown(void);
void test_log_progress_paint(uint64_t now);
void test_log_progress_erase(void);
void test_log_progress_end(void);

/* test_log_progress_line adds the status line, at most `width` columns of it.
 */
void test_log_progress_line(struct trace_text *, const struct test_log_run *,
                            const struct test_log_others *,
                            const struct test_log_history *, size_t jobs,
                            uint64_t now, size_t width);

/* ---- watch.c: a thread beside Criterion's ---- */

/* test_log_supervisor_begin takes over SIGINT, SIGTERM, SIGHUP and SIGUSR1
 * until test_log_supervisor_end. Without a second thread nothing is taken over.
 */
void test_log_supervisor_begin(struct test_log_run *,
                               const struct test_log_options *);
void test_log_supervisor_end(void);

/* test_log_supervisor_limits tells whether it ends tests that take too long;
 * without the thread, or the board, Criterion has to. */
bool test_log_supervisor_limits(void);

/* Whoever reads or changes results, or prints, does so in between; the status
 * line is gone there. */
void test_log_supervisor_enter(void);
void test_log_supervisor_leave(void);

/* ---- guard.c: Criterion's logger ---- */

struct criterion_logger;

/* test_log_locked_logger returns a logger whose functions are those of
 * `logger`, inside test_log_supervisor_enter and _leave. */
struct criterion_logger *test_log_locked_logger(
    const struct criterion_logger *logger);

/* ---- outcomes.c: what Criterion tells of tests ---- */

/* test_log_logger_begin is before anything else of a run;
 * test_log_logger_listen puts itself in front of Criterion's logger. */
void test_log_logger_begin(struct test_log_run *,
                           const struct test_log_options *);
void test_log_logger_listen(void);

/* test_log_logger_render writes the files of all tests that have ended;
 * test_log_logger_end does so and fails those without an outcome. */
void test_log_logger_render(void);
void test_log_logger_end(void);

/* test_log_result_of returns the result of a test; NULL if it has none. */
struct criterion_suite;
struct criterion_test;
struct test_log_result *test_log_result_of(const struct criterion_test *);
bool test_log_is_disabled(const struct criterion_suite *,
                          const struct criterion_test *);

/* test_log_stop keeps the tests that have not begun from beginning, for the
 * first reason that it is given; test_log_stopped tells whether it did. */
void test_log_stop(const char *why);
bool test_log_stopped(void);

#define TEST_LOG_INTERRUPTED "not run: interrupted"

/* test_log_now is the time on CLOCK_MONOTONIC, in ns. */
uint64_t test_log_now(void);

#endif

/* supervisor.h: watches the processes of tests. Private. */
#ifndef TESTLOG_SUPERVISOR_H
#define TESTLOG_SUPERVISOR_H

#include "jobs.h"

struct test_log_crash;

/* ---- supervisor.c ---- */

/* test_log_supervisor_begin takes over SIGINT, SIGTERM, SIGHUP and SIGUSR1
 * until test_log_supervisor_end. It takes none if it cannot start a second
 * thread. */
void test_log_supervisor_begin(struct test_log_runner *);
void test_log_supervisor_end(void);

/* test_log_supervisor_limits tells whether it enforces timeouts; without the
 * thread or the workers' status, Criterion must. */
bool test_log_supervisor_limits(void);

/* Code that reads or changes results, or prints, runs between these two calls;
 * test_log_supervisor_enter erases the status line. */
void test_log_supervisor_enter(void);
void test_log_supervisor_leave(void);

/* ---- worker_status.c: what workers report ---- */

/* test_log_status_open creates shared memory for that many workers; -1 with
 * errno on failure; the runner then cannot tell which processes tests have.
 * test_log_status_id returns what workers need to find it, NULL without it. */
int test_log_status_open(size_t notes);
const char *test_log_status_id(void);
bool test_log_status_is_open(void);
void test_log_status_close(void);

/* test_log_status_update gives jobs the processes that reported since. */
void test_log_status_update(struct test_log_runner *);

/* The last report of a worker. */
struct test_log_worker_status {
    bool returned; /* true also if nothing is known */
    bool checking;
    bool devices;      /* all activities of devices are recorded */
    const char *fault; /* NULL: none; valid until the next call */
    const char *known; /* why the test may fail; the same */
};

/* test_log_status_look_at_usage notes the usage of a job's process before it is
 * killed. test_log_status_usage returns the usage of the test; peak 0: unknown.
 */
void test_log_status_look_at_usage(struct test_log_job *);
struct test_log_usage test_log_status_usage(const struct test_log_job *);

/* test_log_status_take_devices, before a job's process is stopped, lets it
 * record activities of devices that it holds back. */
void test_log_status_take_devices(const struct test_log_job *);

/* test_log_status_take_output, before a job's process is killed, adds the line
 * that it has not finished to the test's output, or `live` prints it. */
void test_log_status_take_output(const struct test_log_run *,
                                 const struct test_log_job *, bool live);

struct test_log_worker_status test_log_status_of(struct test_log_runner *,
                                                 const struct test_log_job *);

/* test_log_status_crash_of returns the crash for which a job's process stops or
 * has stopped; NULL if there is none. test_log_status_seen resumes the process.
 * Call it until the process has ended, because the process may stop later. */
const struct test_log_crash *test_log_status_crash_of(
    const struct test_log_job *);
void test_log_status_seen(const struct test_log_job *);

/* test_log_status_mark_seen does not resume the process; somebody else will. */
void test_log_status_mark_seen(const struct test_log_job *);

/* test_log_status_abandoned tells whether the main thread of a job's living
 * process has ended, as after pthread_exit() in the test. */
bool test_log_status_abandoned(const struct test_log_job *);

/* test_log_status_closing_time returns the ns that a job's process needs, or
 * has needed until `now`, to close its recording, at most ten seconds. They are
 * not the test's, which waits for no device. */
uint64_t test_log_status_closing_time(const struct test_log_job *,
                                      uint64_t now);

/* test_log_status_sandboxed returns the signal of a crash whose handler was
 * killed by its first system call, as in a seccomp sandbox: its thread is gone,
 * or is unknown and has not continued. 0: there is none. */
int test_log_status_sandboxed(const struct test_log_job *);

/* test_log_status_asserting returns the thread of a job's process that is
 * sending the failed assertion of a line, once for each assertion; 0 if there
 * is none. */
uint32_t test_log_status_asserting(const struct test_log_job *, unsigned line);

/* ---- capture_stacks.c ---- */

/* test_log_stacks_wanted tells whether the options ask for stacks. Then workers
 * stop when they crash, if the supervisor runs. */
bool test_log_stacks_wanted(const struct test_log_options *);

/* test_log_stacks_look stores the stacks of a test's processes in its folder,
 * and adds the time that this takes to the test's pause; `crash` may be NULL.
 * It ends at `until`. */
void test_log_stacks_look(const struct test_log_runner *, struct test_log_job *,
                          const struct test_log_crash *, uint64_t until);

/* test_log_stacks_of_children adds the stacks that children of a test left when
 * they crashed, once the test has ended. */
void test_log_stacks_of_children(const struct test_log_runner *,
                                 const struct test_log_job *);

/* test_log_stacks_of_file adds the stack that a process left in a file, as
 * trace/crash.h has it; nothing if there is none. */
void test_log_stacks_of_file(struct trace_text *, int file);

/* test_log_stacks_left stores the stack that the process of a test left in its
 * recording when it crashed, in the test's folder. */
void test_log_stacks_left(const struct test_log_run *,
                          const struct test_log_result *);

struct criterion_assert_stats;
/* test_log_stacks_look_at_assertion adds the stack of a thread that waits until
 * the runner has taken its failed assertion, at most eight for a test. */
void test_log_stacks_look_at_assertion(const struct test_log_runner *,
                                       struct test_log_job *, uint32_t thread,
                                       const struct criterion_assert_stats *);

/* ---- debugger.c ---- */

/* A debugger's command line. */
struct test_log_debugger {
    const char *words[16];
    char pid[16], frame[64];
};

/* test_log_debugger_begin prints that a test has stopped and makes the command
 * line of the debugger that the options name; false if they name none.
 * test_log_debugger_run runs it until the user leaves it. */
bool test_log_debugger_begin(struct test_log_debugger *,
                             const struct test_log_runner *,
                             const struct test_log_job *,
                             const struct test_log_crash *);
void test_log_debugger_run(const struct test_log_debugger *);

/* ---- spawn.c: the worker that Criterion is starting ---- */

/* test_log_spawn_begin, on Criterion's thread, begins to note the process of
 * each worker that Criterion starts; test_log_spawn_again is for the next try
 * of a run. Without memory, nothing is noted. */
void test_log_spawn_begin(struct test_log_runner *);
void test_log_spawn_again(void);
void test_log_spawn_end(void);

/* test_log_spawn_update stores the process of the test that is being started in
 * its job and marks the job as starting. */
void test_log_spawn_update(void);

/* test_log_spawn_release frees Criterion's thread, which waits for a starting
 * worker; true once the process can be killed. Call it again until then. A
 * worker has two seconds to begin, because it may only be slow. */
bool test_log_spawn_release(const struct test_log_job *);

/* ---- output_pipe.c: output of tests under a file size limit ---- */

/* test_log_output_pipe_wanted tells whether tests' output must not go to files
 * directly. */
bool test_log_output_pipe_wanted(const struct test_log_options *);

/* test_log_output_pipe_open opens the FIFO of a worker, if it has made one;
 * test_log_output_pipe_pump moves what is there to the test's output.txt and
 * returns whether there may be more later; test_log_output_pipe_finish does so
 * for the last time, and prints what was lost. */
void test_log_output_pipe_open(const struct test_log_run *,
                               struct test_log_job *);
bool test_log_output_pipe_pump(struct test_log_job *);
void test_log_output_pipe_finish(struct test_log_job *);
void test_log_output_pipe_close(struct test_log_job *);

/* ---- tracees.c ---- */

/* test_log_tracees_hide hides the stops of tests that ask to be traced from
 * Criterion, which takes a stop for the test's end. */
void test_log_tracees_hide(void);

#endif

/* worker.h: the process of one test. Private. */
#ifndef TESTLOG_WORKER_H
#define TESTLOG_WORKER_H

#include "harness/race_log.h"
#include "harness/session.h"

#include "trace/device.h"
#include "trace/read/reader.h"

/* ---- trampoline.c ---- */

/* test_log_worker_begin starts the log and trace of a test that is not
 * annotated, if the runner asks for all tests; test_log_worker_end ends them.
 * test_log_worker_end_devices ends the log and trace of a test that used a
 * device. */
void test_log_worker_begin(void);
void test_log_worker_end(void);
void test_log_worker_end_devices(void);

/* ---- capture.c ---- */

/* test_log_capture redirects the test's stdout and stderr to files in its
 * folder; `piped`: to a FIFO there, which the runner reads. If that fails, both
 * stay unchanged. */
void test_log_capture(const char *folder, bool piped);

/* test_log_capture_add appends a text and a newline to the file that the test's
 * output goes to; false if there is none. It does not wait for a reader of the
 * test's own stderr. */
bool test_log_capture_add(const char *text, size_t size);

/* test_log_line_output returns a descriptor for live lines: the stderr that the
 * test began with. */
int test_log_line_output(void);

/* ---- status.c ---- */

/* test_log_status_begin reports which test this process runs. */
void test_log_status_begin(void);

/* test_log_status_usage_begin notes the usage of this process when the test's
 * body begins, and test_log_status_usage_end when it ends. */
void test_log_status_usage_begin(void);
void test_log_status_usage_end(void);

/* test_log_forked tells whether this process is a forked child of the test. */
bool test_log_forked(void);

/* test_log_status_returned reports that the test's body has returned,
 * test_log_status_closing and _closed that its recording is being closed,
 * test_log_status_checking that the leak checker runs (it may end the process),
 * test_log_status_devices that all activities of devices are recorded, and
 * test_log_status_fail why the test fails if Criterion has no report of it; the
 * first reason counts. */
void test_log_status_returned(void);
void test_log_status_closing(void);
void test_log_status_closed(void);
void test_log_status_checking(bool on);
void test_log_status_devices(void);
void test_log_status_fail(const char *format, ...) TRACE_PRINTF(1, 2);

/* test_log_status_assertion reports that the calling thread sends the failed
 * assertion of a line; 0: it has sent it. */
void test_log_status_assertion(unsigned line);

/* test_log_status_crashing reports that the handler of a crash begins, because
 * the handler may be killed later. It makes no system call. */
void test_log_status_crashing(int number, uint32_t thread);

/* test_log_status_crash reports a crash and stops the process until the runner
 * has looked at it. Signal handlers may call it. */
void test_log_status_crash(const struct test_log_crash *);

/* test_log_status_stop does the same for a failure without a signal, if a
 * debugger is to be started. */
void test_log_status_stop(enum test_log_stop);

/* ---- crash.c ---- */

/* test_log_crash_begin handles the signals of crashes that have no handler yet,
 * if the runner wants to look at their stacks. */
void test_log_crash_begin(void);

/* test_log_crash_record records a crash as an event in the open recording,
 * unless lines are printed live; children that crash leave their stacks
 * there. */
void test_log_crash_record(bool live);

/* ---- exceptions.c ---- */

/* test_log_watch_exceptions calls a function. It notes a C++ exception that
 * leaves the function, and the runner may look at the stack of the throw. */
void test_log_watch_exceptions(void (*function)(void *), void *parameter);

/* test_log_exceptions_begin notes exceptions that end in std::terminate. If the
 * runner looks at exceptions (`looked_at`), the process stops for one that
 * leaves a function. test_log_exception_report adds the calling thread's
 * exception to a crash, and test_log_exception_text returns the one that left a
 * function, "uncaught std::bad_alloc: std::bad_alloc", to be freed; NULL
 * without one. */
void test_log_exceptions_begin(bool (*looked_at)(void));
void test_log_exception_report(struct test_log_crash *);
char *test_log_exception_text(void);

/* ---- place_events.c ---- */

/* test_log_record_error records an ERROR event at a place in a file.
 * test_log_record_whole records a TRACE event with a very long text, which few
 * filters show; false if nothing is recorded. */
void test_log_record_error(const char *file, unsigned line, const char *text);
bool test_log_record_whole(const char *file, unsigned line, const char *text);

/* ---- long_text.c ---- */

/* test_log_shorten returns the beginning of the text of a failed assertion and
 * where the whole one is, to be freed; NULL if it is short. */
char *test_log_shorten(const char *file, unsigned line, const char *text);

/* ---- sanitizers.c ---- */

/* test_log_sanitizers_begin is called when a test begins,
 * test_log_sanitizers_check after its last fixture, which is needed only if
 * they find leaks, and test_log_sanitizers_end when Criterion takes no more
 * reports. */
void test_log_sanitizers_begin(void);
bool test_log_sanitizers_find_leaks(void);
void test_log_sanitizers_check(void);
void test_log_sanitizers_end(void);

/* test_log_sanitizers_own tells whether a signal's handler is the one that
 * saves coverage data. */
struct sigaction;
bool test_log_sanitizers_own(const struct sigaction *);

/* ---- races.c ---- */

/* test_log_races_watch opens valgrind's log of this process, with --races.
 * test_log_races_report prints it, reports the data races as failed assertions,
 * and removes it. test_log_races_print only prints what is new; a signal
 * handler may call it. */
void test_log_races_watch(void);
struct test_log_races test_log_races_report(void);
void test_log_races_print(void);

/* ---- valgrind.c ---- */

/* test_log_valgrind_runs tells whether valgrind runs this process.
 * test_log_valgrind_found tells whether it has found leaks, or errors other
 * than `races`, since test_log_valgrind_begin, and describes them in `reason`.
 */
bool test_log_valgrind_runs(void);
void test_log_valgrind_begin(void);
bool test_log_valgrind_found(const struct test_log_races *, char *reason,
                             size_t size);

#endif

/* worker.h: the process of one test. Private. */
#ifndef TESTLOG_WORKER_H
#define TESTLOG_WORKER_H

#include "harness/session.h"

#include "trace/device.h"
#include "trace/reader.h"

/* ---- trampoline.c ---- */

/* test_log_worker_begin starts the log and trace of a test that is not
 * annotated, if the runner wants all tests to have them; test_log_worker_end
 * ends those. */
void test_log_worker_begin(void);
void test_log_worker_end(void);

/* ---- capture.c ---- */

/* test_log_capture makes the test's stdout and stderr go to its folder;
 * `piped`: to a FIFO there, which the runner reads. Without such a file they
 * stay what they are. */
void test_log_capture(const char *folder, bool piped);

/* test_log_line_output returns a descriptor for live lines: the stderr that the
 * test began with. */
int test_log_line_output(void);

/* ---- status.c ---- */

/* test_log_status_begin reports which test this process runs. */
void test_log_status_begin(void);

/* test_log_forked tells whether this is a process that a test has forked. */
bool test_log_forked(void);

/* test_log_status_returned reports that the test's body has returned,
 * test_log_status_checking that the leak checker is at work (it may end the
 * process), test_log_status_fail why the test fails where Criterion was not
 * told; the first reason counts. */
void test_log_status_returned(void);
void test_log_status_checking(bool on);
void test_log_status_fail(const char *format, ...) TRACE_PRINTF(1, 2);

/* ---- assertions.c ---- */

/* test_log_record_error records an ERROR event at a place in a file. */
void test_log_record_error(const char *file, unsigned line, const char *text);

/* ---- sanitizers.c ---- */

/* test_log_sanitizers_begin is for the beginning of a test,
 * test_log_sanitizers_last for when only its teardown is left, and
 * test_log_sanitizers_end for when Criterion no longer listens. */
void test_log_sanitizers_begin(void);
void test_log_sanitizers_last(void);
void test_log_sanitizers_end(void);

/* ---- valgrind.c ---- */

/* test_log_valgrind_runs tells whether valgrind runs this process.
 * test_log_valgrind_found tells whether it has found errors or leaks since
 * test_log_valgrind_begin, and puts which into `reason`. */
bool test_log_valgrind_runs(void);
void test_log_valgrind_begin(void);
bool test_log_valgrind_found(char *reason, size_t size);

#endif

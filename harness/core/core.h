/* core.h: a log and a trace for each test of any framework, in C or C++.
 *
 *  test_log_begin("suite", "test");             before a test
 *  test_log_end(TEST_LOG_FAILED, "a.c:7: why"); after it
 *
 * Many tests run in one process, one after the other. When the process exits,
 * it writes the run and prints the closing line, as a program of Criterion's
 * does; its exit code remains its own. If it dies, the next testlog command
 * that reads the run, or the next run in the folder, does so. testlog-core(7)
 * has the details.
 */
#ifndef TESTLOG_CORE_H
#define TESTLOG_CORE_H

#include <testlog/log.h>

#ifdef __cplusplus
extern "C" {
#endif

enum test_log_verdict {
    TEST_LOG_PASSED,
    TEST_LOG_FAILED,
    TEST_LOG_SKIPPED,
};

/* test_log_prepare reads the settings and makes the folder of the run. The
 * first test_log_begin calls it; a program whose tests run in forked children
 * calls it before the first fork. If a setting is wrong, it prints so and exits
 * with 2. */
TRACE_API int test_log_prepare(void);

/* test_log_begin begins a test, which is called "suite/test". Until
 * test_log_end, the records and the output of the process and of its forked
 * children belong to it. `suite` may be NULL: then it is the program's name,
 * and people read the test's name alone. A test that
 * is open in this process has failed: "not ended". Fails with EINVAL if `test`
 * is NULL or empty, with ESHUTDOWN once the run is written. */
TRACE_API int test_log_begin(const char *suite, const char *test);

/* test_log_end ends the test that this process began. `reason` is a line about
 * why it failed or was skipped, best "file:line: why", or NULL. Fails with
 * EINVAL if no test is open or the verdict is none; the test stays open then.
 */
TRACE_API int test_log_end(enum test_log_verdict, const char *reason);

/* test_log_separator sets what is between the names of a suite and of a test
 * where people read them: at most 15 bytes, "/" at first, and if it is NULL. It
 * comes before the first test, best before main: if an entry of ctest made by
 * testlog_discover_tests has started the program, the process becomes `testlog
 * run`, which starts the program again. */
TRACE_API void test_log_separator(const char *separator);

#ifdef __cplusplus
}
#endif

#endif

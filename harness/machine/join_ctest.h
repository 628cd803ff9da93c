/* join_ctest.h: a program that ctest starts makes one run with the others.
 * Private. */
#ifndef TESTLOG_JOIN_CTEST_H
#define TESTLOG_JOIN_CTEST_H

#include <stdbool.h>
#include <stdint.h>

/* testlog_discover_tests tells the programs the folder of the runs, the path of
 * testlog, and their names in the run. The programs tell testlog a hash of
 * their command. */
#define TEST_LOG_JOIN         "TESTLOG_JOIN"
#define TEST_LOG_JOIN_BY      "TESTLOG_JOIN_BY"
#define TEST_LOG_JOIN_AS      "TESTLOG_JOIN_AS"
#define TEST_LOG_JOIN_COMMAND "TESTLOG_JOIN_COMMAND"

/* test_log_join_ctest becomes `testlog run --join`, which starts this program
 * again, if ctest's entry says so and no debugger has the process. The
 * arguments are `ours`, or GoogleTest's. */
void test_log_join_ctest(bool ours);

/* test_log_own_command returns a hash of the process's arguments. */
uint64_t test_log_own_command(void);

#endif

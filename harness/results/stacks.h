/* stacks.h: the stacks of a test that crashed or hung. Private. */
#ifndef TESTLOG_STACKS_H
#define TESTLOG_STACKS_H

#include "harness/results/model.h"

/* What testlog-stacks printed about a test, in the test's folder. */
#define TEST_LOG_STACKS_FILE "stacks"

/* X(NAME, word): which threads are shown. */
#define TEST_LOG_STACKS(X)                                                     \
    X(ALL, "all")                                                              \
    X(CRASHING, "crashing")                                                    \
    X(OFF, "off")

enum test_log_stacks {
#define TEST_LOG_X(name, word) TEST_LOG_STACKS_##name,
    TEST_LOG_STACKS(TEST_LOG_X)
#undef TEST_LOG_X
};

/* test_log_stacks_text adds the stacks of a test for people, each line with a
 * newline; nothing if there are none. */
void test_log_stacks_text(struct trace_text *, const struct test_log_run *,
                          const struct test_log_result *);

/* test_log_stacks_reason returns why a test crashed, such as "SIGSEGV: null
 * pointer + 0x8, in sum (list.c:9)", to be freed; NULL if that is unknown. */
char *test_log_stacks_reason(const struct test_log_run *,
                             const struct test_log_result *);

#endif

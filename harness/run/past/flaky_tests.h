/* flaky_tests.h: judges from its last outcomes whether a test is flaky.
 * Private.
 *
 * It is if it passed after a try that failed, if its first tries differed at
 * one commit, or, where the commit is unknown or the tree was dirty, if they
 * differed twice.
 */
#ifndef TESTLOG_FLAKY_TESTS_H
#define TESTLOG_FLAKY_TESTS_H

#include "harness/run/past/outcomes.h"

enum { TEST_LOG_REASONS_MOST = 5 };

/* Reasons that differ in numbers alone are one. */
struct test_log_flaky_reason {
    const char *text; /* "": a failure without a reason */
    uint64_t varying; /* bit i: its number i differs in others */
    size_t count;
};

struct test_log_flaky_test {
    const char *name, *flavour;
    size_t runs;     /* in which it ran; repetitions count */
    size_t failures; /* of first tries */
    size_t flips;    /* first tries that differ from the one before */
    size_t rescues;  /* passes after a try that failed */
    const struct test_log_past_run *first; /* when it began to be flaky */
    struct test_log_flaky_reason reasons[TEST_LOG_REASONS_MOST]; /* of failed
                                                                first tries */
};

struct test_log_flaky_tests {
    struct test_log_flaky_test *all;
    size_t count, capacity;
};

/* test_log_flaky_find adds the flaky tests of a program, from the run `from` of
 * its outcomes on; texts belong to these. -1 without memory. */
int test_log_flaky_find(struct test_log_flaky_tests *,
                        const struct test_log_outcomes *, size_t from);

/* test_log_flaky_reason_text adds a reason in which numbers that vary are N,
 * such as "timed out: after N s". */
void test_log_flaky_reason_text(struct trace_text *,
                                const struct test_log_flaky_reason *);

#endif

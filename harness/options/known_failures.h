/* known_failures.h: what testlog.conf says of tests that may fail. Private. */
#ifndef TESTLOG_KNOWN_FAILURES_H
#define TESTLOG_KNOWN_FAILURES_H

#include "harness/options/settings.h"
#include "harness/run/model/model.h"

#include <stdbool.h>
#include <stddef.h>

/* X(NAME, word): what is expected of a test. */
#define TEST_LOG_EXPECTED(X)                                                   \
    X(FAIL, "fail")   /* a failure does not fail the run */                    \
    X(FLAKY, "flaky") /* either result is right */                             \
    X(SKIP, "skip")   /* the test does not start */

enum test_log_expected {
#define TEST_LOG_X(name, word) TEST_LOG_EXPECT_##name,
    TEST_LOG_EXPECTED(TEST_LOG_X)
#undef TEST_LOG_X
};

/* A section [test PATTERN]; the settings have the texts. */
struct test_log_known_failure {
    const char *pattern, *profile; /* profile NULL: of none */
    const char *origin;            /* of its first line here */
    const char *reason, *until;    /* NULL: not given */
    enum test_log_expected expected;
    bool given;   /* `expected` is */
    bool strict;  /* a pass fails the run */
    bool expired; /* `until` has passed: there is no effect */
};

struct test_log_known_failures {
    struct test_log_known_failure *all;
    size_t count, capacity;
};

/* test_log_known_key tells whether a setting is about known failures;
 * test_log_known_keys stores their names and returns how many there are. */
enum { TEST_LOG_KNOWN_KEYS = 4 };
bool test_log_known_key(const char *key);
size_t test_log_known_keys(const char *names[TEST_LOG_KNOWN_KEYS]);

/* test_log_is_day tells whether a text is a day, such as 2026-12-31. */
bool test_log_is_day(const char *);

/* test_log_known_read reads the sections of the settings and keeps those of
 * `profile`, which may be NULL, and of none. With `quiet` it does not tell
 * which have expired. -1 if it has printed what is wrong. */
int test_log_known_read(struct test_log_known_failures *,
                        const struct test_log_settings *, const char *profile,
                        bool quiet);

/* test_log_known_of returns what is known of a test, NULL if nothing. */
const struct test_log_known_failure *test_log_known_of(
    const struct test_log_known_failures *, const char *suite,
    const char *test);

/* test_log_known_judge applies to a result what is known of its test, or what
 * the test itself has `declared`; both may be NULL. A result that was judged
 * before stays as it is. */
void test_log_known_judge(const struct test_log_known_failure *,
                          const char *declared, struct test_log_result *);

#endif

/* check_adapter.h: a log and a trace for each test of Check, which runs each in
 * a forked child, or, with CK_FORK=no, all in one process. Include it in place
 * of check.h, and call test_log_prepare first in main:
 *
 *  gcc -DTRACING tests.c $(pkg-config --cflags --libs check testlog-core)
 */
#ifndef CHECK_ADAPTER_H
#define CHECK_ADAPTER_H

#include <stdio.h>

#include <check.h>
#include <testlog/core.h>

#undef START_TEST
#define START_TEST(name)                                                       \
    static void name##_body(int _i);                                           \
    static void name##_fn(int _i)                                              \
    {                                                                          \
        test_log_begin(NULL, #name);                                           \
        name##_body(_i);                                                       \
        test_log_end(TEST_LOG_PASSED, NULL);                                   \
    }                                                                          \
    static const TTest name##_ttest = {#name, name##_fn, __FILE__, __LINE__};  \
    static const TTest *name = &name##_ttest;                                  \
    static void name##_body(int _i CK_ATTRIBUTE_UNUSED)

/* A failing assertion does not return. */
static inline void check_failed(const char *file, int line, const char *what)
{
    char why[1024];

    snprintf(why, sizeof(why), "%s:%d: %s", file, line, what);
    test_log_end(TEST_LOG_FAILED, why);
}

#define _ck_assert_failed(file, line, what, ...)                               \
    (check_failed(file, line, what),                                           \
     (_ck_assert_failed)(file, line, what, ##__VA_ARGS__))

/* Check cannot skip: a test may do it with test_log_end, and return. */

#endif

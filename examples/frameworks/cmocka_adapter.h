/* cmocka_adapter.h: a log and a trace for each test of cmocka. Include it in
 * place of cmocka.h, and write traced_unit_test in place of cmocka_unit_test:
 *
 *  gcc -DTRACING tests.c $(pkg-config --cflags --libs cmocka testlog-core)
 */
#ifndef CMOCKA_ADAPTER_H
#define CMOCKA_ADAPTER_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <testlog/core.h>

/* cmocka does not tell how a test has ended; a test that fails or is skipped
 * does not return. */
static enum test_log_verdict cmocka_verdict;
static const char *cmocka_why;

static inline int cmocka_begin(const char *name)
{
    cmocka_verdict = TEST_LOG_FAILED;
    cmocka_why = NULL;
    return test_log_begin(NULL, name);
}

static inline int cmocka_end(void **state)
{
    (void)state;
    test_log_end(cmocka_verdict, cmocka_why);
    return 0;
}

/* The statements around a test's body. The state is that of the group's setup.
 */
#define TRACED_TEST(name)                                                      \
    static void name##_body(void **state);                                     \
    static int name##_begin(void **state)                                      \
    {                                                                          \
        (void)state;                                                           \
        return cmocka_begin(#name);                                            \
    }                                                                          \
    static void name(void **state)                                             \
    {                                                                          \
        name##_body(state);                                                    \
        cmocka_verdict = TEST_LOG_PASSED;                                      \
    }                                                                          \
    static void name##_body(void **state)

#define traced_unit_test(name)                                                 \
    {                                                                          \
#        name, name, name##_begin, cmocka_end, NULL                            \
    }

#undef skip
#define skip() (cmocka_verdict = TEST_LOG_SKIPPED, _skip(__FILE__, __LINE__))

#endif

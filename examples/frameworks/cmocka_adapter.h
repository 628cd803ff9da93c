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

static inline int cmocka_begin(void **state)
{
    const char *name = (const char *)*state;

    cmocka_verdict = TEST_LOG_FAILED;
    cmocka_why = NULL;
    *state = NULL;
    return test_log_begin(NULL, name);
}

static inline int cmocka_end(void **state)
{
    (void)state;
    test_log_end(cmocka_verdict, cmocka_why);
    return 0;
}

/* The statements that follow a test's body. */
#define TRACED_TEST(name)                                                      \
    static void name##_body(void **state);                                     \
    static void name(void **state)                                             \
    {                                                                          \
        name##_body(state);                                                    \
        cmocka_verdict = TEST_LOG_PASSED;                                      \
    }                                                                          \
    static void name##_body(void **state)

#define traced_unit_test(name)                                                 \
    {                                                                          \
#        name, name, cmocka_begin, cmocka_end, (void *)#        name           \
    }

#undef skip
#define skip() (cmocka_verdict = TEST_LOG_SKIPPED, _skip(__FILE__, __LINE__))

#endif

/* test_log.h: Criterion's tests with a log and a trace of their own.
 *
 *  TEST_LOG(suite, name, options...) { ... }           as Criterion's Test
 *  TEST_LOG_DEFAULT("info,kv=trace", suite, name) { }  with a filter of its
 * own, where LOG says nothing PARAMETERIZED_TEST_LOG(type *p, suite, name) { }
 * as ParameterizedTest THEORY_LOG((int a, int b), suite, name) { }         as
 * Theory
 *
 * Every option of Criterion passes through. With TRACING undefined these are
 * Criterion's own macros and nothing else.
 */
#ifndef TESTLOG_TEST_LOG_H
#define TESTLOG_TEST_LOG_H

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/theories.h>

#include <testlog/log.h>

#ifdef __cplusplus
extern "C" {
#endif

/* An annotated test. */
struct test_log_entry {
    struct criterion_test *test;
    const char *filter; /* its own default, or NULL */
    struct test_log_entry *next;
};

/* test_log_register lists an annotated test; a constructor calls it. */
TRACE_API void test_log_register(struct test_log_entry *);

/* test_log_main is what main does, for programs with a main of their own.
 * Returns the exit code. */
TRACE_API int test_log_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

#ifndef TRACING
#    define TEST_LOG                      Test
#    define TEST_LOG_DEFAULT(filter, ...) Test(__VA_ARGS__)
#    define PARAMETERIZED_TEST_LOG        ParameterizedTest
#    define THEORY_LOG                    Theory
#else
/* The empty asm keeps Criterion's own list of tests from being collected by
 * --gc-sections and -flto. */
#    define TEST_LOG_LIST_(filter, suite, name, ...)                           \
        extern struct criterion_test CR_IDENTIFIER_(suite, name, meta);        \
        extern struct criterion_test *CR_IDENTIFIER_(suite, name, ptr);        \
        static struct test_log_entry CR_IDENTIFIER_(suite, name, entry) = {    \
            &CR_IDENTIFIER_(suite, name, meta), filter, 0};                    \
        __attribute__((constructor)) static void CR_IDENTIFIER_(suite, name,   \
                                                                list)(void)    \
        {                                                                      \
            __asm__ volatile("" : : "r"(&CR_IDENTIFIER_(suite, name, ptr)));   \
            test_log_register(&CR_IDENTIFIER_(suite, name, entry));            \
        }
#    define TEST_LOG(...)                                                      \
        TEST_LOG_LIST_(0, __VA_ARGS__, 0)                                      \
        Test(__VA_ARGS__)
#    define TEST_LOG_DEFAULT(filter, ...)                                      \
        TEST_LOG_LIST_(filter, __VA_ARGS__, 0)                                 \
        Test(__VA_ARGS__)
#    define PARAMETERIZED_TEST_LOG(parameter, ...)                             \
        TEST_LOG_LIST_(0, __VA_ARGS__, 0)                                      \
        ParameterizedTest(parameter, __VA_ARGS__)
#    define THEORY_LOG(parameters, ...)                                        \
        TEST_LOG_LIST_(0, __VA_ARGS__, 0)                                      \
        Theory(parameters, __VA_ARGS__)
#endif

#endif

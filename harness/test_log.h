/* test_log.h: Criterion's tests with a log and a trace of their own.
 *
 *  TEST_LOG(suite, name, options...) { }         replaces Test
 *  TEST_LOG_DEFAULT(filter, suite, name) { }     with a default for LOG
 *  PARAMETERIZED_TEST_LOG(type *p, suite, name) { }
 *                                                replaces ParameterizedTest
 *  THEORY_LOG((int a, int b), suite, name) { }   replaces Theory
 *
 * Criterion's options work here, too. Without TRACING, these are Criterion's
 * own macros.
 *
 * A test can assert on the records that it, its threads and its forked children
 * have made so far, whatever LOG is. Like cr_expect, these let the test
 * continue:
 *
 *  log_expect_contains("text")         an event whose line contains the text
 *  log_expect_lacks("text")            no such event
 *  log_expect_count(n, "text")         n such events
 *  log_expect_event("kv", "=warn")     an event that each filter selects;
 *                                      "=warn" selects only that level
 *  log_expect_no_event(filters...)     no such event
 *  log_expect_event_count(n, filters...)
 *                                      n such events
 *  log_expect_span("outer:fill{n=3}")  a span, here one within "outer"
 *  log_expect_no_span(path)            no such span
 *  log_expect_span_count(n, path)      n such spans
 *
 * These also fail if there is no such span:
 *
 *  log_expect_span_entered(path)       all such spans were entered
 *  log_expect_span_closed(path)        all are closed
 *  log_expect_span_shorter(s, path)    all are closed and took less than s
 *                                      seconds
 *  log_expect_span_longer(s, path)     all are closed and took longer
 *  log_expect_instructions_at_most(n, path)
 *                                      all are closed and executed at most n
 *                                      instructions in user space, if they are
 *                                      counted: with --callgrind, or
 *                                      --trace-options=instructions=1
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
    const char *filter;  /* the test's default, or NULL */
    const char *flavour; /* of the build */
    struct test_log_entry *next;
};

/* test_log_register lists an annotated test; a constructor calls it. */
TRACE_API void test_log_register(struct test_log_entry *);

/* test_log_expect_ judges an expectation and reports to Criterion. A program
 * that refers to it records everything. */
TRACE_API void test_log_expect_(const char *file, unsigned line,
                                enum log_expectation_kind, double number,
                                const char *const *texts);

/* An expectation that is compiled out; there is no body. */
__attribute__((nothrow)) int test_log_check_text_(const char *);
__attribute__((nothrow)) int test_log_check_number_(double);

/* test_log_known_failure says that the running test may fail from here on, and
 * why: a failure, crash or timeout does not fail the run then. The first reason
 * counts. It works without TRACING, too. */
TRACE_API void test_log_known_failure(const char *why);

/* test_log_main runs the tests like testlog's main, for programs with their own
 * main. Returns the exit code. */
TRACE_API int test_log_main(int argc, char **argv);

#ifdef __cplusplus
}
#endif

/* TEST_LOG_SERIAL, on a line of its own in any source file, keeps `testlog run`
 * from running other programs beside this one. It adds a note to the program,
 * as in elf(5), with a name and a type only. */
#define TEST_LOG_SERIAL                                                        \
    __asm__(".pushsection .note.testlog, \"a\", %note\n"                       \
            "    .balign 4\n"                                                  \
            "    .long 8, 0, 1\n"                                              \
            "    .asciz \"testlog\"\n"                                         \
            "    .popsection")

#ifndef TRACING
#    define TEST_LOG                      Test
#    define TEST_LOG_DEFAULT(filter, ...) Test(__VA_ARGS__)
#    define PARAMETERIZED_TEST_LOG        ParameterizedTest
#    define THEORY_LOG                    Theory
#else
/* The flavour of the build, such as gcc-O-asan-traced, which keeps the
 * durations of builds apart. The first annotated test of a program counts. */
#    if defined(__clang__)
#        define TEST_LOG_COMPILER_ "clang"
#    elif defined(__GNUC__)
#        define TEST_LOG_COMPILER_ "gcc"
#    else
#        define TEST_LOG_COMPILER_ "cc"
#    endif
#    ifdef __OPTIMIZE__
#        define TEST_LOG_OPTIMIZED_ "-O"
#    else
#        define TEST_LOG_OPTIMIZED_ "-O0"
#    endif
#    ifdef __has_feature
#        define TEST_LOG_HAS_(feature) __has_feature(feature)
#    else
#        define TEST_LOG_HAS_(feature) 0
#    endif
#    if defined(__SANITIZE_ADDRESS__) || TEST_LOG_HAS_(address_sanitizer)
#        define TEST_LOG_SANITIZED_ "-asan"
#    elif defined(__SANITIZE_THREAD__) || TEST_LOG_HAS_(thread_sanitizer)
#        define TEST_LOG_SANITIZED_ "-tsan"
#    elif TEST_LOG_HAS_(memory_sanitizer)
#        define TEST_LOG_SANITIZED_ "-msan"
#    else
#        define TEST_LOG_SANITIZED_ ""
#    endif
#    define TEST_LOG_FLAVOUR_                                                  \
        TEST_LOG_COMPILER_ TEST_LOG_OPTIMIZED_ TEST_LOG_SANITIZED_ "-traced"

/* The empty asm keeps -flto and --gc-sections from removing tests from
 * Criterion's list. */
#    define TEST_LOG_LIST_(filter, suite, name, ...)                           \
        extern struct criterion_test CR_IDENTIFIER_(suite, name, meta);        \
        extern struct criterion_test *CR_IDENTIFIER_(suite, name, ptr);        \
        static struct test_log_entry CR_IDENTIFIER_(suite, name, entry) = {    \
            &CR_IDENTIFIER_(suite, name, meta), filter, TEST_LOG_FLAVOUR_, 0}; \
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

#define log_expect_contains(text) TEST_LOG_EXPECT_(CONTAINS, 0, text)
#define log_expect_lacks(text)    TEST_LOG_EXPECT_(LACKS, 0, text)
#define log_expect_count(n, text) TEST_LOG_EXPECT_(COUNT, n, text)
#define log_expect_event(...)     TEST_LOG_EXPECT_(EVENT, 0, __VA_ARGS__)
#define log_expect_no_event(...)  TEST_LOG_EXPECT_(NO_EVENT, 0, __VA_ARGS__)
#define log_expect_event_count(n, ...)                                         \
    TEST_LOG_EXPECT_(EVENT_COUNT, n, __VA_ARGS__)
#define log_expect_span(path)          TEST_LOG_EXPECT_(SPAN, 0, path)
#define log_expect_no_span(path)       TEST_LOG_EXPECT_(NO_SPAN, 0, path)
#define log_expect_span_count(n, path) TEST_LOG_EXPECT_(SPAN_COUNT, n, path)
#define log_expect_span_entered(path)  TEST_LOG_EXPECT_(SPAN_ENTERED, 0, path)
#define log_expect_span_closed(path)   TEST_LOG_EXPECT_(SPAN_CLOSED, 0, path)
#define log_expect_span_shorter(seconds, path)                                 \
    TEST_LOG_EXPECT_(SPAN_SHORTER, seconds, path)
#define log_expect_span_longer(seconds, path)                                  \
    TEST_LOG_EXPECT_(SPAN_LONGER, seconds, path)
#define log_expect_instructions_at_most(n, path)                               \
    TEST_LOG_EXPECT_(INSTRUCTIONS_AT_MOST, n, path)

/* Without any level compiled in, expectations are compiled out, too. */
#if TRACE_KEEPS_ERROR
#    define TEST_LOG_TEXT_(text) text,
#    ifdef __cplusplus
extern "C++" {
template <size_t N> struct test_log_texts_ {
    const char *texts[N];
};
}
#        define TEST_LOG_TEXTS_(...)                                           \
            test_log_texts_<TRACE_COUNT_(__VA_ARGS__) + 1>{                    \
                {TRACE_EACH_(TEST_LOG_TEXT_, __VA_ARGS__) nullptr}}            \
                .texts
#    else
#        define TEST_LOG_TEXTS_(...)                                           \
            (const char *const[])                                              \
            {                                                                  \
                TRACE_LIST_(TRACE_EACH_(TEST_LOG_TEXT_, __VA_ARGS__) 0)        \
            }
#    endif
#    define TEST_LOG_EXPECT_(kind, number, ...)                                \
        TRACE_CHECKED_(TRACE_FEW_OK_(__VA_ARGS__),                             \
                       test_log_expect_(__FILE__, __LINE__,                    \
                                        LOG_EXPECTATION_##kind, number,        \
                                        TEST_LOG_TEXTS_(__VA_ARGS__)))
#else
#    define TEST_LOG_CHECK_(text) &&test_log_check_text_(text)
#    define TEST_LOG_EXPECT_(kind, number, ...)                                \
        ((void)(0 && TRACE_CHECKED_(TRACE_FEW_OK_(__VA_ARGS__),                \
                                    test_log_check_number_(number))            \
                         TRACE_EACH_(TEST_LOG_CHECK_, __VA_ARGS__)))
#endif

#endif

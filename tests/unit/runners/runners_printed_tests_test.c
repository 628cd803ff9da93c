/* runners_printed_tests_test.c: reads how tests end from what frameworks print.
 */
#include "runners/programs/frameworks.h"

#include <string.h>

#include <criterion/criterion.h>

#include "harness/run/model/model.h"

static const char output[] =
    "Running main() from gtest_main.cc\n"
    "[ RUN      ] Store.Passes\n"
    "[       OK ] Store.Passes (0 ms)\n"
    "[ RUN      ] Store.Fails\n"
    "/src/store.cpp:11: Failure\n"
    "Expected: 1\n"
    "no newline[  FAILED  ] Store.Fails, where GetParam() = 3 (0 ms)\n"
    "[ RUN      ] Some/Sizes.Skips/0\n"
    "[       OK ] Store.Passes (this is the test's own output)\n"
    "[  SKIPPED ] Some/Sizes.Skips/0 (0 ms)\n"
    "[ RUN      ] Store.Dies\n"
    "[ RUN      ] Store.Nested\n";

static void expect(const struct test_log_run *run, size_t number,
                   const char *name, enum test_log_outcome outcome)
{
    cr_assert_lt(number, run->count);
    cr_expect_str_eq(test_log_name(&run->results[number]), name);
    cr_expect_eq(run->results[number].outcome, outcome, "%s", name);
}

/* Output arrives in pieces of any size. */
Test(runners_printed_tests, reads_what_gtest_prints)
{
    for (size_t piece = 1; piece < sizeof(output); piece += 7) {
        struct test_log_run run = {.count = 0};
        struct printed_tests tests = {
            .results = &run, .program = "prog", .has_suites = true};

        for (size_t at = 0; at < strlen(output); at += piece)
            runners_printed_tests_read(&tests, output + at,
                                       strnlen(output + at, piece));
        cr_expect_eq(run.count, 4);
        expect(&run, 0, "Store/Passes", TEST_LOG_OUTCOME_PASSED);
        expect(&run, 1, "Store/Fails", TEST_LOG_OUTCOME_FAILED);
        cr_expect_str_eq(run.results[1].reason,
                         "/src/store.cpp:11: Expected: 1");
        expect(&run, 2, "Some/Sizes/Skips/0", TEST_LOG_OUTCOME_SKIPPED);
        expect(&run, 3, "Store/Dies", TEST_LOG_OUTCOME_NONE);
        cr_expect(tests.runs);
        runners_printed_tests_free(&tests);
        test_log_run_free(&run);
    }
}

/* GTEST_COLOR=yes colours the signs; a test may print much before them. */
Test(runners_printed_tests, finds_signs_in_any_line)
{
    static const size_t sizes[] = {0, 1020, 16380, 16400, 70000};

    for (size_t i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
        struct test_log_run run = {.count = 0};
        struct printed_tests tests = {
            .results = &run, .program = "prog", .has_suites = true};
        struct trace_text printed = {0};

        trace_text_string(&printed,
                          "\033[0;32m[ RUN      ] \033[mStore.Prints\n");
        for (size_t n = 0; n < sizes[i]; n++)
            trace_text_char(&printed, 'x');
        trace_text_string(&printed, "\033[0;32m[       OK ] \033[mStore.Prints "
                                    "(0 ms)\n[ RUN      ] Store.Dies\n");
        runners_printed_tests_read(&tests, printed.data, printed.size);
        expect(&run, 0, "Store/Prints", TEST_LOG_OUTCOME_PASSED);
        expect(&run, 1, "Store/Dies", TEST_LOG_OUTCOME_NONE);
        trace_text_free(&printed);
        runners_printed_tests_free(&tests);
        test_log_run_free(&run);
    }
}

Test(runners_printed_tests, survives_long_and_binary_lines)
{
    struct test_log_run run = {.count = 0};
    struct printed_tests tests = {
        .results = &run, .program = "prog", .has_suites = true};
    char line[4096];

    for (int i = 0; i < 100; i++) {
        memset(line, i, sizeof(line));
        runners_printed_tests_read(&tests, line, sizeof(line));
        runners_printed_tests_read(&tests, "\n[ RUN      ] a.b\n", 18);
    }
    cr_expect_eq(run.count, 1, "%zu", run.count);
    runners_printed_tests_free(&tests);
    test_log_run_free(&run);
}

/* With cmocka's older functions; failures are listed again at the end. */
Test(runners_printed_tests, reads_what_cmocka_prints)
{
    static const char printed[] = "[==========] Running 2 test(s).\n"
                                  "[ RUN      ] a.b\n"
                                  "0x1 != 0x2\n"
                                  "m.c:9: error: Failure![  FAILED  ] a.b\n"
                                  "[ RUN      ] a.b\n"
                                  "[       OK ] a.b\n"
                                  "[==========] 2 test(s) run.\n"
                                  "[  FAILED  ] a.b\n";
    struct test_log_run run = {.count = 0};
    struct printed_tests tests = {.results = &run, .program = "prog"};

    runners_printed_tests_read(&tests, printed, strlen(printed));
    cr_expect_eq(run.count, 2);
    expect(&run, 0, "prog/a.b", TEST_LOG_OUTCOME_FAILED);
    cr_expect_str_eq(run.results[0].reason, "m.c:9: 0x1 != 0x2");
    expect(&run, 1, "prog/a.b", TEST_LOG_OUTCOME_PASSED);
    cr_expect(tests.ended);
    runners_printed_tests_free(&tests);
    test_log_run_free(&run);
}

Test(runners_printed_tests, counts_the_runners_of_check)
{
    static const char printed[] = "Running suite(s): a\n b\n"
                                  "50%: Checks: 4, Failures: 1, Errors: 1\n"
                                  "Running suite(s): c\n";
    struct test_log_run run = {.count = 0};
    struct printed_tests tests = {.results = &run, .program = "prog"};

    runners_printed_tests_read(&tests, printed, strlen(printed));
    cr_expect_eq(tests.check.begun, 2);
    cr_expect_eq(tests.check.ended, 1);
    cr_expect_eq(tests.check.bad, 2);
    runners_printed_tests_free(&tests);
}

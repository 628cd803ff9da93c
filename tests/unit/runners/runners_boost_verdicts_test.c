/* runners_boost_verdicts_test.c: corrects results by Boost.Test's own report.
 */
#include "runners/programs/frameworks.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/run/model/model.h"
#include "tests/support/support.h"

static const char report[] =
    "<TestResult><TestSuite name=\"p\" result=\"failed\"><TestCase name=\"a "
    "b\" "
    "result=\"passed\"/><TestSuite name=\"outer\"><TestSuite name=\"in:ner\">"
    "<TestCase name=\"expected\" result=\"passed\"/><TestCase name=\"late\" "
    "result=\"timed-out\"/><TestCase name=\"skips\" result=\"passed\"/>"
    "</TestSuite><TestSuite name=\"v1.2\"><TestCase name=\"dots\" "
    "result=\"passed\"/></TestSuite>"
    "<TestCase name=\"expected\" result=\"failed\"/></TestSuite>"
    "<TestCase name=\"expected\" result=\"passed\"/><TestCase/></TestSuite>"
    "</TestResult>";

static const struct {
    const char *suite, *test;
    enum test_log_outcome before, after;
} rows[] = {
    {"outer.in_ner", "late", TEST_LOG_OUTCOME_FAILED, TEST_LOG_OUTCOME_TIMEOUT},
    {"prog", "a_b", TEST_LOG_OUTCOME_FAILED, TEST_LOG_OUTCOME_PASSED},
    {"outer.in_ner", "expected", TEST_LOG_OUTCOME_FAILED,
     TEST_LOG_OUTCOME_PASSED},
    {"outer.in_ner", "skips", TEST_LOG_OUTCOME_SKIPPED,
     TEST_LOG_OUTCOME_SKIPPED},
    {"outer", "expected", TEST_LOG_OUTCOME_FAILED, TEST_LOG_OUTCOME_FAILED},
    {"outer.v1.2", "dots", TEST_LOG_OUTCOME_FAILED, TEST_LOG_OUTCOME_PASSED},
    {"other", "expected", TEST_LOG_OUTCOME_FAILED, TEST_LOG_OUTCOME_FAILED},
    {"prog", "expected", TEST_LOG_OUTCOME_CRASHED, TEST_LOG_OUTCOME_CRASHED},
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

/* Corrects the results of all rows by the first `size` bytes of a report. */
static struct test_log_run corrected(const char *text, size_t size)
{
    struct test_log_run run = {.count = 0};
    FILE *in = fmemopen((void *)(uintptr_t)text, size, "r");

    cr_assert_not_null(in);
    for (size_t i = 0; i < ROWS; i++) {
        struct test_log_result *result = test_log_run_add(&run);

        cr_assert_not_null(result);
        result->suite = strdup(rows[i].suite);
        result->test = strdup(rows[i].test);
        result->outcome = rows[i].before;
    }
    runners_framework_correct(&run, in, "prog");
    fclose(in);
    return run;
}

Test(runners_boost_verdicts, expected_failures_pass)
{
    struct test_log_run run = corrected(report, strlen(report));

    for (size_t i = 0; i < ROWS; i++)
        cr_expect_eq(run.results[i].outcome, rows[i].after, "%s/%s",
                     rows[i].suite, rows[i].test);
    test_log_run_free(&run);
}

/* What is not read changes nothing. */
Test(runners_boost_verdicts, a_report_may_end_anywhere)
{
    for (size_t size = 1; size < strlen(report); size++) {
        struct test_log_run run = corrected(report, size);

        for (size_t i = 0; i < ROWS; i++)
            cr_expect(run.results[i].outcome == rows[i].before ||
                      run.results[i].outcome == rows[i].after);
        test_log_run_free(&run);
    }
}

/* Names of any length, in suites of any depth. */
Test(runners_boost_verdicts, long_names_are_cut)
{
    static char text[1 << 18];
    size_t size = 0;
    struct test_log_run run;

    for (int i = 0; i < 200; i++)
        size += (size_t)snprintf(text + size, sizeof(text) - size,
                                 "<TestSuite name=\"%0*d\">", 1000, i);
    snprintf(text + size, sizeof(text) - size,
             "<TestCase name=\"expected\" result=\"passed\"/>");
    run = corrected(text, strlen(text));
    for (size_t i = 0; i < ROWS; i++)
        cr_expect_eq(run.results[i].outcome, rows[i].before);
    test_log_run_free(&run);
}

Test(runners_boost_verdicts, damaged_bytes_do_no_harm)
{
    char *text = strdup(report);
    size_t size = strlen(text);

    srand(1);
    for (int i = 0; i < 3000; i++) {
        size_t at = (size_t)rand() % size;
        char before = text[at];
        struct test_log_run run;

        text[at] = (char)rand();
        run = corrected(text, size);
        test_log_run_free(&run);
        text[at] = before;
    }
    free(text);
}

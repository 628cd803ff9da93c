/* harness_progress_test.c: the text of the status line. */
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/progress.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/options/options.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

enum { SECOND = 1000000000 };

static struct test_log_result results[3];
static struct test_log_job jobs[3];
static struct test_log_run run = {.results = results, .count = 3};
static struct test_log_others others;
static struct test_log_history last;
static struct test_log_options options;
static struct test_log_runner runner = {.options = &options,
                                        .history = &last,
                                        .run = &run,
                                        .jobs = jobs,
                                        .job_count = 3};
static size_t width;
static struct trace_text text;

static void begin(void)
{
    static const char *const names[] = {"a", "b", "c"};

    for (size_t i = 0; i < 3; i++) {
        results[i].program = (char *)"p";
        results[i].suite = (char *)"s";
        results[i].test = (char *)names[i];
        jobs[i].result = &results[i];
    }
    results[0].outcome = TEST_LOG_OUTCOME_FAILED;
    jobs[1].started = SECOND;
    jobs[1].running = true;
    width = 200;
}

TestSuite(harness_progress, .init = begin);

static void expect_line(size_t at_once, const char *line)
{
    trace_text_clear(&text);
    options.jobs = at_once;
    test_log_progress_line(&text, &runner, &others, 2 * (uint64_t)SECOND,
                           width);
    cr_expect_str_eq(text.data, line);
}

Test(harness_progress, counts_tests_and_names_running_ones)
{
    expect_line(1, "[1/3, 1 failed]: s/b 1.0 s");
    jobs[2].running = true;
    jobs[2].started = SECOND;
    results[0].outcome = TEST_LOG_OUTCOME_SKIPPED;
    expect_line(1, "[1/3]: s/b 1.0 s, s/c 1.0 s");
}

/* The first `count` tests took 2, 4 and 6 s. */
static void remember(unsigned count)
{
    static const char *const names[] = {"s/a", "s/b", "s/c"};

    last.path = (char *)"";
    for (unsigned i = 0; i < count; i++) {
        struct test_log_past *past = test_log_history_add(&last, "p", names[i]);

        cr_assert_not_null(past);
        past->outcome = TEST_LOG_OUTCOME_PASSED;
        past->duration = 2 * (i + 1) * (uint64_t)SECOND;
    }
}

Test(harness_progress, estimates_the_time_left_by_the_last_run)
{
    remember(3);
    expect_line(1, "[1/3, 1 failed] about 9 s left: s/b 1.0 s");
    expect_line(3, "[1/3, 1 failed] about 3 s left: s/b 1.0 s");
}

Test(harness_progress, estimates_no_time_for_unknown_tests)
{
    remember(1);
    expect_line(1, "[1/3, 1 failed]: s/b 1.0 s");
}

Test(harness_progress, counts_other_programs)
{
    remember(3);
    others = (struct test_log_others){10, 2, 5, 11 * (uint64_t)SECOND, 2, 4};
    expect_line(2, "[11/18, 3 failed, program 2/4] about 10 s left: s/b 1.0 s");
}

Test(harness_progress, cuts_the_line_to_the_terminal)
{
    width = 9;
    expect_line(1, "[1/3, 1 f");
}

/* runners_status_line_test.c: the text of the status line of `testlog run`. */
#include "harness/run/model/model.h"
#include "runners/run/run.h"

#include <criterion/criterion.h>

#include "tests/support/support.h"

#define SECOND UINT64_C(1000000000)

static struct test_log_result results[] = {
    {.outcome = TEST_LOG_OUTCOME_PASSED}, {.outcome = TEST_LOG_OUTCOME_FAILED}};
static struct test_log_run run = {.results = results, .count = 2};
static struct program all[] = {
    {.name = (char *)"ended", .state = PROGRAM_ENDED, .tests = 2},
    {.name = (char *)"one",
     .state = PROGRAM_RUNNING,
     .tests = 10,
     .time = 9 * SECOND,
     .jobs = 1,
     .started = SECOND},
    {.name = (char *)"two", .tests = 5, .time = 4 * SECOND},
};
static struct programs programs = {.all = all, .count = 3};
static struct schedule schedule = {
    .run = &run, .programs = &programs, .limit = 2};

static void expect_line(const char *line)
{
    struct trace_text text = {0};

    runners_status_text(&text, &schedule, 2 * SECOND);
    cr_expect_str_eq(text.data, line);
    trace_text_free(&text);
}

Test(runners_status_line, counts_tests_and_programs)
{
    all[1].child.handover.tests = 3;
    expect_line("[5/17, 1 failed, 1/3 programs] about 6 s left: one 1.0 s");
    all[2].state = PROGRAM_RUNNING;
    all[2].jobs = 1;
    all[2].started = SECOND / 2;
    expect_line(
        "[5/17, 1 failed, 1/3 programs] about 6 s left: one 1.0 s, two 1.5 s");
}

Test(runners_status_line, estimates_no_time_for_unknown_programs)
{
    results[1].outcome = TEST_LOG_OUTCOME_PASSED;
    all[1].tests = all[2].tests = 0;
    all[1].time = all[2].time = 0;
    expect_line("[2/2, 1/3 programs]: one 1.0 s");
}

Test(runners_status_line, counts_more_tests_than_last_time)
{
    results[1].outcome = TEST_LOG_OUTCOME_PASSED;
    all[1].child.handover.tests = 12;
    expect_line("[14/19, 1/3 programs] about 6 s left: one 1.0 s");
}

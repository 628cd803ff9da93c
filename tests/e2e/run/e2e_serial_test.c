/* e2e_serial_test.c: tests that run with no other test beside them. */
#include "tests/support/e2e.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_serial, .init = e2e_begin, .timeout = 300);

#define ALONE "[test serial/alone]\nserial = 1\n"

/* Runs a command with a testlog.conf. */
static const struct e2e *run(int code, const char *settings,
                             const char *command)
{
    FILE *file = fopen("testlog.conf", "we");

    cr_assert_not_null(file);
    fputs(settings, file);
    cr_assert_eq(fclose(file), 0);
    return e2e_exits(code, "rm -f notes; export P=%s; %s",
                     e2e_program("serial", E2E_TRACED), command);
}

/* Returns what the tests noted: "(" and ")" for those that may run side by
 * side, a digit and "!" for the others, which nothing may come between. */
static const char *expect_alone(void)
{
    const char *notes = e2e_read("notes");

    for (const char *at = notes; *at; at++)
        if (isdigit((unsigned char)*at))
            cr_expect_eq(at[1], '!', "%s", notes);
    return notes;
}

Test(e2e_serial, runs_serial_tests_one_by_one_after_all_others)
{
    const struct e2e *result = run(0, ALONE, "$P -j4");

    e2e_expect_is(e2e_last(result->out), "7 passed, 0 failed, 0 skipped");
    e2e_expect_is(strchr(expect_alone(), '0'), "0!1!2!");
}

Test(e2e_serial, runs_serial_tests_if_there_are_no_others)
{
    run(0, ALONE, "$P -j4 --filter=serial/alone");
    e2e_expect_is(e2e_read("notes"), "0!1!2!");
}

Test(e2e_serial, runs_all_tests_one_by_one_with_the_flag)
{
    run(0, "", "$P -j4 --serial");
    cr_expect_eq(e2e_count(expect_alone(), "()"), 4);
    run(0, "serial = 1\n", "$P -j4");
    cr_expect_eq(e2e_count(expect_alone(), "()"), 4);
}

Test(e2e_serial, applies_the_last_section_that_matches)
{
    run(0,
        "[profile ci test serial/alone]\nserial = 1\n"
        "[test serial/any]\nserial = 1\n"
        "[test serial/any*]\nserial = 0\n",
        "$P -j4 --profile=ci");
    e2e_expect_is(strchr(expect_alone(), '0'), "0!1!2!");
}

Test(e2e_serial, retries_serial_tests_one_by_one)
{
    const struct e2e *result =
        run(1, ALONE, "SERIAL_FAILS=alone $P -j4 --retries=2");

    e2e_expect_is(e2e_last(result->out), "6 passed, 1 failed, 0 skipped");
    e2e_expect_is(strchr(expect_alone(), '0'), "0!1!2!1!1!");
    result = run(1, ALONE, "SERIAL_FAILS=any $P -j4 --retries=1");
    e2e_expect_is(e2e_last(result->out), "6 passed, 1 failed, 0 skipped");
    e2e_expect_is(strchr(expect_alone(), '0'), "0!1!2!()");
}

Test(e2e_serial, leaves_serial_tests_out_after_a_failure)
{
    const struct e2e *result =
        run(1, ALONE, "SERIAL_FAILS=alone $P -j4 --fail-fast");

    e2e_expect_is(e2e_last(result->out), "5 passed, 1 failed, 1 skipped");
    e2e_expect_is(strchr(expect_alone(), '0'), "0!1!");
    result = run(1, ALONE, "SERIAL_FAILS=any $P -j1 --fail-fast");
    e2e_expect_is(e2e_last(result->out), "1 passed, 1 failed, 5 skipped");
    e2e_expect_is(e2e_read("notes"), "()()");
}

Test(e2e_serial, keeps_all_tests_in_reports_of_criterion)
{
    run(0, ALONE, "$P -j4 --xml=report.xml");
    expect_alone();
    cr_expect_eq(e2e_count(e2e_read("report.xml"), "<testcase"), 7);
}

Test(e2e_serial, keeps_tests_of_other_programs_away)
{
    const struct e2e *result = run(0, ALONE, TESTLOG " run $P $P $P -- -j4");

    e2e_expect_is(e2e_last(result->out), "21 passed, 0 failed, 0 skipped");
    expect_alone();
}

Test(e2e_serial, keeps_all_programs_away_with_the_flag)
{
    run(0, "", TESTLOG " run $P $P -- -j4 --serial");
    cr_expect_eq(e2e_count(expect_alone(), "()"), 8);
}

/* A program waits for its turn, until the run is stopped. */
Test(e2e_serial, stops_waiting_when_the_run_is_stopped)
{
    run(124, ALONE,
        "mkdir -p run/tests; flock run/tests sh -c 'TESTLOG_RUN=$PWD/run "
        "timeout -s INT 2 $P --filter=serial/alone'");
    cr_expect_not(e2e_exists("notes"));
    cr_expect_eq(
        e2e_number(e2e_json("run/tests/serial_test/run.json"), "skipped"), 3);
}

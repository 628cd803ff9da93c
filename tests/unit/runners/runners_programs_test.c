/* runners_programs_test.c: names programs, and recalls their tests from the
 * last run. */
#include "harness/run/past/history.h"
#include "runners/run/run.h"

#include <stdlib.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct programs programs;

static void make(char **paths, size_t count)
{
    cr_assert_eq(runners_programs_make(&programs, paths, count), 0);
}

static void end(void)
{
    runners_programs_free(&programs);
}

TestSuite(runners_programs, .fini = end);

static void expect_names(char **paths, const char *const *names, size_t count)
{
    make(paths, count);
    for (size_t i = 0; i < count; i++)
        cr_expect_str_eq(programs.all[i].name, names[i]);
}

Test(runners_programs, gives_each_program_a_unique_name)
{
    static char *paths[] = {(char *)"a/x", (char *)"b/x", (char *)"y",
                            (char *)"x"};
    static const char *const names[] = {"x", "x~2", "y", "x~3"};

    expect_names(paths, names, 4);
}

Test(runners_programs, avoids_names_of_other_programs)
{
    static char *paths[] = {(char *)"a/x", (char *)"b/x", (char *)"x~2"};
    static const char *const names[] = {"x", "x~2", "x~2~2"};

    expect_names(paths, names, 3);
}

Test(runners_programs, passes_the_flags_after_the_path)
{
    static char *flags[] = {(char *)"-j2", (char *)"--quiet"};
    char **argv;

    programs.flags = flags;
    programs.flag_count = 2;
    argv = runners_programs_argv(&programs, (char *)"./x");
    cr_assert_not_null(argv);
    cr_expect_str_eq(argv[0], "./x");
    cr_expect_str_eq(argv[1], "-j2");
    cr_expect_str_eq(argv[2], "--quiet");
    cr_expect_null(argv[3]);
    free(argv);
}

Test(runners_programs, marks_serial_programs_by_name_or_path)
{
    static char *paths[] = {(char *)"a/net_test", (char *)"b/net_test",
                            (char *)"a/log_test"};

    make(paths, 3);
    cr_expect_eq(runners_programs_mark_serial(&programs, "nothing"), 0);
    cr_expect_eq(runners_programs_mark_serial(&programs, "b/*"), 1);
    cr_expect_not(programs.all[0].serial);
    cr_expect(programs.all[1].serial);
    cr_expect_eq(runners_programs_mark_serial(&programs, "net_*"), 2);
    cr_expect(programs.all[0].serial);
    cr_expect_not(programs.all[2].serial);
}

/* ---- The history ---- */

static struct test_log_past past[] = {
    {.outcome = TEST_LOG_OUTCOME_PASSED,
     .duration = 20,
     .program = (char *)"good",
     .name = (char *)"s/a"},
    {.outcome = TEST_LOG_OUTCOME_PASSED,
     .duration = 30,
     .program = (char *)"good",
     .name = (char *)"s/b"},
    {.outcome = TEST_LOG_OUTCOME_FAILED,
     .duration = 5,
     .program = (char *)"bad",
     .name = (char *)"s/a"},
};
static const struct test_log_history last = {
    .path = (char *)"run", .tests = past, .count = 3};
static char *known[] = {(char *)"good", (char *)"bad", (char *)"new"};

Test(runners_programs, recalls_tests_and_their_duration)
{
    make(known, 3);
    runners_programs_recall(&programs, &last, false);
    cr_expect_eq(programs.all[0].tests, 2);
    cr_expect_eq(programs.all[0].time, 50);
    cr_expect_not(programs.all[0].failed);
    cr_expect(programs.all[1].failed);
    cr_expect_eq(programs.all[2].tests, 0);
    cr_expect_eq(runners_programs_in(&programs, PROGRAM_WAITING), 3);
}

Test(runners_programs, leaves_out_programs_that_passed)
{
    make(known, 3);
    runners_programs_recall(&programs, &last, true);
    cr_expect_eq(programs.all[0].state, PROGRAM_LEFT_OUT);
    cr_expect_eq(runners_programs_in(&programs, PROGRAM_WAITING), 2);
}

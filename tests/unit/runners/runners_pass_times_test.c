/* runners_pass_times_test.c: how long the passes of tests took. */
#include "runners/diff/pass_times.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "harness/run/past/outcomes.h"
#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct pass_times times;
static struct test_log_run run;

static void end(void)
{
    runners_pass_times_free(&times);
    test_log_run_free(&run);
}

TestSuite(runners_pass_times, .init = test_folder, .fini = end);

static struct test_log_result *add(const char *name,
                                   enum test_log_outcome outcome, uint64_t time)
{
    struct test_log_result *result =
        runs_add_result(&run, "program", name, outcome, NULL);

    result->duration = time;
    return result;
}

static const struct test_times *test(void)
{
    return runners_pass_times_of(&times,
                                 runners_test_key("program", "suite/test"));
}

Test(runners_pass_times, repetitions_are_one_test)
{
    add("test#1", TEST_LOG_OUTCOME_PASSED, 30);
    add("test#2", TEST_LOG_OUTCOME_PASSED, 20);
    add("other", TEST_LOG_OUTCOME_PASSED, 10);
    cr_assert_eq(runners_pass_times_add_run(&times, 1, &run, 0), 0);
    cr_assert_not_null(test());
    cr_expect_eq(test()->sides[0].count, 0);
    cr_expect_eq(test()->sides[1].count, 2);
    cr_expect_eq(test()->least[1], 20);
    cr_expect_eq(test()->most[1], 30);
    cr_expect_eq(test()->sides[1].groups, 1);
}

Test(runners_pass_times, a_test_that_does_not_pass_has_none)
{
    add("test", TEST_LOG_OUTCOME_FAILED, 30);
    add("test", TEST_LOG_OUTCOME_SKIPPED, 30);
    cr_assert_eq(runners_pass_times_add_run(&times, 1, &run, 0), 0);
    cr_expect_null(test());
}

/* The folder may exist. */
static void make(const char *name)
{
    cr_assert(!mkdir(test_path(name), 0700) || errno == EEXIST, "%s", name);
}

/* Writes outcomes of three runs beside the run "now", and remembers them. */
static size_t remembered(const char *flavour, const char *const *names,
                         size_t count)
{
    FILE *file;

    make("runs");
    make("runs/.history");
    make("runs/now");
    file = fopen(test_path("runs/.history/program.outcomes"), "we");
    cr_assert_not_null(file);
    fputs("run\t2026-11-20T00-00-00.000001\tgcc\t-\t-\n"
          "test\t0\tsuite/test\n"
          "passed\t0\t1\t100\n"
          "run\t2026-11-21T00-00-00.000001\tclang\t-\t-\n"
          "passed\t0\t1\t200\n"
          "run\t2026-11-22T00-00-00.000001\tgcc\t-\t-\n"
          "failed\t0\t1\t300\twhy\n"
          "passed\t0\t2\t400\n",
          file);
    cr_assert_eq(fclose(file), 0);
    end();
    run.path = strdup(test_path("runs/now"));
    add("test", TEST_LOG_OUTCOME_PASSED, 1)->flavour =
        flavour ? strdup(flavour) : NULL;
    cr_assert_eq(runners_pass_times_remember(&times, &run, names, count), 0);
    return test() ? test()->sides[0].count : 0;
}

Test(runners_pass_times, remembers_earlier_passes_of_the_flavour)
{
    const char *both[] = {"2026-11-22T00-00-00.000001",
                          "2026-11-23T00-00-00.000001"};

    cr_expect_eq(remembered("gcc", &both[1], 1), 2);
    cr_expect_eq(test()->most[0], 400);
    cr_expect_eq(test()->sides[0].groups, 2);
    cr_expect_eq(remembered("gcc", both, 2), 1, "not of the old run itself");
    cr_expect_eq(test()->most[0], 100);
    cr_expect_eq(remembered("clang", &both[1], 1), 1);
    cr_expect_eq(remembered(NULL, &both[1], 1), 3);
    cr_expect_eq(remembered("tcc", &both[1], 1), 0);
}

Test(runners_pass_times, a_run_whose_name_is_no_time_is_after_all)
{
    const char *name = "1-main";

    cr_expect_eq(remembered("gcc", &name, 1), 2);
}

Test(runners_pass_times, works_without_a_history)
{
    const char *name = "now";

    make("now");
    run.path = strdup(test_path("now"));
    add("test", TEST_LOG_OUTCOME_PASSED, 1);
    cr_expect_eq(runners_pass_times_remember(&times, &run, &name, 1), 0);
    cr_expect_null(test());
}

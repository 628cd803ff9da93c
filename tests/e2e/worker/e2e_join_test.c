/* e2e_join_test.c: programs that a test starts. */
#include "tests/support/e2e.h"

#include <stdio.h>

E2E_FOLDER

TestSuite(e2e_join, .init = e2e_begin, .timeout = 300);

static const char *log_of(const char *test)
{
    return e2e_read("testlog-runs/latest/tests/starter_test/starter.%s/log.txt",
                    test);
}

static const struct e2e *run(const char *variables, const char *flags)
{
    return e2e_run("HELPER=%s %s %s %s", e2e_program("helper", E2E_TRACED),
                   variables, e2e_program("starter", E2E_TRACED), flags);
}

/* Criterion's constructor took these programs for workers, and they died of
 * SIGABRT. */
Test(e2e_join, runs_started_programs_not_as_workers)
{
    const struct e2e *result =
        e2e_run("HELPER=%s %s", e2e_program("helper", E2E_PLAIN),
                e2e_program("starter", E2E_PLAIN));

    cr_expect_str_eq(e2e_last(result->out), "2 passed, 0 failed, 1 skipped");
}

Test(e2e_join, records_started_programs_into_the_test)
{
    e2e_expect_closing(run("LOG=debug", ""), "2 passed, 0 failed, 1 skipped");
    e2e_expect_has(
        log_of("forks_and_executes"), ": the child logs\n",
        "DEBUG helping{with=\"exec\"}: programs::helper: the helper logs\n",
        ": the helper has ended\n");
    e2e_expect_has(
        log_of("spawns"),
        "DEBUG helping{with=\"spawn\"}: programs::helper: the helper "
        "logs\n");
}

Test(e2e_join, puts_spans_of_started_programs_into_the_trace)
{
    run("LOG=debug", "");
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/starter_test/"
                            "starter.spawns/trace.json"),
                   "\"name\":\"helping\"");
}

/* A nested run has its own recordings. */
Test(e2e_join, gives_nested_test_programs_their_own_run)
{
    char variables[PATH_MAX];
    const struct e2e *result;

    snprintf(variables, sizeof(variables),
             "TESTS='env -u TESTS %s --trace-dir=inner'",
             e2e_program("starter", E2E_TRACED));
    result = run(variables, "--filter starter/runs_tests");
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    e2e_expect_lacks(log_of("runs_tests"), "helper");
    e2e_expect_has(e2e_run("cat inner/*/tests/starter_test/starter.spawns/"
                           "trace.json")
                       ->out,
                   "\"name\":\"helping\"");
}

/* A name that is not a recording, or a recording of no process, changes
 * nothing. */
Test(e2e_join, ignores_names_that_are_not_recordings)
{
    const char *helper = e2e_program("helper", E2E_TRACED);

    e2e_exits(0,
              "echo nothing >file; mkfifo fifo; for r in file fifo /dev/zero "
              "nowhere .; do TESTLOG_RECORDING=$r %s || exit 1; done",
              helper);
}

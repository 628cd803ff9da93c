/* e2e_join_test.c: programs that tests start. */
#include "e2e.h"

#include <stdio.h>

E2E_FOLDER

TestSuite(e2e_join, .init = e2e_begin, .timeout = 180);

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

/* Criterion's constructor took them for workers, and they died of SIGABRT. */
Test(e2e_join, programs_that_a_test_starts_are_no_workers)
{
    const struct e2e *result =
        e2e_run("HELPER=%s %s", e2e_program("helper", E2E_PLAIN),
                e2e_program("starter", E2E_PLAIN));

    cr_expect_str_eq(e2e_last(result->out), "2 passed, 0 failed, 1 skipped");
}

Test(e2e_join, annotated_programs_record_into_the_test_that_starts_them)
{
    const struct e2e *result = run("LOG=debug", "");

    e2e_expect_closing(result, "2 passed, 0 failed, 1 skipped");
    e2e_expect_has(log_of("forks_and_executes"), ": the child logs\n");
    e2e_expect_has(log_of("forks_and_executes"),
                   "DEBUG helping{with=\"exec\"}: programs::helper: the helper "
                   "logs\n");
    e2e_expect_has(log_of("forks_and_executes"), ": the helper has ended\n");
    e2e_expect_has(
        log_of("spawns"),
        "DEBUG helping{with=\"spawn\"}: programs::helper: the helper "
        "logs\n");
}

Test(e2e_join, their_spans_are_in_the_trace)
{
    run("LOG=debug", "");
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/starter_test/"
                            "starter.spawns/trace.json"),
                   "\"name\":\"helping\"");
}

/* Such a run has recordings of its own. */
Test(e2e_join, test_programs_in_a_test_have_runs_of_their_own)
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

/* The name of a recording that is none, or nobody's, changes nothing. */
Test(e2e_join, programs_join_nothing_else)
{
    const char *helper = e2e_program("helper", E2E_TRACED);

    e2e_expect_code(e2e_run("echo nothing >file; mkfifo fifo; for r in file "
                            "fifo /dev/zero nowhere .; do "
                            "TESTLOG_RECORDING=$r %s || exit 1; done",
                            helper),
                    0);
}

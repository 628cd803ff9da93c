/* e2e_times_test.c: how long a run and its tests took. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_times, .init = e2e_begin, .timeout = 300);

Test(e2e_times, prints_the_time_of_the_run)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_expect_has(e2e_run("%s other", small)->err, "\ntime: ");
    e2e_expect_has(e2e_run(BUILD_DIR "/testlog run %s -- other", small)->err,
                   "\ntime: ");
}

/* Its test takes a second. */
Test(e2e_times, run_json_has_the_time_of_the_run)
{
    const char *times = e2e_program("times", E2E_TRACED);

    e2e_run("%s", times);
    cr_expect_geq(e2e_number(e2e_run_json(), "duration_ns"), 1e9);
    e2e_run(BUILD_DIR "/testlog run %s", times);
    cr_expect_geq(e2e_number(e2e_run_json(), "duration_ns"), 1e9);
}

Test(e2e_times, durations_lists_the_slowest_tests)
{
    const char *small = e2e_program("small", E2E_TRACED);
    const struct e2e *result = e2e_run("%s --durations=2", small);

    e2e_expect_has(result->err, "\nslowest:\n    ");
    cr_expect_eq(
        e2e_count(e2e_between(result->err, "slowest:\n", "time: "), " s\n"), 2,
        "%s", result->err);
    e2e_expect_lacks(e2e_run("%s", small)->err, "slowest:");
    e2e_exits(2, "%s --durations=some", small);
}

/* The test takes a second. */
static const char *run_after(const char *times, const char *flags)
{
    e2e_run("mkdir -p testlog-runs/.history && printf 'passed\\t1\\t%s\\t"
            "times/sleeps\\n' >testlog-runs/.history/times_test.tsv",
            times);
    return e2e_run("%s %s", e2e_program("times", E2E_TRACED), flags)->err;
}

Test(e2e_times, marks_a_test_that_is_slower_than_its_last_passes)
{
    static const char mark[] =
        "s (slower than its last 5 passes, of at most 0.30 s)\n";
    const char *fast = "100000000,300000000,200000000,100000000,100000000";

    e2e_expect_has(run_after(fast, ""),
                   "\nslower than before:\n    times/sleeps: ", mark);
    e2e_expect_has(run_after(fast, "--durations=1"), mark);
    e2e_expect_lacks(run_after("100000000,100000000,100000000,100000000", ""),
                     "slower than");
    e2e_expect_lacks(run_after("100000000,100000000,100000000,100000000,"
                               "900000000000",
                               ""),
                     "slower than");
}

/* ---- While they run ---- */

static void sleeping(void)
{
    e2e_run("printf '#!/bin/sh\necho early\nsleep 0.7\n' >sleeps; "
            "printf '#!/bin/sh\nexit 0\n' >other; chmod +x sleeps other; "
            "printf '[program *]\nkind = exit\n' >testlog.conf");
}

/* It is printed before what the program has printed earlier. */
Test(e2e_times, names_a_slow_test_while_it_runs)
{
    const struct e2e *result;

    sleeping();
    result = e2e_run("'" BUILD_DIR "/testlog' run --slow=0.2 --show-output "
                     "./sleeps ./other 2>&1");
    e2e_expect_has(result->out,
                   "testlog: slow: ./sleeps has been running for more than "
                   "0.2 s; --timeout=SECONDS ends such tests\n");
    cr_expect_lt(strstr(result->out, "testlog: slow: "),
                 strstr(result->out, "early\n"));
    cr_expect_eq(e2e_count(result->out, "testlog: slow: "), 1);
    result = e2e_run("'" BUILD_DIR "/testlog' run --slow=0 ./sleeps ./other");
    e2e_expect_lacks(result->err, "slow");
}

/* Criterion's tests are named by the program, whose output is captured. */
Test(e2e_times, names_a_slow_test_of_a_captured_program)
{
    const char *slow = e2e_program("slow", E2E_TRACED);
    const struct e2e *result =
        e2e_run("'" BUILD_DIR "/testlog' run --slow=0.1 '%s' '%s' 2>&1", slow,
                e2e_program("small", E2E_TRACED));

    e2e_expect_has(result->out, "testlog: slow: ");
    e2e_expect_has(result->out, " has been running for more than 0.1 s; ");
}

/* e2e_tracees_test.c: tests that ask to be traced. Criterion alone never ends
 * such a run. */
#include "tests/support/e2e.h"

#include <string.h>

E2E_FOLDER

TestSuite(e2e_tracees, .init = e2e_begin, .timeout = 300);

Test(e2e_tracees, times_out_tests_that_are_stopped)
{
    const struct e2e *run = e2e_run("%s -j5 --filter '!(*long)'",
                                    e2e_program("tracees", E2E_TRACED));
    const cJSON *json;

    if (strstr(run->err, "no ptrace here"))
        cr_skip_test("ptrace is forbidden");
    e2e_expect_code(run, 1);
    e2e_expect_closing(run, "2 passed, 3 failed, 0 skipped");
    json = e2e_run_json();
    e2e_expect_is(e2e_text(e2e_result(json, "tracees/signal"), "outcome"),
                  "timeout");
    e2e_expect_is(e2e_text(e2e_result(json, "tracees/stop"), "outcome"),
                  "timeout");
    e2e_expect_is(e2e_text(e2e_result(json, "tracees/crash"), "outcome"),
                  "timeout");
}

Test(e2e_tracees, can_be_interrupted)
{
    const struct e2e *run = e2e_run(
        "%s --filter tracees/stop_for_long & run=$!; "
        "until grep -qs tracees testlog-runs/latest/tests/*/*/recording; "
        "do sleep 0.1; done; sleep 0.3; kill -TERM $run; wait $run",
        e2e_program("tracees", E2E_TRACED));

    cr_expect_eq(run->code, 128 + 15, "%d: %s", run->code, run->err);
}

/* e2e_leaving_test.c: processes that a test starts and leaves: what ends them,
 * names them, or fails the test. */
#include "tests/support/e2e.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

/* Ends what a test of ours has left. */
static void end(void)
{
    FILE *file = fopen("pids", "re");
    int pid;

    while (file && fscanf(file, "%d", &pid) == 1)
        if (pid > 1)
            kill(pid, SIGKILL);
    if (file)
        fclose(file);
}

TestSuite(e2e_leaving, .init = e2e_begin, .fini = end, .timeout = 300);

static const char *program(void)
{
    return e2e_program("leaving", E2E_TRACED);
}

/* How many of the processes are alive, not zombies. */
#define ALIVE                                                                  \
    "n=0; for p in $(cat pids); do grep -q '^State:.[^Z]' /proc/$p/status "    \
    "2>/dev/null && n=$((n + 1)); done; echo alive: $n"

/* Also one that ignores SIGTERM, one with a session of its own, and a program
 * of such a one. */
Test(e2e_leaving, ends_all_processes_of_a_test_that_timed_out)
{
    const struct e2e *run =
        e2e_run("%s --filter '*/hangs' --stacks=off; " ALIVE, program());

    e2e_expect_has(run->out, "alive: 0\n");
    e2e_expect_has(run->err,
                   "testlog: leaving/hangs: ending 4 processes that it "
                   "started: ");
    e2e_expect_is(e2e_text(e2e_latest("leaving/hangs"), "outcome"), "timeout");
}

Test(e2e_leaving, leaves_them_if_asked)
{
    const struct e2e *run =
        e2e_run("%s --filter '*/hangs' --stacks=off --leave-children; " ALIVE,
                program());

    e2e_expect_has(run->out, "alive: 4\n");
    e2e_expect_lacks(run->err, "ending");
}

/* The process that ends may be another test's. */
Test(e2e_leaving, spares_other_tests)
{
    const struct e2e *run = e2e_run(
        "(TRACE_DIR=other %s --filter '*/hangs' --stacks=off >/dev/null 2>&1; "
        "touch done) & %s --filter '*/sees_no_difference'; wait; ls done",
        program(), program());

    e2e_expect_has(run->out, "1 passed, 0 failed");
}

Test(e2e_leaving, changes_nothing_for_the_tested_code)
{
    const struct e2e *run = e2e_run(
        "%s --filter '*/sees_no_difference'; "
        "(sh -c 'sleep 0.2; read a b c p d </proc/$$/stat; echo $p >bare' &); "
        "until [ -s bare ]; do sleep 0.01; done; cmp orphan bare",
        program());

    e2e_expect_has(run->out, "1 passed, 0 failed");
    e2e_expect_lacks(run->out, "differ");
}

Test(e2e_leaving, names_children_that_record_nothing)
{
    const struct e2e *run =
        e2e_run("%s --filter '*/leaves_child' --filter '*/is_not_annotated'",
                program());

    e2e_expect_has(run->out, "2 passed, 0 failed");
    e2e_expect_has(run->err, "leaving/leaves_child left processes behind: ",
                   "leaving/is_not_annotated left processes behind");
    e2e_expect_has(e2e_text(e2e_latest("leaving/leaves_child"), "survivors"),
                   " (leaving_test)");
}

Test(e2e_leaving, fails_tests_that_leave_processes)
{
    const struct e2e *run =
        e2e_exits(1, "%s --fail-leaky --filter '*/leaves_*'", program());

    e2e_expect_has(run->out, "1 passed, 2 failed");
    e2e_expect_is(e2e_text(e2e_latest("leaving/leaves_daemon"), "outcome"),
                  "failed");
    e2e_expect_has(e2e_text(e2e_latest("leaving/leaves_daemon"), "reason"),
                   "left 1 process: ");
    e2e_expect_has(e2e_text(e2e_latest("leaving/leaves_child"), "reason"),
                   "left 1 process: ");
    e2e_expect_is(e2e_text(e2e_latest("leaving/leaves_nothing"), "outcome"),
                  "passed");
}

/* e2e_worker_test.c: workers that are not dumpable or hang before their test
 * begins, stopped runners, and limits. */
#include "tests/support/e2e.h"

#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

E2E_FOLDER

TestSuite(e2e_worker, .init = e2e_begin, .timeout = 300);

static const char *reason(const char *name)
{
    return e2e_text(e2e_latest(name), "reason");
}

/* ---- Not dumpable ---- */

/* Runs a copy of a program as a user who must not look into such processes. */
static const struct e2e *run_as_nobody(const char *program)
{
    if (geteuid())
        cr_skip_test("only root can become nobody");
    return e2e_run("d=$(mktemp -d) && cp %s $d/program && "
                   "mkdir testlog-runs && chown -R 65534 $d testlog-runs && "
                   "mv testlog-runs $d && (cd $d && setpriv --reuid=65534 "
                   "--regid=65534 --clear-groups ./program -j2); "
                   "c=$?; mv $d/testlog-runs .; rm -r $d; exit $c",
                   program);
}

Test(e2e_worker, reports_results_if_the_runner_is_not_dumpable)
{
    const struct e2e *result =
        run_as_nobody(e2e_program("undumpable", E2E_TRACED));

    e2e_expect_code(result, 1);
    e2e_expect_closing(result, "1 passed, 3 failed, 0 skipped");
    cr_expect_str_eq(e2e_text(e2e_latest("undumpable/hangs"), "outcome"),
                     "timeout");
    cr_expect_str_eq(reason("undumpable/exits_midway"),
                     "exited with 0 before the test ended");
    e2e_expect_has(reason("undumpable/fails_in_a_child"), "the child fails");
}

/* Looks as nobody at the process `name` that a command starts. */
static const struct e2e *look_as_nobody(const char *command, const char *name)
{
    if (geteuid())
        cr_skip_test("only root can become nobody");
    if (!e2e_exists("%s/testlog-stacks", BUILD_DIR))
        cr_skip_test("testlog-stacks was not built: no libdw");
    return e2e_run("d=$(mktemp -d) && cp %s/testlog-stacks $d && chmod 755 $d "
                   "&& cp \"$(command -v sleep)\" $d/hidden && "
                   "chmod 111 $d/hidden && nobody='setpriv --reuid=65534 "
                   "--regid=65534 --clear-groups'; %s & p=$!; "
                   "until [ \"$(cat /proc/$p/comm)\" = %s ]; do :; done; "
                   "$nobody $d/testlog-stacks $p; kill $p; rm -r $d",
                   BUILD_DIR, command, name);
}

/* A program that its user cannot read is not dumpable. */
Test(e2e_worker, says_that_a_process_is_not_dumpable)
{
    const struct e2e *look =
        look_as_nobody("$nobody sh -c \"exec $d/hidden 60\"", "hidden");

    e2e_expect_has(look->out, ", because it is not dumpable: ");
    e2e_expect_lacks(look->out, "SYS_PTRACE");
}

Test(e2e_worker, says_that_a_process_is_another_users)
{
    e2e_expect_has(look_as_nobody("sleep 60", "sleep")->out,
                   ", because it runs as another user: run as root\n");
}

Test(e2e_worker, says_which_process_traces_a_test)
{
    pid_t child;
    char expected[96];

    if (!e2e_exists("%s/testlog-stacks", BUILD_DIR))
        cr_skip_test("testlog-stacks was not built: no libdw");
    child = fork();
    if (!child)
        for (;;)
            pause();
    cr_assert_gt(child, 0);
    if (ptrace(PTRACE_SEIZE, child, NULL, NULL)) {
        kill(child, SIGKILL);
        cr_skip_test("no permission to trace a process");
    }
    snprintf(expected, sizeof(expected), ", because process %d traces it\n",
             (int)getpid());
    e2e_expect_has(e2e_run("%s/testlog-stacks %d", BUILD_DIR, (int)child)->out,
                   expected);
    kill(child, SIGKILL);
    waitpid(child, NULL, __WALL);
}

/* ---- Hanging before the test begins ---- */

Test(e2e_worker, times_out_a_worker_that_hangs_in_a_constructor)
{
    const struct e2e *result =
        e2e_exits(1, "COUNTER=n HANG_AT=2 %s -j1 --filter 'starting/*'",
                  e2e_program("starting", E2E_TRACED));

    e2e_expect_closing(result, "2 passed, 1 failed, 0 skipped");
    cr_expect_str_eq(e2e_text(e2e_latest("starting/b"), "outcome"), "timeout");
    e2e_expect_has(reason("starting/b"), "its process never began the test");
}

Test(e2e_worker, distinguishes_a_worker_from_a_hooks_child)
{
    const struct e2e *result =
        e2e_run("FORKING=1 COUNTER=n HANG_AT=2 %s -j1 --filter 'starting/*'",
                e2e_program("starting", E2E_TRACED));

    e2e_expect_closing(result, "2 passed, 1 failed, 0 skipped");
    cr_expect_str_eq(e2e_text(e2e_latest("starting/b"), "outcome"), "timeout");
}

Test(e2e_worker, retries_a_worker_that_hung_in_a_constructor)
{
    const struct e2e *result =
        e2e_run("COUNTER=n HANG_AT=2 %s -j1 --retries 1 --filter 'starting/*'",
                e2e_program("starting", E2E_TRACED));

    e2e_expect_closing(result, "3 passed, 0 failed, 0 skipped");
    cr_expect_eq(e2e_number(e2e_latest("starting/b"), "tries"), 2);
}

/* Runs a command while a grandchild of the shell does `meanwhile` to it, so
 * that the program has no child that Criterion doesn't know. */
static const struct e2e *run_and(const char *meanwhile, const char *command)
{
    return e2e_run("( (%s) >/dev/null 2>&1 & ); exec %s", meanwhile, command);
}

/* Test "a" has no own timeout. */
Test(e2e_worker, ends_on_sigterm_though_a_worker_hangs)
{
    char command[PATH_MAX];
    const struct e2e *result;

    snprintf(command, sizeof(command),
             "env COUNTER=n HANG_AT=1 %s -j1 --filter 'starting/*'",
             e2e_program("starting", E2E_TRACED));
    result = run_and("until [ -s n ]; do sleep 0.1; done; sleep 0.3; kill $$",
                     command);
    e2e_expect_code(result, 143);
    e2e_expect_closing(result, "0 passed, 1 failed, 2 skipped");
    e2e_expect_has(reason("starting/a"), "by SIGTERM");
}

/* Criterion ends itself if a worker dies that it has not seen begin. */
Test(e2e_worker, ends_on_sigterm_while_workers_start, .timeout = 300)
{
    const struct e2e *result;

    result = e2e_run("for i in 1 2 3 4 5 6 7 8; do for t in 05 1 15 2; do "
                     "%s -j8 >out 2>&1 & sleep 0.$t; kill $!; wait $!; "
                     "echo $?; done; done | grep -c -E '^(134|139)$'",
                     e2e_program("passing", E2E_TRACED));
    cr_expect_str_eq(result->out, "0\n", "%s", result->err);
}

/* ---- A stopped runner ---- */

Test(e2e_worker, does_not_count_time_while_the_runner_is_stopped)
{
    char command[PATH_MAX];
    const struct e2e *result;

    snprintf(command, sizeof(command), "%s -j4 --filter 'brief/*'",
             e2e_program("starting", E2E_TRACED));
    result = run_and("until ls testlog-runs/latest/tests/*/*/recording; do "
                     "sleep 0.1; done; kill -STOP $$; sleep 5; kill -CONT $$",
                     command);
    e2e_expect_code(result, 0);
    e2e_expect_closing(result, "4 passed, 0 failed, 0 skipped");
}

/* ---- A file size limit ---- */

static const struct e2e *run_limited(const char *command, unsigned blocks)
{
    return e2e_run("bash -c 'ulimit -f %u; exec %s'", blocks, command);
}

Test(e2e_worker, passes_a_test_whose_output_exceeds_the_limit)
{
    const struct e2e *result =
        run_limited(e2e_program("limited", E2E_TRACED), 200);

    e2e_expect_code(result, 1);
    e2e_expect_closing(result, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err,
                   "limited/prints: kept the first 204800 bytes of its output; "
                   "the file size limit (ulimit -f) allows no more\n",
                   "\nwas printed\n", ": was logged\n");
    cr_expect_eq(strlen(e2e_read("testlog-runs/latest/tests/limited_test/"
                                 "limited.prints/output.txt")),
                 204800);
    cr_expect_not(e2e_exists("testlog-runs/latest/tests/limited_test/"
                             "limited.prints/output.pipe"));
}

Test(e2e_worker, records_up_to_the_file_size_limit)
{
    const struct e2e *result =
        run_limited(e2e_program("limited", E2E_TRACED), 300);

    e2e_expect_closing(result, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/limited_test/"
                            "limited.records/log.txt"),
                   ": line 1000\n");
    e2e_expect_has(result->err, " records were lost after the file size limit "
                                "(ulimit -f) was reached");
}

Test(e2e_worker, says_why_nothing_can_be_recorded)
{
    const struct e2e *result =
        run_limited(e2e_program("limited", E2E_TRACED), 160);

    e2e_expect_closing(result, "3 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, " has no recording: File too large (others may "
                                "lack one, too); ");
}

/* The results of 400 tests alone are larger than a file may be. */
Test(e2e_worker, runs_many_tests_under_a_file_size_limit, .timeout = 300)
{
    char command[PATH_MAX];
    const struct e2e *result;

    snprintf(command, sizeof(command), "%s --repeat 400 --filter limited/fails",
             e2e_program("limited", E2E_TRACED));
    result = run_limited(command, 300);
    e2e_expect_code(result, 1);
    e2e_expect_closing(result, "0 passed, 400 failed, 0 skipped");
}

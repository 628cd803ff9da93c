/* e2e_handover_test.c: `testlog run` counts the results of each program, even
 * if the run's folder is removed or the program dies.
 */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define CLOSING "14 passed, 5 failed, 1 skipped"

/* Parts of scripts that send lines of JSON. */
#define TO_TESTLOG    "exec >/dev/fd/$TESTLOG_RESULTS\n"
#define RUN_HAS_ENDED "echo '{\"schema\":1,\"event\":\"run\",\"flags\":false}'"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    e2e_link("losing", E2E_TRACED, "losing");
}

TestSuite(e2e_handover, .init = begin, .timeout = 300);

/* `program` is "" if the failure list doesn't name the program. */
static void expect_failures(const struct e2e *result, const char *program)
{
    static const char *const names[] = {"t01", "t05", "t08", "t13", "t17"};
    char line[64];

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        snprintf(line, sizeof(line), ": %slosing/%s: failed", program,
                 names[i]);
        cr_expect_eq(e2e_count(result->err, line), 1, "%s:\n%.4000s", line,
                     result->err);
    }
}

static const struct e2e *run_losing_files(const char *command)
{
    return e2e_run("LOSING_FILES='%s' " TESTLOG " run ./losing -- -j1",
                   command);
}

static void expect_all_counted(const struct e2e *result)
{
    e2e_expect_code(result, 1);
    e2e_expect_is(e2e_last(result->out), CLOSING);
    expect_failures(result, "");
}

Test(e2e_handover, counts_results_when_the_run_is_removed_midway)
{
    expect_all_counted(run_losing_files("rm -rf testlog-runs"));
}

Test(e2e_handover, counts_results_when_run_json_cannot_be_written)
{
    const struct e2e *result = run_losing_files(
        "mkdir -p testlog-runs/latest/tests/losing/run.json/x");

    expect_all_counted(result);
    e2e_expect_has(result->err, "cannot write tests/losing/run.json: ");
    cr_expect_eq(e2e_results(e2e_run_json(), "losing/t13"), 1);
}

Test(e2e_handover, ignores_results_that_a_test_wrote)
{
    expect_all_counted(run_losing_files(
        "cd testlog-runs/latest/tests/losing && "
        "echo \"{\\\"tests\\\":[]}\" >run.json && chmod a-w . run.json"));
}

/* ---- The program dies ---- */

static const struct e2e *run_dying(const char *how)
{
    return e2e_run("LOSING=%s " TESTLOG " run ./losing -- -j1", how);
}

/* t10 dies in its hook, before it reports its end. */
static void expect_ended_counted(const struct e2e *result, const char *reason)
{
    const cJSON *run = e2e_run_json();

    e2e_expect_code(result, 1);
    e2e_expect_is(e2e_last(result->out), "7 passed, 4 failed, 0 skipped");
    e2e_expect_is(e2e_text(e2e_result(run, "losing/t08"), "outcome"), "failed");
    e2e_expect_has(e2e_text(e2e_result(run, "losing/t08"), "reason"),
                   "meant to fail");
    e2e_expect_is(e2e_text(e2e_result(run, "losing"), "reason"), reason);
}

Test(e2e_handover, counts_results_before_the_runner_crashed)
{
    if (SANITIZE_FLAGS[0])
        cr_skip_test("sanitizers handle SIGSEGV");
    expect_ended_counted(run_dying("crash"), "the program died of SIGSEGV");
}

Test(e2e_handover, counts_results_before_the_runner_was_killed)
{
    expect_ended_counted(run_dying("kill"), "the program died of SIGKILL");
}

Test(e2e_handover, fails_a_program_that_exits_before_its_tests_end)
{
    expect_ended_counted(run_dying("exit"),
                         "the program exited with 0 before its tests ended");
}

Test(e2e_handover, keeps_results_of_programs_after_one_that_died)
{
    const struct e2e *result = e2e_exits(
        1, "ln -s losing fine; LOSING_FILES='rm -rf testlog-runs' " TESTLOG
           " run ./losing ./fine -- -j1");

    e2e_expect_is(e2e_last(result->out), "28 passed, 10 failed, 2 skipped");
    expect_failures(result, "losing: ");
    expect_failures(result, "fine: ");
}

/* ---- What tests must not see ---- */

Test(e2e_handover, hides_the_results_from_tests)
{
    const struct e2e *result =
        run_losing_files("ls -l /proc/self/fd >fds; env >variables");
    const char *within = e2e_read("fds");

    expect_all_counted(result);
    e2e_expect_lacks(e2e_read("variables"), "results=");
    e2e_run("LOSING_FILES='ls -l /proc/self/fd >fds' ./losing -j1");
    cr_expect_eq(e2e_count(within, " -> "), e2e_count(e2e_read("fds"), " -> "),
                 "%s", within);
}

/* A program in any language sends lines of JSON. */
Test(e2e_handover, takes_results_of_any_program)
{
    const struct e2e *run;

    e2e_run("cp '" SOURCE_DIR "/tests/programs/sends_results.sh' prog");
    run = e2e_exits(1, "'" BUILD_DIR "/testlog' run ./prog");
    e2e_expect_closing(run, "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err, "a.py:3: net/reads: failed: no data");
    e2e_expect_is(e2e_run("cut -f 1,3,4 testlog-runs/latest/results.tsv")->out,
                  "passed\tprog\tnet/opens\nfailed\tprog\tnet/reads\n");
    e2e_run(
        "printf '#include <unistd.h>\nint main(void) { return "
        "execl(\"./prog\", \"prog\", (char *)0); }' | gcc -o compiled -x c -");
    run = e2e_exits(1, "'" BUILD_DIR "/testlog' run ./compiled");
    e2e_expect_closing(run, "1 passed, 1 failed, 0 skipped");
    run = e2e_run("'" BUILD_DIR "/testlog' run ./prog -- -q");
    e2e_expect_closing(run, "1 passed, 2 failed, 0 skipped");
    e2e_expect_has(run->err,
                   "the program exited with 7 before its tests ended");
}

/* A script may start a program with testlog, whose exit codes it then has. One
 * line says so where that is in doubt. */
Test(e2e_handover, says_how_the_code_of_a_script_is_taken)
{
    const struct e2e *result;

    e2e_script("s2", "exit 2");
    e2e_script("s4", "exit 4");
    e2e_script("starts", "exec ./losing \"$@\"");
    result = e2e_exits(1, TESTLOG " run ./s4"); /* nothing was selected */
    e2e_expect_is(e2e_last(result->out), "0 passed, 1 failed, 0 skipped");
    e2e_exits(4, TESTLOG " run ./s4 -- --filter=no/no");
    result = e2e_exits(2, TESTLOG " run ./s2");
    e2e_expect_has(result->err, "s2 exited with 2, which is taken for");
    e2e_expect_is(e2e_last(result->out), "0 passed, 1 failed, 0 skipped");
    e2e_run("printf '[program s?]\nkind = exit\n' >testlog.conf");
    result = e2e_exits(1, TESTLOG " run ./s2 ./s4");
    e2e_expect_is(e2e_last(result->out), "0 passed, 2 failed, 0 skipped");
    result = e2e_exits(4, TESTLOG " run ./starts -- --filter=no/no");
    e2e_expect_lacks(result->err, "taken for");
    e2e_exits(0, TESTLOG " run ./starts -- losing/t02");
}

/* A program without a framework is a test without a suite. */
Test(e2e_handover, a_filter_may_name_a_program)
{
    e2e_run("cp /bin/true true_test; cp /bin/false false_test");
    e2e_exits(0, TESTLOG " run ./true_test ./false_test -- --filter='t*_test'");
    e2e_expect_is(e2e_run("cut -f 1,4 testlog-runs/latest/results.tsv")->out,
                  "passed\ttrue_test\n");
}

Test(e2e_handover, a_test_without_a_name_does_not_count)
{
    const struct e2e *result;

    e2e_script(
        "nameless", TO_TESTLOG
        "echo '{\"schema\":1,\"event\":\"test\",\"outcome\":\"passed\"}'\n"
        "exit 1");
    result = e2e_run(TESTLOG " run ./nameless");
    e2e_expect_is(e2e_last(result->out), "0 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, "nameless sent a test without a name");
}

/* A line that cannot be read may be of a test that failed; another event does
 * not end the run. */
Test(e2e_handover, a_broken_line_fails_the_program)
{
    const struct e2e *result;

    e2e_script(
        "broken", TO_TESTLOG
        "echo '{\"schema\":1,\"event\":\"test\",\"name\":\"a/b\","
        "\"outcome\":\"passed\"}'\n"
        "echo '{\"schema\":1,\"event\":\"log\"}'\n"
        "echo '{\"event\":\"test\",\"reason\":\"\"x\"\"}'\n" RUN_HAS_ENDED);
    result = e2e_run(TESTLOG " run ./broken");
    e2e_expect_is(e2e_last(result->out), "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, "sent a line that is no JSON");
    e2e_run("sed -i '/reason/d; /run/d' broken");
    result = e2e_run(TESTLOG " run ./broken");
    e2e_expect_has(result->err, "before its tests ended");
}

/* Names are compared whole. */
Test(e2e_handover, long_names_are_different)
{
    e2e_script(
        "long", TO_TESTLOG
        "for end in 1,failed 2,passed; do printf "
        "'{\"schema\":1,\"event\":\"test\",\"name\":\"a/%0600d%s\","
        "\"outcome\":\"%s\"}\\n' 0 ${end%,*} ${end#*,}; done\n" RUN_HAS_ENDED);
    e2e_expect_is(e2e_last(e2e_run(TESTLOG " run ./long")->out),
                  "1 passed, 1 failed, 0 skipped");
}

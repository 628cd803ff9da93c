/* e2e_runner_test.c: retries, repetitions, interrupts and the status line. */
#include "tests/support/e2e.h"

#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

E2E_FOLDER

TestSuite(e2e_runner, .init = e2e_begin, .timeout = 300);

static const char *program(void)
{
    return e2e_program("unsteady", E2E_TRACED);
}

static const char *testlog(void)
{
    return BUILD_DIR "/testlog";
}

/* ---- Retries ---- */

Test(e2e_runner, passes_a_flaky_test_on_a_later_try)
{
    const struct e2e *result = e2e_exits(
        0,
        "%s --retries 2 --filter unsteady/second_try --filter unsteady/passes",
        program());
    const cJSON *test = e2e_latest("unsteady/second_try");

    e2e_expect_closing(result, "2 passed, 0 failed, 0 skipped");
    e2e_expect_has(result->err,
                   "\nflaky:\n    unsteady/second_try: passed on try 2; the "
                   "first failed: ",
                   ": unsteady/second_try: failed: ",
                   " (try 1 of 3), trace: testlog-runs/",
                   "/unsteady.second_try/trace.json\n");
    e2e_expect_lacks(result->err, "----", "\nlog:\n");
    cr_expect_str_eq(e2e_text(test, "outcome"), "passed");
    cr_expect_eq(e2e_number(test, "tries"), 2);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(test, "flaky")));
    cr_expect_eq(e2e_number(e2e_latest("unsteady/passes"), "tries"), 1);
    e2e_expect_has(e2e_read("testlog-runs/latest/junit.xml"), "<flakyFailure ");
    e2e_expect_has(e2e_read("testlog-runs/latest/results.tap"),
                   "  tries: 2\n  flaky: true\n");
}

Test(e2e_runner, each_try_keeps_its_own_files)
{
    static const char where[] = "testlog-runs/latest/tests/unsteady_test";

    e2e_run("%s --retries 1 --filter unsteady/second_try", program());
    e2e_expect_has(e2e_read("%s/unsteady.second_try/log.txt", where),
                   "too early");
    e2e_expect_lacks(e2e_read("%s/unsteady.second_try.try2/log.txt", where),
                     "too early");
    e2e_expect_has(e2e_read("%s/unsteady.second_try.try2/log.txt", where),
                   "one more");
}

Test(e2e_runner, retries_crashes_and_parameters)
{
    const struct e2e *result =
        e2e_exits(0,
                  "%s -j3 --retries 1 --filter unsteady/second_crash --filter "
                  "unsteady/sizes",
                  program());

    e2e_expect_closing(result, "4 passed, 0 failed, 0 skipped");
    cr_expect_eq(e2e_number(e2e_latest("unsteady/sizes[1]"), "tries"), 2);
    cr_expect_eq(e2e_number(e2e_latest("unsteady/sizes[2]"), "tries"), 1);
}

Test(e2e_runner, fails_a_test_that_fails_every_try)
{
    const struct e2e *result =
        e2e_exits(1, "%s --retries 2 --filter unsteady/never", program());

    e2e_expect_closing(result, "0 passed, 1 failed, 0 skipped");
    cr_expect_eq(e2e_number(e2e_latest("unsteady/never"), "tries"), 3);
    e2e_expect_has(e2e_last(e2e_read("testlog-runs/latest/results.jsonl")),
                   "unsteady.never.try3\",\"tries\":3,\"flaky\":false,");
    e2e_expect_has(e2e_read("testlog-runs/latest/results.tap"), "  tries: 3\n");
    e2e_expect_lacks(result->err, "flaky");
    e2e_expect_has(result->err, "as always (try 2 of 3), trace: ");
    e2e_expect_lacks(result->err, "(try 1 of 3) ----");
    e2e_expect_has(result->err,
                   "---- unsteady/never: failed (try 3 of 3) ----\n");
}

Test(e2e_runner, retries_under_testlog_run)
{
    const struct e2e *result =
        e2e_exits(0, "%s run %s -- --retries 1 --filter unsteady/second_try",
                  testlog(), program());

    e2e_expect_has(result->err, "\nflaky:\n    unsteady/second_try");
    cr_expect_eq(e2e_number(e2e_latest("unsteady/second_try"), "tries"), 2);
}

Test(e2e_runner, fail_fast_waits_for_the_last_try)
{
    const struct e2e *result = e2e_exits(
        0, "%s -j1 --fail-fast --retries 1 --filter 'unsteady/se*'", program());

    e2e_expect_closing(result, "2 passed, 0 failed, 0 skipped");
}

/* ---- Repetitions ---- */

Test(e2e_runner, counts_each_repetition_as_a_test)
{
    const struct e2e *result =
        e2e_exits(1,
                  "%s -j1 --repeat 3 --filter unsteady/second_try --filter "
                  "unsteady/sizes",
                  program());

    e2e_expect_closing(result, "10 passed, 2 failed, 0 skipped");
    e2e_expect_has(result->err, "unsteady/second_try#1: failed: ",
                   " --repeat 3 --filter 'unsteady/second_try' --filter "
                   "'unsteady/sizes[1]'\n");
    cr_expect_str_eq(e2e_text(e2e_latest("unsteady/sizes[1]#2"), "outcome"),
                     "passed");
}

Test(e2e_runner, fail_fast_ends_the_repetitions)
{
    const struct e2e *result = e2e_exits(
        1, "%s -j1 --repeat 5 --fail-fast --filter unsteady/second_try",
        program());

    e2e_expect_closing(result, "0 passed, 1 failed, 4 skipped");
}

/* ---- --failed ---- */

Test(e2e_runner, failed_reruns_the_last_failures)
{
    e2e_run("%s --filter 'unsteady/*'", program());
    e2e_expect_closing(e2e_exits(1, "%s --failed", program()),
                       "3 passed, 1 failed, 0 skipped");
    e2e_expect_closing(e2e_run("%s --failed", program()),
                       "0 passed, 1 failed, 0 skipped");
}

Test(e2e_runner, failed_passes_if_nothing_failed)
{
    const struct e2e *result;

    e2e_run("%s --filter unsteady/passes", program());
    result = e2e_exits(0, "%s --failed", program());
    e2e_expect_has(result->err, "testlog: --failed: all tests passed when they "
                                "last ran; nothing to run\n");
    e2e_expect_closing(result, "0 passed, 0 failed, 0 skipped");
    result = e2e_exits(0, "%s run %s -- --failed", testlog(), program());
    e2e_expect_has(result->err, "testlog: --failed: all tests passed ");
    cr_expect_eq(e2e_count(e2e_run("ls -d testlog-runs/20*")->out, "\n"), 1);
}

Test(e2e_runner, failed_runs_all_without_a_last_run)
{
    const struct e2e *result =
        e2e_exits(0, "%s --failed --filter unsteady/passes", program());

    e2e_expect_has(result->err, "--failed: no test has run in testlog-runs "
                                "before; all tests run\n");
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
}

Test(e2e_runner, failed_runs_all_tests_of_an_unknown_program)
{
    static const char *const commands[] = {
        "./other --failed --filter unsteady/passes",
        BUILD_DIR "/testlog run ./other -- --failed --filter unsteady/passes"};

    e2e_run("cp %s other", program());
    for (size_t i = 0; i < 2; i++) {
        const struct e2e *result =
            e2e_exits(0,
                      "%s --filter unsteady/passes >first 2>&1; rm -f "
                      "testlog-runs/.history/other.tsv; %s",
                      program(), commands[i]);

        e2e_expect_lacks(result->err, "nothing to run");
        e2e_expect_has(result->err, "--failed: no test", " before; all ");
        e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    }
}

Test(e2e_runner, failed_leaves_out_a_program_that_passed)
{
    const struct e2e *result;

    e2e_run("mkdir a b && cp %s a/good && cp %s b/bad", program(), program());
    e2e_run("%s run a/good -- --filter unsteady/passes", testlog());
    e2e_run("b/bad --filter unsteady/never");
    for (int i = 0; i < 3; i++) {
        result = e2e_exits(1, "%s run a/good b/bad -- --failed", testlog());
        e2e_expect_closing(result, "0 passed, 1 failed, 0 skipped");
        e2e_expect_lacks(result->err, "has run before");
    }
}

Test(e2e_runner, failed_remembers_a_test_until_it_passes)
{
    e2e_run("%s --filter 'unsteady/*'", program());
    e2e_run("%s passes", program());
    e2e_run("%s run %s -- unsteady/passes", testlog(), program());
    e2e_expect_closing(e2e_run("%s --failed never", program()),
                       "0 passed, 1 failed, 0 skipped");
    e2e_expect_closing(e2e_run("%s run %s -- --failed", testlog(), program()),
                       "3 passed, 1 failed, 0 skipped");
    e2e_expect_closing(e2e_run("%s --failed", program()),
                       "0 passed, 1 failed, 0 skipped");
}

Test(e2e_runner, failed_runs_all_if_the_failed_tests_are_gone)
{
    const struct e2e *result;

    e2e_run("cp %s t && ./t never; sed -i 's|/never|/gone|' "
            "testlog-runs/.history/t.tsv",
            program());
    for (int i = 0; i < 2; i++) {
        result =
            e2e_exits(0, i ? BUILD_DIR "/testlog run ./t -- --failed passes"
                           : "./t --failed passes");
        e2e_expect_has(result->err, "--failed: t no longer has the tests that "
                                    "failed; all its tests run\n");
        e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
    }
}

/* The order in which tests of a run end. */
static const char *ends(const char *flags)
{
    return e2e_run("%s -q -j1 unsteady %s --report=jsonl:- 2>/dev/null | "
                   "sed -n 's/.*\"name\":\"\\([^\"]*\\)\".*/\\1/p' | "
                   "head -n 3",
                   program(), flags)
        ->out;
}

Test(e2e_runner, failed_first_runs_failed_tests_before_the_rest)
{
    e2e_run("%s never second", program());
    e2e_expect_is(
        ends("--failed-first"),
        "unsteady/never\nunsteady/second_crash\nunsteady/second_try\n");
}

Test(e2e_runner, failed_distinguishes_programs_of_the_same_name)
{
    e2e_run("mkdir a b && cp %s a/t && cp %s b/t", program(), program());
    e2e_run("%s run a/t b/t -- --filter unsteady/second_try", testlog());
    e2e_expect_closing(e2e_exits(0, "%s run a/t b/t -- --failed", testlog()),
                       "1 passed, 0 failed, 0 skipped");
}

/* ---- Time ---- */

Test(e2e_runner, applies_timeout_to_every_test)
{
    const struct e2e *result =
        e2e_exits(1, "%s -j4 --timeout 2 --filter 'waits/*'", program());

    e2e_expect_closing(result, "1 passed, 3 failed, 0 skipped");
    cr_expect_str_eq(e2e_text(e2e_latest("waits/unannotated"), "outcome"),
                     "timeout");
    cr_expect_str_eq(
        e2e_text(e2e_latest("waits/and_blocks_all_signals"), "outcome"),
        "timeout");
    cr_expect_str_eq(e2e_text(e2e_latest("waits/for_ever"), "outcome"),
                     "timeout");
}

Test(e2e_runner, lists_slow_tests)
{
    const struct e2e *result =
        e2e_run("%s --slow 1.5 --timeout 2 --filter waits/unannotated --filter "
                "unsteady/passes",
                program());

    e2e_expect_has(result->err,
                   "\nslow, more than 1.5 s:\n    waits/unannotated: ");
    e2e_expect_lacks(result->err, "    unsteady/passes");
}

/* ---- Signals ---- */

/* Runs a command. Once waits/for_ever runs, a second shell does `meanwhile` to
 * it. stderr goes to the file "err". */
static const struct e2e *run_and(const char *command, const char *meanwhile)
{
    /* Twice in the background, so that the program has no child that Criterion
     * doesn't know. */
    return e2e_run("( (until [ -s ready ]; do sleep 0.1; done; %s) >/dev/null "
                   "2>&1 & ); exec env --default-signal=INT %s 2>err",
                   meanwhile, command);
}

static const char *waiting(void)
{
    static char command[PATH_MAX];

    snprintf(command, sizeof(command),
             "%s -j1 --filter 'waits/for_ever' --filter 'waits/never_begins'",
             program());
    return command;
}

static void expect_no_orphans(void)
{
    /* Zombies don't count: reaping them is not our task. */
    e2e_exits(0, "! grep 'State:.[RSDT]' /proc/$(cat child)/status");
}

Test(e2e_runner, writes_all_files_of_an_interrupted_run)
{
    const struct e2e *result = run_and(waiting(), "kill -INT $$");
    const char *err = e2e_read("err");

    e2e_expect_code(result, 130);
    e2e_expect_closing(result, "0 passed, 1 failed, 1 skipped");
    e2e_expect_has(err, "interrupted by SIGINT: 1 test did not run\n",
                   "by SIGINT ----\n", ": waiting{for=\"Godot\"}\n");
    cr_expect_str_eq(e2e_text(e2e_run_json(), "interrupted"), "SIGINT");
    cr_expect(e2e_exists("testlog-runs/latest/junit.xml"));
    cr_expect(e2e_exists("testlog-runs/latest/trace.json"));
    cr_expect(
        e2e_exists("testlog-runs/latest/tests/unsteady_test/waits.for_ever/"
                   "trace.json"));
    cr_expect_not(e2e_exists("begun"));
    expect_no_orphans();
}

/* The interrupt arrives in a hook that prepares the tests. */
Test(e2e_runner, starts_no_test_after_an_early_interrupt)
{
    const struct e2e *result =
        e2e_exits(130, "%s", e2e_program("early", E2E_TRACED));

    e2e_expect_closing(result, "0 passed, 0 failed, 2 skipped");
    e2e_expect_has(result->err, "interrupted by SIGINT: 2 tests did not run\n");
}

Test(e2e_runner, sigterm_interrupts_like_sigint)
{
    e2e_expect_code(run_and(waiting(), "kill -TERM $$"), 143);
    expect_no_orphans();
}

Test(e2e_runner, sigterm_ends_a_test_that_waits_for_a_debugger)
{
    const struct e2e *result = e2e_exits(
        143,
        "%s --debug=idle --filter unsteady/passes >all 2>&1 & pid=$!; until "
        "grep 'has PID' all; do sleep 0.05; done; kill -TERM $pid; wait $pid",
        program());
    const char *worker = e2e_between(result->out, "has PID ", ".");

    e2e_expect_is(e2e_last(e2e_read("all")), "0 passed, 1 failed, 0 skipped");
    cr_assert_gt(atoi(worker), 0);
    e2e_exits(0, "! grep 'State:.[RSDTt]' /proc/%s/status", worker);
}

Test(e2e_runner, interrupt_ends_all_programs)
{
    char command[2 * PATH_MAX];
    const struct e2e *result;

    snprintf(command, sizeof(command),
             "%s run %s %s -- -j1 --filter waits/for_ever --filter "
             "waits/never_begins",
             testlog(), program(), program());
    result = run_and(command, "trap '' INT; kill -s INT -- -$$");
    e2e_expect_code(result, 130);
    e2e_expect_closing(result, "0 passed, 1 failed, 1 skipped");
    e2e_expect_has(e2e_read("err"), "testlog: 1 program did not run: "
                                    "interrupted\n");
    cr_expect(e2e_exists("testlog-runs/latest/junit.xml"));
    expect_no_orphans();
}

Test(e2e_runner, testlog_forwards_an_interrupt_to_its_program)
{
    char command[2 * PATH_MAX];

    snprintf(command, sizeof(command), "%s run %s -- --filter waits/for_ever",
             testlog(), program());
    e2e_expect_code(run_and(command, "kill -INT $$"), 130);
    expect_no_orphans();
}

Test(e2e_runner, sigusr1_shows_running_tests)
{
    run_and(waiting(),
            "kill -USR1 $$; until grep -q 'tests done' err; do sleep "
            "0.1; done; kill -INT $$");
    e2e_expect_has(e2e_read("err"),
                   "testlog: waits/for_ever has been running for ",
                   ": waiting{for=\"Godot\"}\n",
                   "\ntestlog: 0 of 2 tests done, 1 running\n");
}

/* ---- The status line ---- */

static const struct e2e *on_a_terminal(const char *settings, const char *flags)
{
    return e2e_run("command -v script >/dev/null || exit 77; "
                   "env TERM=xterm %s script -qec \"%s -j1 %s\" /dev/null",
                   settings, program(), flags);
}

#define SLOW_ENOUGH                                                            \
    "--timeout 2 --filter waits/for_ever --filter unsteady/never"

Test(e2e_runner, shows_a_status_line_on_a_terminal)
{
    const struct e2e *result = on_a_terminal("", SLOW_ENOUGH);

    if (result->code == 77)
        cr_skip_test("script(1) is not installed");
    e2e_expect_has(result->out, "\r\033[K[1/2, 1 failed]: waits/for_ever ");
    /* Any text after a status line has erased it first. */
    for (const char *at = result->out; (at = strstr(at, "\033[K["));) {
        at += strlen("\033[K[");
        if (!isdigit((unsigned char)*at))
            continue;
        at += strcspn(at, "\r\n");
        cr_expect(!strncmp(at, "\r\033[K", 4), "%.40s", at);
    }
}

/* One column stays free: in the last one, a terminal begins another row. */
Test(e2e_runner, cuts_the_status_line_to_the_terminal)
{
    const struct e2e *result = on_a_terminal("COLUMNS=21", SLOW_ENOUGH);

    if (result->code == 77)
        cr_skip_test("script(1) is not installed");
    e2e_expect_has(result->out, "\r\033[K[1/2, 1 failed]: wai\r\033[K");
}

Test(e2e_runner, shows_no_status_line_on_request)
{
    static const char *const settings[][2] = {{"TERM=dumb", SLOW_ENOUGH},
                                              {"CI=true", SLOW_ENOUGH},
                                              {"", "--quiet " SLOW_ENOUGH}};

    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        e2e_expect_lacks(on_a_terminal(settings[i][0], settings[i][1])->out,
                         "\033[K");
    e2e_expect_lacks(e2e_run("%s " SLOW_ENOUGH, program())->err, "\033[K");
}

/* ---- Unmatched names ---- */

Test(e2e_runner, suggests_a_pattern_for_a_name_without_its_suite)
{
    static const char *const hints[][2] = {
        {"second", "did you mean '*/*second*'? --list"},
        {"waits", "did you mean 'waits/*'? --list"},
        {"secnd_try", "did you mean unsteady/second_try? --list"},
        {"nothing_is_like_this", "no test matched; --list lists"},
    };

    for (size_t i = 0; i < sizeof(hints) / sizeof(*hints); i++)
        e2e_expect_has(
            e2e_exits(4, "%s --filter %s", program(), hints[i][0])->err,
            hints[i][1]);
    e2e_expect_closing(e2e_run("%s --filter '*/*second_t*'", program()),
                       "0 passed, 1 failed, 0 skipped");
}

Test(e2e_runner, reports_unmatched_filters)
{
    const struct e2e *result =
        e2e_run("%s --filter '*/*second_t*' --filter nosuch --filter 'a/b[7]'",
                program());

    e2e_expect_closing(result, "0 passed, 1 failed, 0 skipped");
    e2e_expect_has(result->err, "testlog: no test matched the filter nosuch\n"
                                "testlog: no test matched the filter a/b[7]\n");
    cr_expect_eq(e2e_count(result->err, "no test matched"), 2);
    /* Another program may have it. */
    result = e2e_run("%s run %s -- --filter '*/*second_t*' --filter nosuch",
                     testlog(), program());
    e2e_expect_lacks(result->err, "no test matched");
}

Test(e2e_runner, prints_nothing_of_programs_without_a_match)
{
    const struct e2e *result =
        e2e_run("%s run %s %s -- --filter '*/*second_t*'", testlog(), program(),
                e2e_program("small", E2E_TRACED));

    cr_expect_eq(e2e_count(result->err, "\n---- "), 1, "%s", result->err);
    e2e_expect_lacks(result->err, "no test matched");
    e2e_expect_is(e2e_last(result->out), "0 passed, 1 failed, 0 skipped");
}

Test(e2e_runner, suggests_the_nearest_name)
{
    const struct e2e *result =
        e2e_exits(4, "%s --filter unsteady/secnd_try", program());

    e2e_expect_has(result->err, "did you mean unsteady/second_try?");
    result = e2e_exits(4, "%s run %s -- --filter unsteady/secnd_try", testlog(),
                       program());
    e2e_expect_has(result->err, "testlog: did you mean unsteady/second_try?\n");
}

/* e2e_settings_test.c: testlog.conf, the settings of a project. */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <stdio.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_settings, .init = e2e_begin, .timeout = 300);

/* Writes testlog.conf. */
static void settings(const char *text)
{
    FILE *file = fopen("testlog.conf", "we");

    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

static const char *unsteady(void)
{
    return e2e_program("unsteady", E2E_TRACED);
}

/* ---- Defaults and profiles ---- */

#define CONFIG                                                                 \
    "# everybody's\n"                                                          \
    "log = debug\n"                                                            \
    "show-output = 1\n"                                                        \
    "\n"                                                                       \
    "[profile ci]\n"                                                           \
    "log = trace\n"                                                            \
    "  retries=2\n"

Test(e2e_settings, shows_what_is_in_force)
{
    settings(CONFIG);
    e2e_expect_is(e2e_run("%s --show-config", unsteady())->out,
                  "# testlog.conf:2: log\nlog = debug\n"
                  "# testlog.conf:3: show-output\nshow-output = 1\n");
    e2e_expect_is(e2e_run("%s --show-config --profile ci", unsteady())->out,
                  "# testlog.conf:3: show-output\nshow-output = 1\n"
                  "# testlog.conf:6: log\nlog = trace\n"
                  "# testlog.conf:7: retries\nretries = 2\n"
                  "# --profile\n# profile = ci\n");
    e2e_exits(0, "%s --show-config", unsteady());
    e2e_run("rm testlog.conf");
    e2e_expect_is(e2e_run("%s --show-config", unsteady())->out,
                  "# no testlog.conf in this folder or above it\n");
}

Test(e2e_settings, shows_what_testlog_run_would_use)
{
    const struct e2e *result;

    settings(CONFIG);
    result = e2e_exits(0, TESTLOG " run %s -- --show-config", unsteady());
    e2e_expect_has(result->out, "# testlog.conf:2: log\nlog = debug\n");
}

Test(e2e_settings, flags_beat_variables_beat_settings)
{
    settings("log = debug\njobs = 3\n");
    e2e_expect_has(e2e_run("LOG=warn %s --show-config", unsteady())->out,
                   "# testlog.conf:2: jobs\njobs = 3\n# LOG\nlog = warn\n");
    e2e_expect_is(
        e2e_run("LOG=warn %s --show-config --log=error -j1", unsteady())->out,
        "# --log\nlog = error\n# --jobs\njobs = 1\n");
}

Test(e2e_settings, are_found_above_the_working_directory)
{
    settings("log = debug\n");
    e2e_run("mkdir -p a/b");
    e2e_expect_is(e2e_run("cd a/b && %s --show-config", unsteady())->out,
                  "# ../../testlog.conf:1: log\nlog = debug\n");
}

Test(e2e_settings, apply_to_a_run)
{
    const struct e2e *result;

    settings("retries = 1\n[profile none]\nretries = 0\n");
    result = e2e_exits(0, "%s -j1 --filter=unsteady/second_try", unsteady());
    e2e_expect_has(result->err, "unsteady/second_try");
    e2e_run("rm -f tries");
    e2e_exits(0, TESTLOG " run %s -- --filter=unsteady/second_try", unsteady());
    e2e_run("rm -f tries");
    e2e_exits(1, "%s --filter=unsteady/second_try --profile=none", unsteady());
}

/* ---- Single tests ---- */

Test(e2e_settings, give_single_tests_retries)
{
    const struct e2e *result;

    settings("[test unsteady/second*]\nretries = 1\n");
    result = e2e_exits(1, "%s -j1 --filter='unsteady/@(second_try|never)'",
                       unsteady());
    e2e_expect_has(result->err, "try 2 of 2: 1 test");
    e2e_expect_has(e2e_last(result->out), "1 passed, 1 failed");
    e2e_run("rm -f tries");
    e2e_exits(1, "%s --filter=unsteady/second_try --retries=0", unsteady());
}

Test(e2e_settings, give_single_tests_a_timeout)
{
    const struct e2e *result;

    settings("timeout = 100\n[test waits/unann*]\ntimeout = 0.2\n");
    result = e2e_exits(1, "%s --filter=waits/unannotated", unsteady());
    e2e_expect_has(result->err, "waits/unannotated");
    e2e_expect_is(e2e_text(e2e_latest("waits/unannotated"), "outcome"),
                  "timeout");
}

Test(e2e_settings, give_single_tests_a_filter)
{
    const char *program = unsteady();

    settings("log = off\n[test unsteady/pass*]\nlog = info\n");
    e2e_expect_has(
        e2e_run("%s --filter='unsteady/passes' --nocapture", program)->err,
        "steady\n");
    e2e_expect_lacks(
        e2e_run("%s --filter='unsteady/second_try' --nocapture --fail-log=0",
                program)
            ->err,
        "one more");
    e2e_expect_has(
        e2e_run("%s --filter='unsteady/passes' --show-output", program)->err,
        "unsteady: steady\n");
    e2e_expect_lacks(e2e_run("%s --filter='unsteady/passes' --nocapture "
                             "--log=error",
                             program)
                         ->err,
                     "steady\n");
}

Test(e2e_settings, give_single_tests_settings_in_a_profile)
{
    const char *program = unsteady();

    settings("[profile  ci\ttest  unsteady/second*]\nretries = 1\n"
             "[test unsteady/*]\nretries = 0\n"
             "[profile other test unsteady/*]\nretries = 7\n");
    e2e_exits(1, "rm -f tries; %s --filter=unsteady/second_try", program);
    e2e_exits(0, "rm -f tries; %s --filter=unsteady/second_try --profile=ci",
              program);
    e2e_expect_is(e2e_run("%s --show-config --profile=ci", program)->out,
                  "# --profile\n# profile = ci\n"
                  "[test unsteady/*]\n# testlog.conf:4: retries\nretries = 0\n"
                  "[test unsteady/second*]\n# testlog.conf:2: retries\n"
                  "retries = 1\n");
    e2e_expect_is(e2e_run("%s --show-config", program)->out,
                  "[test unsteady/*]\n# testlog.conf:4: retries\nretries = "
                  "0\n");
}

/* ---- Mistakes ---- */

static const struct {
    const char *text, *line;
} refused[] = {
    {"timout = 3\n",
     "testlog.conf:1: timout is not a setting; did you mean timeout?"},
    {"\nxyzzy = 3\n", "testlog.conf:2: xyzzy is not a setting; "
                      "testlog-flags(7) lists the flags that settings are "
                      "named after"},
    {"timeout = soon\n", "testlog.conf:1: timeout: \"soon\" is not a number of "
                         "seconds; write 0 to 1000000000"},
    {"nocapture = perhaps\n",
     "testlog.conf:1: nocapture: unknown value \"perhaps\"; write 0 or 1"},
    {"list = 1\n", "testlog.conf:1: list can only be a flag, --list"},
    {"timeout\n", "testlog.conf:1: expected key = value: \"timeout\""},
    {"timeout =\n", "testlog.conf:1: the setting has no value: \"timeout\""},
    {"[profiles ci]\n",
     "testlog.conf:1: expected [profile NAME], [test PATTERN], [profile NAME "
     "test PATTERN] or [program GLOB]: \"profiles ci\""},
    {"[ ]\n", "testlog.conf:1: expected [profile NAME], [test PATTERN], "
              "[profile NAME test PATTERN] or [program GLOB]: \"\""},
    {"[profile ci test a(]\n", "testlog.conf:1: a ( without one of ! ? @ * + "
                               "before it: \"a(\""},
    {"[profile ci test a]\njobs = 1\n",
     "testlog.conf:2: jobs cannot be set for single tests; log, retries, "
     "serial, tags and timeout can"},
    {"[profile ci test a]\ntimeout = soon\n",
     "testlog.conf:2: timeout: \"soon\" is not a number of seconds; write 0 to "
     "1000000000"},
    {"[test a\n", "testlog.conf:1: expected ] at the end: \"[test a\""},
    {"[test a(]\n", "testlog.conf:1: a ( without one of ! ? @ * + before it: "
                    "\"a(\""},
    {"[test a]\njobs = 1\n",
     "testlog.conf:2: jobs cannot be set for single "
     "tests; log, retries, serial, tags and timeout can"},
    {"[profile ci]\nretries = some\n",
     "testlog.conf:2: retries: \"some\" is not a number of tries; write 0 to "
     "10000"},
};

Test(e2e_settings, refuses_mistakes_before_any_test)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct e2e *result;
        char line[512];

        settings(refused[i].text);
        snprintf(line, sizeof(line), "testlog: %s\n", refused[i].line);
        result = e2e_exits(2, "%s", unsteady());
        e2e_expect_is(result->err, line);
        e2e_expect_is(result->out, "");
    }
    e2e_exits(2, TESTLOG " run %s", unsteady());
}

Test(e2e_settings, refuses_an_unknown_profile)
{
    settings("[profile nightly]\njobs = 1\n");
    e2e_expect_is(e2e_run("%s --profile=nightli", unsteady())->err,
                  "testlog: --profile=nightli: testlog.conf has no [profile "
                  "nightli]; did you mean nightly?\n");
    e2e_run("rm testlog.conf");
    e2e_expect_is(e2e_run("%s --profile=ci", unsteady())->err,
                  "testlog: --profile=ci: no testlog.conf in this folder or "
                  "above it\n");
}

/* ---- Files of other users ---- */

Test(e2e_settings, ignores_a_file_that_others_may_replace)
{
    const char *line = "testlog: ignoring testlog.conf: another user owns it "
                       "or may replace it; see chown(1) and chmod(1)\n";
    const struct e2e *result;

    settings("jobs = many\n");
    e2e_run("chmod o+w testlog.conf");
    result = e2e_exits(0, "%s --filter=unsteady/passes", unsteady());
    e2e_expect_has(result->err, line);
    result =
        e2e_exits(0, TESTLOG " run %s -- --filter=unsteady/passes", unsteady());
    cr_expect_eq(e2e_count(result->err, "ignoring testlog.conf"), 1, "%s",
                 result->err);
    if (!geteuid()) {
        e2e_run("chmod o-w testlog.conf && chown 54321 testlog.conf");
        e2e_expect_has(e2e_run("%s --filter=unsteady/passes", unsteady())->err,
                       line);
    }
}

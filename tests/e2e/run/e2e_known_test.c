/* e2e_known_test.c: known failures, in testlog.conf and in a test's body. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_known, .init = e2e_begin, .timeout = 300);

static const char *program(void)
{
    return e2e_program("knowing", E2E_TRACED);
}

static void configure(const char *text)
{
    FILE *file = fopen("testlog.conf", "we");

    cr_assert_not_null(file);
    fputs(text, file);
    fclose(file);
}

#define FAIL_ALL                                                               \
    "[test knowing/@(fails|crashes|hangs)]\n"                                  \
    "expect = fail\n"                                                          \
    "reason = the server is gone\n"

Test(e2e_known, failures_do_not_fail_a_run)
{
    const struct e2e *run;

    configure(FAIL_ALL);
    run = e2e_exits(0, "%s --filter '*/@(passes|fails|crashes|hangs)'",
                    program());
    e2e_expect_has(run->out,
                   "3 known failures\n1 passed, 0 failed, 3 skipped\n");
    e2e_expect_has(run->err, "\nknown failures:\n",
                   "    knowing/fails: failed: the server is gone\n",
                   "    knowing/hangs: timed out: the server");
    e2e_expect_lacks(run->err, "\nfailed:\n", "run them again");
    e2e_expect_is(e2e_text(e2e_latest("knowing/fails"), "outcome"), "failed");
    e2e_expect_is(e2e_text(e2e_latest("knowing/crashes"), "outcome"),
                  "crashed");
    e2e_expect_is(e2e_text(e2e_latest("knowing/hangs"), "outcome"), "timeout");
    e2e_expect_is(e2e_text(e2e_latest("knowing/hangs"), "known"),
                  "the server is gone");
    cr_expect_null(cJSON_GetObjectItem(e2e_latest("knowing/passes"), "known"));
    e2e_expect_has(e2e_read("testlog-runs/latest/results.tap"),
                   "not ok 2 - knowing/fails # TODO the server is gone\n");
    e2e_expect_has(e2e_read("testlog-runs/latest/junit.xml"),
                   "<skipped message=\"the server is gone\"/>",
                   "failures=\"0\" errors=\"0\" skipped=\"3\"");
}

Test(e2e_known, a_program_of_testlog_run_knows_them_too)
{
    const struct e2e *run;

    configure(FAIL_ALL);
    run = e2e_exits(
        0, TESTLOG " run %s %s -- --filter '*/@(passes|fails|crashes|hangs)'",
        program(), e2e_program("unsteady", E2E_TRACED));
    e2e_expect_has(run->out, "3 known failures\n");
    e2e_expect_is(e2e_text(e2e_latest("knowing/fails"), "known"),
                  "the server is gone");
}

Test(e2e_known, names_those_that_pass)
{
    const struct e2e *run;

    configure("[test knowing/passes]\nexpect = fail\nreason = too old\n");
    run = e2e_exits(0, "%s --filter '*/passes'", program());
    e2e_expect_is(run->out, "1 passed, 0 failed, 0 skipped\n");
    e2e_expect_has(run->err, "\nknown failures that passed:\n"
                             "    knowing/passes: too old\n");
    configure("[test knowing/passes]\nexpect = fail\nreason = too old\n"
              "strict = 1\n");
    run = e2e_exits(1, "%s --filter '*/passes'", program());
    e2e_expect_is(e2e_text(e2e_latest("knowing/passes"), "reason"),
                  "passed, although it is a known failure: too old");
}

Test(e2e_known, accepts_either_result_of_flaky_tests)
{
    const struct e2e *run;

    configure("[test knowing/*]\nexpect = flaky\nreason = races\n");
    run = e2e_exits(0, "%s --filter '*/@(passes|fails)'", program());
    e2e_expect_has(run->out, "1 known failure\n1 passed, 0 failed, 1 skipped");
    e2e_expect_lacks(run->err, "that passed");
    cr_expect_eq(e2e_number(e2e_latest("knowing/fails"), "tries"), 1);
}

Test(e2e_known, does_not_start_skipped_tests)
{
    const struct e2e *run;

    configure("[test knowing/hangs]\nexpect = skip\nreason = no network\n");
    run = e2e_exits(0, "%s --filter '*/@(passes|hangs)'", program());
    e2e_expect_is(run->out, "1 passed, 0 failed, 1 skipped\n");
    e2e_expect_is(e2e_text(e2e_latest("knowing/hangs"), "outcome"), "skipped");
    e2e_expect_is(e2e_text(e2e_latest("knowing/hangs"), "reason"),
                  "no network");
    cr_expect_not(
        e2e_exists("testlog-runs/latest/tests/knowing_test/knowing.hangs"));
}

/* An expired section does not hide another one. */
Test(e2e_known, an_expired_section_changes_nothing)
{
    configure("[test knowing/fails]\nexpect = fail\nreason = r\n"
              "[test knowing/*]\nexpect = flaky\nreason = s\n"
              "until = 2020-01-01\n");
    e2e_exits(0, "%s --filter '*/fails'", program());
    configure("[test knowing/declares_and_passes]\nexpect = fail\n"
              "reason = r\nstrict = 1\n");
    e2e_exits(1, "%s --filter '*/declares_and_passes'", program());
}

/* The last day counts. */
Test(e2e_known, ends_after_a_day)
{
    const struct e2e *run;
    char text[256];

    configure("[test knowing/fails]\nexpect = fail\nreason = r\n"
              "until = 2026-11-01\n[test knowing/hangs]\nexpect = skip\n"
              "reason = r\nuntil = 2026-11-02\n");
    run = e2e_exits(1, "%s --filter '*/@(fails|hangs)'", program());
    e2e_expect_has(run->out, "0 passed, 2 failed, 0 skipped");
    e2e_expect_has(run->err,
                   "testlog: testlog.conf:2: expect: [test knowing/fails] "
                   "ended on 2026-11-01: its failures fail the run again\n",
                   "[test knowing/hangs] ended on 2026-11-02: it runs again\n");
    snprintf(text, sizeof(text),
             "[test knowing/fails]\nexpect = fail\nreason = r\nuntil = %.10s\n",
             e2e_run("date -u +%%F")->out);
    configure(text);
    e2e_exits(0, "%s --filter '*/fails'", program());
}

/* ---- Programs of other frameworks ---- */

#define CORE                                                                   \
    "[test core/@(fails|crashes)]\n"                                           \
    "expect = fail\n"                                                          \
    "reason = the server is gone\n"                                            \
    "[test core/passes]\n"                                                     \
    "expect = fail\n"                                                          \
    "strict = 1\n"                                                             \
    "reason = it was gone\n"

/* AddressSanitizer would end a process with 1 instead of the signal. */
static const struct e2e *run_core(const char *before, const char *tests)
{
    return e2e_run("ASAN_OPTIONS=detect_leaks=0:handle_segv=0 %s '%s' %s",
                   before, e2e_program("in_process", E2E_CORE), tests);
}

Test(e2e_known, a_program_of_another_framework_knows_them)
{
    const struct e2e *run;

    configure(CORE);
    run = run_core("", "fails passes");
    e2e_expect_has(run->out,
                   "1 known failure\n0 passed, 1 failed, 1 skipped\n");
    e2e_expect_has(run->err, "    core/fails: failed: the server is gone\n",
                   "core/passes: failed: passed, although it is a known "
                   "failure: it was gone\n");
}

/* A dead program's tests are judged later, by another one. */
Test(e2e_known, a_program_that_died_knew_them)
{
    configure(CORE);
    run_core("", "fails crashes");
    e2e_run("rm testlog.conf; '" TESTLOG "' list");
    e2e_expect_is(e2e_text(e2e_latest("core/fails"), "known"),
                  "the server is gone");
    e2e_expect_is(e2e_text(e2e_latest("core/crashes"), "known"),
                  "the server is gone");
}

Test(e2e_known, no_result_is_judged_twice)
{
    configure(CORE);
    e2e_run("printf '#!/bin/sh\nexec \"%s\" fails passes\n' >core_test; "
            "chmod +x core_test",
            e2e_program("in_process", E2E_CORE));
    e2e_expect_has(e2e_run("'" TESTLOG "' run ./core_test")->out,
                   "1 known failure\n0 passed, 1 failed, 1 skipped\n");
    e2e_expect_has(e2e_text(e2e_latest("core/passes"), "reason"),
                   "passed, although it is a known failure: it was gone");
}

Test(e2e_known, refuses_bad_sections)
{
    static const struct {
        const char *text, *complaint;
    } bad[] = {
        {"expect = fails\nreason = r\n", "unknown value \"fails\"; write fail, "
                                         "flaky or skip"},
        {"expect = fail\n", "[test x] needs a reason; add reason = TEXT"},
        {"reason = r\n", "[test x] needs expect = fail, flaky or skip"},
        {"expect = fail\nreason = r\nuntil = 2026-02-30\n",
         "\"2026-02-30\" is not a day; write one such as 2026-12-31"},
        {"expect = fail\nreason = r\nuntil = tomorrow\n",
         "\"tomorrow\" is not a day"},
        {"expect = fail\nreason = r\nuntil = 2026-1-1\n", "is not a day"},
        {"expect = fail\nreason = r\nstrict = maybe\n",
         "testlog.conf:4: strict: "},
        {"expcet = fail\nreason = r\n", "did you mean expect?"},
        {"expect = fail\nreason = r\nreasno = r\n", "did you mean reason?"},
    };

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const struct e2e *run;
        char text[256];

        snprintf(text, sizeof(text), "[test x]\n%s", bad[i].text);
        configure(text);
        run = e2e_exits(2, "%s --filter '*/passes'", program());
        e2e_expect_has(run->err, bad[i].complaint);
        e2e_expect_is(run->out, "");
    }
    configure("expect = fail\n");
    e2e_expect_has(e2e_run("%s --filter '*/passes'", program())->err,
                   "testlog.conf:1: expect can only be set for single tests, "
                   "below a line [test PATTERN]\n");
}

Test(e2e_known, belongs_to_a_profile)
{
    configure("[profile ci test knowing/fails]\nexpect = fail\nreason = r\n");
    e2e_exits(1, "%s --filter '*/fails'", program());
    e2e_exits(0, "%s --profile=ci --filter '*/fails'", program());
    configure("[profile ci test knowing/fails]\nexpect = fial\nreason = r\n");
    e2e_exits(2, "%s --filter '*/passes'", program());
}

Test(e2e_known, is_left_out_of_failed)
{
    e2e_run("%s --filter '*/@(fails|crashes)'", program());
    configure("[test knowing/fails]\nexpect = fail\nreason = r\n");
    e2e_run("%s --filter '*/@(fails|crashes)'", program());
    e2e_expect_has(e2e_run("%s --failed", program())->out,
                   "0 passed, 1 failed, 0 skipped");
}

Test(e2e_known, is_declared_in_a_test)
{
    static const enum e2e_build builds[] = {E2E_TRACED, E2E_PLAIN};

    for (size_t i = 0; i < 2; i++) {
        const struct e2e *run = e2e_exits(0, "%s --filter '*/declares*'",
                                          e2e_program("knowing", builds[i]));

        e2e_expect_has(run->out,
                       "3 known failures\n1 passed, 0 failed, 3 skipped\n");
        e2e_expect_has(run->err, "knowing/declares: failed: issue 7\n",
                       "knowing/declares_and_crashes: crashed: issue 8\n",
                       "knowing/declares_and_passes: issue 9\n");
    }
    e2e_exits(1, "%s --filter '*/fails_first'", program());
}

/* It is known to fail, so another try tells nothing. */
Test(e2e_known, failures_are_not_tried_again)
{
    configure(FAIL_ALL);
    e2e_exits(0, "%s --retries=2 --filter '*/@(passes|fails|crashes)'",
              program());
    cr_expect_eq(e2e_number(e2e_latest("knowing/fails"), "tries"), 1);
    cr_expect_eq(e2e_number(e2e_latest("knowing/crashes"), "tries"), 1);
    e2e_run("printf '#!/bin/sh\necho x >>tries\nexit 3\n' >other; "
            "chmod +x other");
    configure("[program other]\nkind = exit\n[test other/other]\n"
              "expect = fail\nreason = it is known\n");
    e2e_run(TESTLOG " run --retries=2 ./other");
    e2e_expect_is(e2e_read("tries"), "x\n");
}

/* e2e_links_test.c: whatever a test puts into the run's folder, no outside file
 * changes, nothing hangs, and verdicts stay.
 */
#include "tests/support/e2e.h"
#include "tests/support/support.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define CLOSING "14 passed, 5 failed, 1 skipped"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    e2e_link("losing", E2E_TRACED, "losing");
    test_save("outside", "outside", 7);
}

TestSuite(e2e_links, .init = begin, .timeout = 300);

static void expect_untouched(const struct e2e *result)
{
    char *text = test_load("outside", NULL);

    e2e_expect_code(result, 1);
    e2e_expect_is(e2e_last(result->out), CLOSING);
    cr_expect_str_eq(text, "outside", "%s", result->command);
}

/* The tenth of twenty tests runs a command in the run's folder. */
static void run_both(const char *command)
{
    expect_untouched(e2e_run("LOSING_FILES='cd testlog-runs/latest && %s' "
                             "./losing -j1",
                             command));
    expect_untouched(
        e2e_run("LOSING_FILES='cd testlog-runs/latest && %s' " TESTLOG
                " run ./losing -- -j1",
                command));
}

/* ---- Links ---- */

#define EACH_RUN_FILE                                                          \
    "for n in run.json results.tsv results.tap junit.xml trace.json "          \
    "results.jsonl; do "
#define EACH_TEST_FILE                                                         \
    "for t in tests/losing/*; do for n in log.txt trace.json output.txt "      \
    "recording; do "
#define OUTSIDE "\"$OLDPWD\"/outside"

Test(e2e_links, replaces_links_at_the_names_of_a_runs_files)
{
    run_both(EACH_RUN_FILE "ln -sf " OUTSIDE " $n; done");
}

Test(e2e_links, does_not_write_through_hard_links)
{
    run_both(EACH_RUN_FILE "ln -f " OUTSIDE " $n; done");
}

/* Links in folders of tests that have finished, are running and have not
 * started. */
Test(e2e_links, does_not_follow_links_at_the_names_of_a_tests_files)
{
    run_both(EACH_TEST_FILE "ln -sf " OUTSIDE " $t/$n; done; done");
}

Test(e2e_links, does_not_follow_links_at_folders_of_tests)
{
    run_both("mkdir \"$OLDPWD\"/there; for t in tests/losing/*; do "
             "rm -rf $t; ln -s \"$OLDPWD\"/there $t; done");
    cr_expect_eq(e2e_run("rmdir there")->code, 0,
                 "files were created in the link's target");
}

Test(e2e_links, does_not_follow_a_link_at_a_programs_folder)
{
    run_both("mkdir \"$OLDPWD\"/there; rm -rf tests; "
             "ln -s \"$OLDPWD\"/there tests");
    cr_expect_eq(e2e_run("rmdir there")->code, 0,
                 "files were created in the link's target");
}

/* Writes a recording that is large enough to be compressed, and longer than its
 * used part. */
static void record(const char *path)
{
    struct trace_options options = {.limit = UINT64_C(4) << 20};

    cr_assert_eq(trace_open(path, &options), 0);
    trace_close();
}

Test(e2e_links, does_not_truncate_an_outside_recording)
{
    const struct e2e *result;

    record("recording");
    e2e_run("cp recording copy");
    result = e2e_run("LOSING_FILES='cd testlog-runs/latest && "
                     "for t in tests/losing/*; do "
                     "ln -sf \"$OLDPWD\"/recording $t/recording; done' "
                     "./losing -j1");
    expect_untouched(result);
    cr_expect_eq(e2e_run("cmp recording copy")->code, 0);
}

/* ---- FIFOs ---- */

Test(e2e_links, does_not_wait_for_fifos_in_the_runs_folder)
{
    run_both(EACH_RUN_FILE "mkfifo fifo; mv -f fifo $n; done");
}

Test(e2e_links, does_not_wait_for_fifos_in_tests_folders)
{
    run_both(EACH_TEST_FILE "mkfifo fifo; mv -f fifo $t/$n; done; done");
}

Test(e2e_links, does_not_wait_for_fifos_of_the_last_run)
{
    run_both("true");
    e2e_run("cd testlog-runs/latest && rm results.tsv && mkfifo results.tsv; "
            "cd ../.history && rm *.tsv && mkfifo losing.tsv");
    expect_untouched(e2e_run("./losing -j1"));
    e2e_run("cd testlog-runs/latest/tests/losing/losing.t01 && rm recording && "
            "mkfifo recording");
    e2e_exits(0, TESTLOG " log >/dev/null");
    e2e_exits(0, TESTLOG " export >/dev/null");
}

/* ---- Folders that a program names ---- */

/* A program's run.json is read if the program handed over no results. */
Test(e2e_links, refuses_folders_outside_the_run)
{
    static const char forges[] =
        "#!/bin/sh\nmkdir -p $TESTLOG_RUN/tests/forges\n"
        "echo '{\"tests\":[{\"program\":\"forges\",\"name\":\"a/b\","
        "\"outcome\":\"passed\",\"folder\":\"../../x\",\"earlier\":"
        "[{\"outcome\":\"failed\",\"folder\":\"tests/forges/../../../../x\"}"
        "]}]}' >$TESTLOG_RUN/tests/forges/run.json\n";

    cr_assert_eq(mkdir("x", 0777), 0);
    record("x/recording");
    test_save("forges", forges, sizeof(forges) - 1);
    chmod("forges", 0755);
    e2e_exits(0, TESTLOG " run ./forges");
    cr_expect(e2e_exists("x/recording") && !e2e_exists("x/recording.zst"));
    e2e_expect_lacks(e2e_read("testlog-runs/latest/run.json"), "../x");
}

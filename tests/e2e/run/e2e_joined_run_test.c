/* e2e_joined_run_test.c: the processes that one ctest starts make one run,
 * whatever happens to ctest, to them and to their files. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

#define LATEST "runs/latest/"

/* Adds a program that sends a test with an outcome. */
static void add_sender_of(const char *name, const char *test,
                          const char *outcome)
{
    e2e_run("cat >%s <<'END'\n"
            "#!/bin/sh\n"
            "echo '{\"schema\":1,\"event\":\"test\",\"name\":\"%s\","
            "\"outcome\":\"%s\"}' >/dev/fd/$TESTLOG_RESULTS\n"
            "echo '{\"schema\":1,\"event\":\"run\",\"flags\":false}' "
            ">/dev/fd/$TESTLOG_RESULTS\n"
            "END\n"
            "chmod +x %s; echo \"add_test(%s '" BUILD_DIR "/testlog' "
            "run --join=$PWD/runs $PWD/%s)\" | tr \"'\" '\"' "
            ">>CTestTestfile.cmake",
            name, test, outcome, name, name, name);
}

/* Adds one that sends a test of its own name. */
static void add_sender(const char *name, const char *outcome)
{
    char test[64];

    snprintf(test, sizeof(test), "s/%s", name);
    add_sender_of(name, test, outcome);
}

/* Adds a test of ctest that is a command of a shell. */
static void add_command(const char *name, const char *command)
{
    e2e_run("echo 'add_test(%s sh -c [[%s]])' >>CTestTestfile.cmake", name,
            command);
}

static void begin(void)
{
    e2e_begin();
    e2e_need("ctest");
    add_sender("passes", "passed");
}

TestSuite(e2e_joined_run, .init = begin, .timeout = 300);

static const char *outcomes(const char *run)
{
    return e2e_run("cut -f 1,4 '%s/results.tsv' | tr '\t' ' ' | sort", run)
        ->out;
}

Test(e2e_joined_run, one_ctest_is_one_run)
{
    add_sender("fails", "failed");
    e2e_run("GITHUB_SHA=aaaa1111 ctest -j2");
    e2e_expect_is(outcomes(LATEST), "failed s/fails\npassed s/passes\n");
    e2e_expect_has(e2e_run("cat runs/.history/*.outcomes")->out,
                   "\taaaa1111\t");
    e2e_expect_has(e2e_read(LATEST "summary.tsv"), "end\tfinished\n");
    cr_expect(e2e_exists(LATEST "results.tap"));
    e2e_run("ctest -R passes");
    e2e_expect_is(outcomes(LATEST), "passed s/passes\n");
    e2e_expect_is(e2e_run("ls -d runs/2* | wc -l")->out, "2\n");
}

/* "t" and "xs/a" are another test than "tx" and "s/a". */
Test(e2e_joined_run, keeps_tests_apart_whose_names_run_together)
{
    add_sender_of("t", "xs/a", "failed");
    add_sender_of("tx", "s/a", "passed");
    e2e_run("ctest -R '^tx?$'");
    e2e_expect_is(outcomes(LATEST), "failed xs/a\npassed s/a\n");
}

/* The test is flaky in all files of the run. */
Test(e2e_joined_run, tries_of_a_test_are_counted)
{
    const cJSON *test;

    e2e_run("cat >passes <<'END'\n"
            "#!/bin/sh\n"
            "outcome=failed; test -e seen && outcome=passed; touch seen\n"
            "printf '{\"schema\":1,\"event\":\"test\",\"name\":\"s/passes\","
            "\"outcome\":\"%%s\",\"start_ns\":%%d}\\n' $outcome $$ "
            ">/dev/fd/$TESTLOG_RESULTS\n"
            "echo '{\"schema\":1,\"event\":\"run\",\"flags\":false}' "
            ">/dev/fd/$TESTLOG_RESULTS\n"
            "END");
    e2e_exits(0, "ctest --repeat until-pass:3");
    test = cJSON_GetArrayItem(
        cJSON_GetObjectItem(e2e_json(LATEST "run.json"), "tests"), 0);
    e2e_expect_is(e2e_text(test, "outcome"), "passed");
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(test, "flaky")));
    e2e_expect_is(outcomes(LATEST), "passed s/passes\n");
}

/* A disk that was full leaves a part of a line. */
Test(e2e_joined_run, half_a_line_hides_no_result)
{
    add_command("halves", "printf \"{\\\"schema\\\":1,\\\"event\\\":\" "
                          ">>$(ls -d $PWD/runs/2*)/results.jsonl");
    add_sender("fails", "failed");
    e2e_run("ctest");
    e2e_expect_is(outcomes(LATEST), "failed s/fails\npassed s/passes\n");
}

Test(e2e_joined_run, a_fifo_for_the_results_stops_nobody)
{
    add_command("replaces", "cd $PWD/runs/2*; rm results.jsonl; mkfifo "
                            "results.jsonl");
    add_sender("fails", "failed");
    e2e_expect_has(e2e_run("timeout 200 ctest")->out,
                   "67% tests passed, 1 tests failed out of 3");
}

Test(e2e_joined_run, a_link_for_the_state_is_not_followed)
{
    e2e_run("mkdir elsewhere runs; ln -s $PWD/elsewhere runs/.joined");
    e2e_expect_has(e2e_exits(0, "ctest --verbose")->out,
                   "this is a run of its own");
    e2e_expect_is(e2e_run("ls elsewhere")->out, "");
}

/* The first process of a run asks ctest for its tests, which may take long. The
 * others go on with its run. */
Test(e2e_joined_run, a_process_that_is_killed_early_leaves_nothing)
{
    e2e_run("echo 'if(DEFINED ENV{TESTLOG_JOINING})\n"
            "execute_process(COMMAND sh -c \"echo $PPID >listing; "
            "exec sleep 98.7\")\nendif()' >list; "
            "sed \"s,listing,$PWD/&,\" list >>CTestTestfile.cmake");
    add_sender("fails", "failed");
    e2e_run("ctest & until [ -s listing ]; do sleep 0.01; done; "
            "pkill -KILL -f -- \"run --join=$PWD/runs\"; "
            "kill $(cat listing); wait; pkill -f 'sleep 98[.]7'");
    e2e_expect_is(e2e_run("ls -d runs/2* | wc -l")->out, "1\n");
    e2e_expect_has(outcomes(LATEST), "failed s/fails\n");
    e2e_expect_is(e2e_run("ls runs/.joined | grep -c list")->out, "1\n");
    e2e_run("sed -i '/^if/,/^endif/d' CTestTestfile.cmake; ctest");
    e2e_expect_is(e2e_run("ls runs/.joined | grep -c list")->out, "0\n");
    e2e_expect_is(e2e_run("ls -d runs/2* | wc -l")->out, "2\n");
}

/* The next ctest completes the run of one that was killed, and says that it
 * was. */
Test(e2e_joined_run, the_run_of_a_killed_ctest_is_interrupted)
{
    char first[256];

    add_command("kills", "kill -9 $PPID; sleep 5");
    add_sender("fails", "failed");
    e2e_run("ctest");
    snprintf(first, sizeof(first), "%s",
             e2e_run("readlink -f " LATEST " | tr -d '\\n'")->out);
    e2e_exits(0, "ctest -R passes");
    e2e_expect_is(outcomes(first), "passed s/passes\n");
    e2e_expect_has(e2e_read("%s/summary.tsv", first), "end\tinterrupted\n");
    e2e_expect_has(e2e_read(LATEST "summary.tsv"), "end\tfinished\n");
}

/* e2e_flaky_test.c: what is remembered of many runs: outcomes by flavour, and
 * which tests are flaky. */
#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_flaky, .init = e2e_begin, .timeout = 300);

/* It passes at its second try. */
static void run_unsteady(const char *flags)
{
    e2e_run("rm -f tries; %s --retries=1 --filter unsteady/second_try "
            "--filter unsteady/passes %s",
            e2e_program("unsteady", E2E_TRACED), flags);
}

Test(e2e_flaky, ranks_what_passes_when_tried_again)
{
    const struct e2e *result;

    run_unsteady("");
    run_unsteady("");
    run_unsteady("");
    result = e2e_exits(0, TESTLOG " flaky");
    e2e_expect_has(result->out, "unsteady_test unsteady/second_try (gcc-O",
                   "): 0 flips, 3 of 3 first tries failed, 3 passed when tried "
                   "again\n    first flaky 20",
                   "    3 x ", ": too early\n");
    e2e_expect_lacks(result->out, "unsteady/passes");
    e2e_expect_is(result->err, "");
}

Test(e2e_flaky, needs_no_list_of_tests)
{
    run_unsteady("; rm testlog-runs/.history/*.tsv");
    e2e_expect_has(e2e_run(TESTLOG " flaky")->out,
                   "unsteady_test unsteady/second_try (gcc-O");
}

Test(e2e_flaky, prints_json)
{
    const struct e2e *result;
    const cJSON *tests, *test;

    run_unsteady("");
    result = e2e_run(TESTLOG " flaky --json --since=5 >flaky.json; echo $?");
    e2e_expect_is(result->out, "0\n");
    tests = cJSON_GetObjectItem(e2e_json("flaky.json"), "flaky");
    cr_assert_eq(cJSON_GetArraySize(tests), 1);
    test = cJSON_GetArrayItem(tests, 0);
    e2e_expect_is(e2e_text(test, "name"), "unsteady/second_try");
    e2e_expect_is(e2e_text(test, "program"), "unsteady_test");
    cr_expect_eq(cJSON_GetObjectItem(test, "rescues")->valueint, 1);
    cr_expect_eq(cJSON_GetObjectItem(test, "failures")->valueint, 1);
    cr_expect(cJSON_IsNull(
        cJSON_GetObjectItem(cJSON_GetObjectItem(test, "first"), "commit")));
}

Test(e2e_flaky, judges_only_the_last_runs)
{
    run_unsteady("");
    run_unsteady("--filter unsteady/passes; touch tries");
    e2e_run("%s --filter unsteady/second_try",
            e2e_program("unsteady", E2E_TRACED));
    e2e_run("%s --filter unsteady/passes", e2e_program("unsteady", E2E_TRACED));
    e2e_expect_has(e2e_run(TESTLOG " flaky")->out, "second_try");
    e2e_expect_is(e2e_run(TESTLOG " flaky --since=1")->out,
                  "no test is flaky\n");
    e2e_expect_is(e2e_run(TESTLOG " flaky --since=2999-01-01")->out,
                  "no test is flaky\n");
    e2e_expect_has(e2e_run(TESTLOG " flaky --since=2020-01-01")->out,
                   "second_try");
}

Test(e2e_flaky, refuses_bad_values)
{
    static const char *const bad[] = {"0",  "-1",  "x",         "2026-1-1",
                                      "''", "1.5", "2026-02-30"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const struct e2e *result =
            e2e_exits(2, TESTLOG " flaky --since=%s", bad[i]);

        e2e_expect_has(result->err, "is neither a number of runs nor a day; "
                                    "write one such as 20 or 2026-11-20\n");
        e2e_expect_is(result->out, "");
    }
    e2e_expect_is(e2e_run("mkdir none; " TESTLOG " flaky none")->out,
                  "no test has run in this folder\n");
}

/* The last column but one is the commit. */
static const char *commit(void)
{
    return e2e_run("cut -f 4 testlog-runs/.history/*.outcomes | head -n 1")
        ->out;
}

#define RUN_ONE "%s --filter unsteady/passes >/dev/null 2>&1; "

Test(e2e_flaky, remembers_the_commit)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    e2e_run("GITHUB_SHA=0123456789abcdef0123456789abcdef01234567 " RUN_ONE,
            program);
    e2e_expect_is(commit(), "0123456789ab\n");
    e2e_expect_has(e2e_read("testlog-runs/latest/summary.tsv"),
                   "commit\t0123456789abcdef0123456789abcdef01234567\n");
    e2e_run("rm -r testlog-runs; GITHUB_SHA='bad; name' "
            "CI_COMMIT_SHA=feedf00d " RUN_ONE,
            program);
    e2e_expect_is(commit(), "feedf00d\n");
    e2e_run("rm -r testlog-runs; unset GITHUB_SHA CI_COMMIT_SHA; "
            "GIT_CEILING_DIRECTORIES=$(dirname $PWD) " RUN_ONE,
            program);
    e2e_expect_is(commit(), "-\n");
}

/* A repository may configure commands. */
Test(e2e_flaky, asks_git_without_running_its_commands)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    e2e_need("git");
    e2e_run("unset GITHUB_SHA CI_COMMIT_SHA; exec 2>/dev/null; git init -q; "
            "git config user.email a@b; git config user.name a; echo 1 >file; "
            "echo testlog-runs >.gitignore; git add file; git commit -qm one; "
            "printf '#!/bin/sh\\ntouch %%s/ran\\n' $PWD >cmd; chmod +x cmd; "
            "git config core.fsmonitor $PWD/cmd; "
            "git config filter.f.clean $PWD/cmd; echo 'file filter=f' "
            ">.git/info/attributes; mkdir -p .git/hooks; cp cmd "
            ".git/hooks/post-index-change; rm -f ran; " RUN_ONE
            "cut -f 4 testlog-runs/.history/*.outcomes | head -n 1 >clean; "
            "rm -r testlog-runs; echo 2 >file; " RUN_ONE,
            program, program);
    cr_expect_not(e2e_exists("ran"), "git ran a configured command");
    cr_expect_eq(strlen(e2e_read("clean")), 13, "%s", e2e_read("clean"));
    cr_expect_eq(strlen(commit()), 14, "%s", commit());
    e2e_expect_has(commit(), "+\n");
    e2e_expect_is(e2e_run("sed -n 's/^commit.//p' "
                          "testlog-runs/latest/summary.tsv | cut -c 1-12")
                      ->out,
                  e2e_read("clean")); /* for index.html, whole */
}

/* A filter whose name cannot be switched off, a clone that lacks objects, and a
 * file that was only touched. */
Test(e2e_flaky, does_not_run_commands_of_odd_repositories)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    e2e_need("git");
    e2e_run("unset GITHUB_SHA CI_COMMIT_SHA; exec 2>/dev/null; git init -q; "
            "git config user.email a@b; git config user.name a; echo 1 >file; "
            "echo testlog-runs >.gitignore; git add file; git commit -qm one; "
            "touch -d '1 hour ago' file; " RUN_ONE
            "head -n 1 testlog-runs/.history/*.outcomes | cut -f 4 >touched; "
            "git config 'filter.a=b.clean' \"touch $PWD/ran; cat\"; "
            "echo '* filter=a=b' >.git/info/attributes; echo 2 >file; " RUN_ONE
            "git config --unset filter.a=b.clean; rm .git/info/attributes; "
            "git config extensions.partialClone origin; git config "
            "remote.origin.promisor true; git config remote.origin.url "
            "ssh://nowhere/x; git config core.sshCommand \"touch $PWD/ran; "
            "false\"; find .git/objects -type f -delete; " RUN_ONE,
            program, program, program);
    cr_expect_not(e2e_exists("ran"), "git ran a configured command");
    cr_expect_eq(strlen(e2e_read("touched")), 13, "%s", e2e_read("touched"));
}

/* It closes its output, and starts something that lives on. */
Test(e2e_flaky, does_not_wait_for_a_git_that_hangs)
{
    const struct e2e *result;

    e2e_run("mkdir bin; printf '#!/bin/sh\nexec >&-\nsleep 77 &\n"
            "exec sleep 78\n' >bin/git; chmod +x bin/git");
    result = e2e_run("unset GITHUB_SHA CI_COMMIT_SHA; PATH=$PWD/bin:$PATH "
                     "timeout 60 " RUN_ONE "echo code $?; pgrep -x -f "
                     "'sleep 7[78]'",
                     e2e_program("unsteady", E2E_TRACED));
    e2e_expect_is(result->out, "code 0\n");
    e2e_expect_is(commit(), "-\n");
}

Test(e2e_flaky, is_told_to_github)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    run_unsteady("");
    e2e_run("rm -f tries; GITHUB_ACTIONS=true GITHUB_STEP_SUMMARY=summary %s "
            "--retries=1 --filter unsteady/second_try",
            program);
    e2e_expect_has(e2e_read("summary"),
                   "| flaky test | failed first tries | flips | since |\n"
                   "| --- | --- | --- | --- |\n"
                   "| unsteady/second&#95;try | 2 of 2 | 0 | ");
}

/* ---- Flavours ---- */

Test(e2e_flaky, names_the_flavour_of_a_build)
{
    run_unsteady("");
    e2e_expect_has(e2e_text(e2e_run_json(), "flavour"), "gcc-O", "-traced");
    run_unsteady("--flavour=my.own_build-3");
    e2e_expect_is(e2e_text(e2e_run_json(), "flavour"), "my.own_build-3");
    e2e_run("echo 'flavour = conf' >testlog.conf");
    run_unsteady("");
    e2e_expect_is(e2e_text(e2e_run_json(), "flavour"), "conf");
}

Test(e2e_flaky, refuses_a_flavour_that_is_no_word)
{
    static const char *const bad[] = {"'a b'", "a/b", "''", "\u00e4"};

    for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
        const struct e2e *result = e2e_exits(
            2, "%s --flavour=%s", e2e_program("unsteady", E2E_TRACED), bad[i]);

        e2e_expect_has(result->err, "is not a flavour; write up to 64 letters");
    }
}

/* The median of one build does not serve another that has passed. */
Test(e2e_flaky, keeps_durations_of_flavours_apart)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    e2e_run("%s --filter unsteady/passes --flavour=a", program);
    e2e_run("%s --filter unsteady/never --flavour=c", program);
    e2e_run("sed -i 's/^passed\\t0\\t1\\t.*/passed\\t0\\t1\\t123456789/' "
            "testlog-runs/.history/*.outcomes");
    e2e_expect_has(
        e2e_run("%s --list=json --flavour=a", program)->out,
        "\"flavour\":\"a\",\"outcome\":\"passed\",\"median_ns\":123456789}");
    e2e_expect_lacks(e2e_run("%s --list=json --flavour=b", program)->out,
                     "123456789");
    e2e_run("rm testlog-runs/.history/*.outcomes");
    e2e_expect_has(e2e_run("%s --list=json --flavour=b", program)->out,
                   "median_ns");
}

Test(e2e_flaky, compares_only_results_of_different_flavours)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);
    const struct e2e *result;

    e2e_run("%s --filter unsteady/passes --flavour=debug --repeat=5", program);
    e2e_run("%s --filter unsteady/passes --flavour=release --repeat=5",
            program);
    e2e_run("sed -i 's/\"duration_ns\":[0-9]*/\"duration_ns\":9000000000/g' "
            "testlog-runs/latest/run.json");
    result = e2e_exits(0, TESTLOG " diff");
    e2e_expect_has(result->out, "1 unchanged");
    e2e_expect_is(result->err,
                  "testlog: diff: only results are compared, because the "
                  "builds differ: debug, then release; --any-flavour compares "
                  "times, too\n");
    result = e2e_run(TESTLOG " diff --any-flavour");
    e2e_expect_has(result->out, "1 slower");
    e2e_expect_is(result->err, "");
}

/* The shards ran elsewhere; their runs are not remembered twice. */
Test(e2e_flaky, remembers_merged_runs)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    e2e_run("mkdir testlog-runs; echo x | tee tries crashes >sizes; "
            "for i in 1 2; do "
            "%s --shard=$i/2 --trace-dir=s$i --filter '*/[ps]*'; done; " TESTLOG
            " merge s1/latest s2/latest -o testlog-runs/m",
            program);
    cr_expect_eq(e2e_count(e2e_run("cat testlog-runs/.history/*.outcomes")->out,
                           "passed\t"),
                 6);
    e2e_expect_has(e2e_run("cat testlog-runs/.history/*.outcomes")->out,
                   "run\tm\t");
    e2e_run(TESTLOG " merge s1/latest s2/latest -o "
                    "testlog-runs/2026-11-20T10-00-00.000001");
    e2e_expect_has(e2e_read("testlog-runs/index.html"),
                   "\"2026-11-20T10-00-00.000001/report.html\"");
}

/* The merging machine may have another one. */
Test(e2e_flaky, a_merged_run_has_the_commit_of_its_parts)
{
    const char *program = e2e_program("unsteady", E2E_TRACED);

    e2e_run("for i in 1 2 3; do GITHUB_SHA=aaaa$((i / 3))111 %s --shard=$i/3 "
            "--trace-dir=s$i --filter '*/[ps]*'; done; export GITHUB_SHA=cccc; "
            "mkdir testlog-runs; " TESTLOG
            " merge s1/latest s2/latest -o testlog-runs/m; " TESTLOG
            " merge --allow-missing s2/latest s3/latest -o testlog-runs/n",
            program);
    e2e_expect_has(e2e_read("testlog-runs/m/summary.tsv"),
                   "commit\taaaa0111\n");
    e2e_expect_has(e2e_run("cat testlog-runs/.history/*.outcomes")->out,
                   "\taaaa0111\t");
    e2e_expect_lacks(e2e_read("testlog-runs/n/summary.tsv"), "commit");
}

/* All that a script sends is of one run and no flavour. */
Test(e2e_flaky, a_run_is_named_once)
{
    e2e_run("printf '#!/bin/sh\nfor i in 1 2 3 4; do echo '\\''{\"schema\":1,"
            "\"event\":\"test\",\"name\":\"s/'\\''$i'\\''\",\"outcome\":"
            "\"passed\"}'\\'' >/dev/fd/$TESTLOG_RESULTS; done\n' >script; "
            "chmod +x script; " TESTLOG " run ./script");
    e2e_expect_is(e2e_run("cut -f 1 testlog-runs/.history/script.outcomes | "
                          "sort | uniq -c | tr -s ' '")
                      ->out,
                  " 4 passed\n 1 run\n 4 test\n");
}

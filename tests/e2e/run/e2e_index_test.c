/* e2e_index_test.c: index.html, which lists the runs in a folder. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define INDEX   "testlog-runs/index.html"

E2E_FOLDER

TestSuite(e2e_index, .init = e2e_begin, .timeout = 300);

static size_t count_of(const char *text, const char *part)
{
    size_t count = 0;

    for (; (text = strstr(text, part)); text += strlen(part))
        count++;
    return count;
}

/* The name of the latest run. */
static const char *latest(void)
{
    static char name[64];
    ssize_t size = readlink("testlog-runs/latest", name, sizeof(name) - 1);

    cr_assert_gt(size, 0);
    name[size] = '\0';
    return name;
}

static void expect_listed(const char *name, const char *state)
{
    char row[256];

    snprintf(
        row, sizeof(row),
        "<a href=\"%s/report.html\">%s</a></th><td class=\"text state-%s\">",
        name, name, state);
    e2e_expect_has(e2e_read(INDEX), row);
}

Test(e2e_index, each_run_lists_all)
{
    char first[64];

    e2e_run("%s --filter '*/passes'", e2e_program("small", E2E_TRACED));
    snprintf(first, sizeof(first), "%s", latest());
    expect_listed(first, "passed");
    e2e_run("CI_COMMIT_SHA=0a1b2c " TESTLOG " run %s",
            e2e_program("losing", E2E_TRACED));
    expect_listed(first, "passed");
    expect_listed(latest(), "failed");
    e2e_expect_has(e2e_read(INDEX), ">0a1b2c</td>",
                   "<th scope=\"row\" class=\"name\"><div>small/passes <span");
}

Test(e2e_index, a_flaky_test_stands_out)
{
    e2e_run("%s --retries=3 --filter '*/second_try'",
            e2e_program("unsteady", E2E_TRACED));
    e2e_expect_has(e2e_read("testlog-runs/latest/summary.tsv"), "\nflaky\t");
    e2e_expect_has(e2e_read(INDEX), "<td class=\"text note-2\">flaky</td>"
                                    "<td class=\"flaky bar-");
}

Test(e2e_index, repetitions_are_one_test)
{
    e2e_run("%s --repeat=3 -j1 --filter '*/second_try'",
            e2e_program("unsteady", E2E_TRACED));
    e2e_expect_has(e2e_read(INDEX), "<div>unsteady/second_try <span",
                   "\">2 of 3 passed ", "%3Aunsteady/second_try\">",
                   "<p>1 test, <span class=\"note-2\">1 flaky</span>",
                   " --repeat=3 -j1 --filter '*/second_try'</td>");
}

/* Runs a test with an outcome at a commit. */
static void run_at(const char *commit, const char *outcome)
{
    e2e_run("printf '#!/bin/sh\necho '\\''{\"schema\":1,\"event\":\"test\","
            "\"name\":\"s/t\",\"outcome\":\"%s\"}'\\'' "
            ">/dev/fd/$TESTLOG_RESULTS\n' >script; chmod +x script; "
            "GITHUB_SHA=%s '" TESTLOG "' run ./script",
            outcome, commit);
}

/* As testlog flaky says: a fault that was made and mended is none. */
Test(e2e_index, a_mended_test_is_not_flaky)
{
    run_at("1111111111111", "passed");
    run_at("2222222222222", "failed");
    run_at("3333333333333", "passed");
    e2e_expect_lacks(e2e_read(INDEX), ">flaky</td>");
    e2e_expect_has(e2e_run("'" TESTLOG "' flaky")->out, "no test is flaky");
    run_at("3333333333333", "failed");
    e2e_expect_has(e2e_read(INDEX), "<td class=\"text note-2\">flaky</td>");
    e2e_expect_has(e2e_run("'" TESTLOG "' flaky")->out, "s/t");
}

Test(e2e_index, a_run_that_was_killed_is_listed)
{
    char killed[64];

    e2e_run("%s --filter waits/for_ever >/dev/null 2>&1 & pid=$!; "
            "until [ -s ready ]; do sleep 0.01; done; kill -KILL $pid $(cut "
            "-d' ' -f4 /proc/$(cat child)/stat) $(cat child); wait $pid",
            e2e_program("unsteady", E2E_TRACED));
    snprintf(killed, sizeof(killed), "%s", latest());
    e2e_run("%s --filter '*/passes'", e2e_program("small", E2E_TRACED));
    expect_listed(latest(), "passed");
    e2e_expect_has(e2e_read(INDEX), killed, "state-unfinished\">unfinished<");
}

Test(e2e_index, runs_that_end_together_are_all_listed)
{
    e2e_run("for i in 1 2 3 4 5 6 7 8 9 10; do %s -q --filter '*/passes' & "
            "done; wait",
            e2e_program("small", E2E_TRACED));
    cr_expect_eq(count_of(e2e_read(INDEX), "class=\"text state-passed\""), 10);
}

Test(e2e_index, testlog_clean_removes_its_runs_from_it)
{
    const char *program = e2e_program("small", E2E_TRACED);

    e2e_run("for i in 1 2 3; do %s -q --filter '*/passes'; done", program);
    cr_expect_eq(count_of(e2e_read(INDEX), "class=\"text state-passed\""), 3);
    e2e_exits(0, TESTLOG " clean --keep=1 --dry-run");
    cr_expect_eq(count_of(e2e_read(INDEX), "class=\"text state-passed\""), 3);
    e2e_exits(0, TESTLOG " clean --keep=1");
    cr_expect_eq(count_of(e2e_read(INDEX), "class=\"text state-passed\""), 1);
}

Test(e2e_index, the_folder_may_be_elsewhere)
{
    e2e_run("TRACE_DIR=elsewhere %s -q --filter '*/passes'",
            e2e_program("small", E2E_TRACED));
    e2e_expect_has(e2e_read("elsewhere/index.html"), "state-passed");
    cr_expect_not(e2e_exists(INDEX));
}

Test(e2e_index, no_verdict_depends_on_it)
{
    const struct e2e *result;

    cr_assert_eq(system("mkdir -p " INDEX "/x"), 0);
    result = e2e_exits(0, "%s --filter '*/passes'",
                       e2e_program("small", E2E_TRACED));
    e2e_expect_has(result->err, "index.html: Is a directory; results are not "
                                "affected");
    e2e_expect_is(e2e_last(result->out), "2 passed, 0 failed, 0 skipped");
}

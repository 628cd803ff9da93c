/* e2e_kept_runs_test.c: the commands about runs that are kept. */
#include "tests/support/e2e.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define TESTLOG BUILD_DIR "/testlog "

E2E_FOLDER

TestSuite(e2e_kept_runs, .init = e2e_begin, .timeout = 300);

/* Names of runs that were not made by a program. */
#define OLD  "2026-01-02T03-04-05.000001"
#define OLD2 "2026-01-02T03-04-05.000002"
#define OLD3 "2026-01-02T03-04-05.000003"

/* Makes a run with a run.json of any bytes; `text` NULL: without one. */
static void make(const char *name, const char *text)
{
    char path[PATH_MAX];
    FILE *file;

    e2e_run("mkdir -p testlog-runs/%s/tests", name);
    if (!text)
        return;
    snprintf(path, sizeof(path), "testlog-runs/%s/run.json", name);
    file = fopen(path, "w");
    cr_assert_not_null(file);
    fputs(text, file);
    cr_assert_eq(fclose(file), 0);
}

#define HEAD "{\"schema\":1,\n\"command\":\"./x\",\n\"passed\":1,\"failed\":0,"
#define JSON HEAD "\"skipped\":0,\n\"tests\":[\n]}\n"

/* ---- list ---- */

/* The line of a run in `testlog list`. */
static const char *listed(const char *name)
{
    return e2e_line(e2e_run(TESTLOG "list 2>&1")->out, name);
}

Test(e2e_kept_runs, list_prints_the_latest_run_first)
{
    const char *small = e2e_program("small", E2E_TRACED);
    const struct e2e *list;
    const char *line;

    make(OLD, JSON);
    e2e_run("%s --filter small/passes", small);
    list = e2e_exits(0, TESTLOG "list");
    line = e2e_line(list->out, "small");
    cr_expect_eq(strncmp(list->out, line, strlen(line)), 0, "%s", list->out);
    e2e_expect_has(line, " s  ", " KiB  1 passed, 0 failed, 0 skipped  ",
                   "small_test --filter small/passes");
    e2e_expect_has(e2e_last(list->out), OLD "           -  ",
                   " KiB  1 passed, 0 failed, 0 skipped  ./x");
}

Test(e2e_kept_runs, list_takes_a_folder)
{
    e2e_run("%s --trace-dir=given; mkdir none", e2e_program("ci", E2E_TRACED));
    e2e_expect_has(e2e_run(TESTLOG "list given")->out, " 4 failed, ");
    e2e_expect_has(e2e_run("TRACE_DIR=given " TESTLOG "list")->out,
                   " 4 failed, ");
    e2e_run("echo trace-dir = given >testlog.conf");
    e2e_expect_has(e2e_run(TESTLOG "list")->out, " 4 failed, ");
    e2e_expect_is(e2e_exits(0, TESTLOG "list none")->err,
                  "testlog: list: none has no runs\n");
}

Test(e2e_kept_runs, list_prints_json)
{
    const cJSON *json, *run;

    e2e_run("%s --filter small/passes", e2e_program("small", E2E_TRACED));
    make(OLD, NULL);
    e2e_exits(0, TESTLOG "list --json >list.json");
    json = e2e_json("list.json");
    cr_expect_eq(e2e_number(json, "schema"), 1);
    run = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "runs"), 0);
    e2e_expect_is(e2e_text(run, "state"), "finished");
    e2e_expect_has(e2e_text(run, "command"),
                   "small_test --filter small/passes");
    e2e_expect_has(e2e_text(run, "start"), "T");
    cr_expect_eq(e2e_number(run, "passed"), 1);
    cr_expect_gt(e2e_number(run, "duration_ns"), 0);
    cr_expect_gt(e2e_number(run, "size"), 0);
    run = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "runs"), 1);
    e2e_expect_is(e2e_text(run, "name"), OLD);
    e2e_expect_is(e2e_text(run, "state"), "unfinished");
}

Test(e2e_kept_runs, list_names_runs_that_are_not_finished)
{
    static const char *const broken[] = {
        "",
        "{",
        "]}\n",
        "\n\"tests\":[]}\n",
        "{\n\"tests\":[[[[]}\n",
        "[1,\n\"tests\":[\n]}\n",
        HEAD "\"skipped\":0,\n\"tests\":[\n",
        HEAD "\"skip\377\001\n\"tests\":[\n]}\n",
    };

    make(OLD, NULL);
    e2e_expect_has(listed(OLD), "KiB  unfinished");
    for (size_t i = 0; i < sizeof(broken) / sizeof(*broken); i++) {
        make(OLD, broken[i]);
        e2e_expect_has(listed(OLD), "KiB  damaged");
    }
    e2e_run("flock testlog-runs/" OLD " " TESTLOG "list >list");
    e2e_expect_has(e2e_read("list"), "KiB  running\n");
    e2e_run("cd testlog-runs/" OLD " && rm run.json && mkfifo run.json");
    e2e_expect_has(listed(OLD), "KiB  damaged");
    e2e_run("cd testlog-runs/" OLD " && rm run.json && ln -s /dev/zero "
            "run.json");
    e2e_expect_has(listed(OLD), "KiB  damaged");
    e2e_run("cd testlog-runs/" OLD " && rm run.json && truncate -s 1T run.json "
            "|| truncate -s 1G run.json");
    e2e_expect_has(listed(OLD), "KiB  damaged");
}

Test(e2e_kept_runs, list_names_a_run_that_was_interrupted)
{
    e2e_interrupt(e2e_program("unsteady", E2E_TRACED));
    e2e_expect_has(e2e_run(TESTLOG "list")->out,
                   " skipped, interrupted by SIGINT  ");
}

Test(e2e_kept_runs, list_ignores_what_is_no_run)
{
    make(OLD, JSON);
    e2e_run("cd testlog-runs && mkdir notes " OLD2 " && ln -s " OLD " " OLD3
            " && ln -s " OLD " latest && touch 2026-01-02T03-04-05.000004");
    e2e_expect_is(e2e_run(TESTLOG "list | cut -d' ' -f1")->out, OLD "\n");
}

Test(e2e_kept_runs, list_escapes_what_a_run_contains)
{
    make(OLD, "{\"command\":\"\\u001b[31mred\\n\",\"interrupted\":"
              "\"\\u001b\",\"passed\":1e300,\"failed\":-1,"
              "\"skipped\":0.5,\n\"tests\":[\n]}\n");
    e2e_expect_lacks(listed(OLD), "\033");
    e2e_expect_has(listed(OLD), "  0 passed, 0 failed, 0 skipped, ");
    e2e_exits(0, TESTLOG "list --json >list.json");
    cr_expect_not_null(e2e_json("list.json"));
}

Test(e2e_kept_runs, list_refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"", "testlog: list: cannot read testlog-runs: No such file or "
             "directory; run a test program first, or name the folder"},
        {"/dev/null", "list: cannot read /dev/null: Not a directory"},
        {". ..", "list: one folder is enough; leave out .."},
        {"--jsom", "list: unknown flag --jsom; did you mean --json?"},
        {"--json=1", "list: --json takes no value"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct e2e *result =
            e2e_exits(2, TESTLOG "list %s", rows[i].arguments);

        e2e_expect_has(result->err, rows[i].error);
        e2e_expect_is(result->out, "");
    }
}

Test(e2e_kept_runs, list_cuts_a_long_command)
{
    e2e_run("%s --filter small/passes $(yes -- '--filter small/passes' | "
            "head -20000)",
            e2e_program("small", E2E_TRACED));
    e2e_expect_has(e2e_run(TESTLOG "list")->out, "small_test --filter ");
    e2e_expect_has(e2e_run(TESTLOG "list")->out, " ...\n");
    cr_expect_lt(strlen(e2e_run(TESTLOG "list")->out), (size_t)250);
    cr_expect_gt(strlen(e2e_run(TESTLOG "list --json")->out), (size_t)400000);
}

/* ---- Naming a run ---- */

Test(e2e_kept_runs, other_commands_take_names_of_the_list)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("%s --filter small/passes; %s --filter other/passes; %s sizes",
            small, small, small);
    e2e_expect_has(e2e_run(TESTLOG "export latest~1")->out, "other/");
    e2e_expect_is(e2e_run(TESTLOG "log latest~99")->err,
                  "testlog: log: there is no run latest~99; testlog list lists "
                  "them\n");
    e2e_expect_has(e2e_run(TESTLOG "export latest~2")->out, "small/passes");
    e2e_expect_lacks(e2e_run(TESTLOG "export latest")->out, "small/passes");
    e2e_run("name=$(" TESTLOG "list | sed -n 's/ .*//;2p'); " TESTLOG
            "export $name >one; echo trace-dir = moved >testlog.conf; "
            "mv testlog-runs moved; " TESTLOG "export $name >two");
    e2e_expect_has(e2e_read("one"), "other/");
    e2e_expect_is(e2e_read("two"), e2e_read("one"));
    e2e_exits(2, TESTLOG "export latest~3");
}

/* ---- Order ---- */

/* Runs whose names a clock of 2029 gave, and then four of today. */
static void run_after_a_clock_was_ahead(const char *flags)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("for i in 1 2 3; do %s --filter small/passes; "
            "mv testlog-runs/$(readlink testlog-runs/latest) "
            "testlog-runs/2029-01-01T00-00-00.00000$i; done",
            small);
    e2e_run("for i in 1 2 3 4; do %s --filter other/passes %s; "
            "readlink testlog-runs/latest >>today; done",
            small, flags);
}

Test(e2e_kept_runs, a_run_keeps_the_last_ones_whatever_the_clock_was)
{
    run_after_a_clock_was_ahead("--keep=3");
    e2e_expect_is(
        e2e_run("ls testlog-runs")->out,
        e2e_run("tail -n 3 today; echo index.html; echo latest")->out);
    e2e_expect_is(e2e_run(TESTLOG "list | sed 's/ .*//'")->out,
                  e2e_run("tail -n 3 today | tac")->out);
}

Test(e2e_kept_runs, commands_order_runs_whatever_the_clock_was)
{
    run_after_a_clock_was_ahead("");
    e2e_expect_is(e2e_run(TESTLOG "list | sed 's/ .*//'")->out,
                  e2e_run("tac today; ls -r testlog-runs | grep ^2029")->out);
    for (int i = 0; i < 7; i++)
        e2e_expect_has(e2e_run(TESTLOG "export latest~%d", i)->out,
                       i < 4 ? "other/" : "small/");
    e2e_exits(2, TESTLOG "export latest~7");
    e2e_expect_is(
        e2e_run(TESTLOG "diff | sed -n 's|.*runs/||; s| (.*||p'")->out,
        e2e_run("tail -n 2 today")->out);
    e2e_run(TESTLOG "clean --keep=1");
    e2e_expect_is(
        e2e_run("ls testlog-runs")->out,
        e2e_run("tail -n 1 today; echo index.html; echo latest")->out);
}

Test(e2e_kept_runs, an_unpacked_run_has_no_number)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("%s --trace-dir=there; %s --trace-dir=there; %s", small, small,
            small);
    e2e_expect_is(e2e_read("there/latest/order"), "2\n");
    e2e_run(TESTLOG "pack there/latest -o new.tar.zst");
    e2e_exits(1, "tar -tf new.tar.zst | grep order");
    e2e_run("tar --zstd -cf all.tar.zst -C there $(readlink there/latest)");
    e2e_exits(0, "tar -tf all.tar.zst | grep order");
    e2e_exits(0, TESTLOG "pack -x all.tar.zst -o testlog-runs");
    e2e_expect_is(e2e_run(TESTLOG "list | sed 's/ .*//'")->out,
                  e2e_run("readlink testlog-runs/latest there/latest")->out);
    e2e_expect_is(e2e_run("cat testlog-runs/2*/order")->out, "1\n");
}

/* ---- diff ---- */

/* Runs the tests twice; those in `old` and `new` fail. */
static void run_twice(const char *old, const char *new)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("SMALL=%s %s; SMALL=%s %s", old, small, new, small);
}

Test(e2e_kept_runs, diff_prints_which_tests_newly_fail)
{
    const struct e2e *diff;

    run_twice("none", "sizes");
    diff = e2e_exits(1, TESTLOG "diff");
    e2e_expect_has(
        diff->out, "old: testlog-runs/2", "\nnew: testlog-runs/2",
        "\n\nnewly failing:\nprograms/small.c:", ": small/sizes[03]: failed: ");
    e2e_expect_has(e2e_last(diff->out), "1 newly failing, ");
    diff = e2e_exits(0, TESTLOG "diff latest latest~1");
    e2e_expect_has(diff->out, "\nnewly passing:\n    small/sizes[03]\n");
    e2e_expect_has(e2e_last(diff->out), "0 newly failing, 1 newly passing, ");
}

Test(e2e_kept_runs, diff_prints_added_and_gone_tests)
{
    const char *small = e2e_program("small", E2E_TRACED);
    const struct e2e *diff;

    e2e_run("%s --filter small/passes; %s --filter other/passes", small, small);
    diff = e2e_exits(0, TESTLOG "diff latest~1");
    e2e_expect_has(diff->out, "\nadded:\n    other/passes\n\n"
                              "gone:\n    small/passes\n");
    e2e_expect_is(e2e_last(diff->out), "0 newly failing, 1 added, 1 gone");
    e2e_expect_is(diff->err, "testlog: diff: no test ran in both runs\n");
}

Test(e2e_kept_runs, diff_compares_runs_of_the_same_program)
{
    const char *small = e2e_program("small", E2E_TRACED);
    const struct e2e *diff;

    e2e_run("%s --filter small/passes; %s --filter small/passes; "
            "%s --filter traced/forks_and_exits; %s --filter small/passes",
            small, small, e2e_program("traced", E2E_TRACED), small);
    diff = e2e_exits(0, TESTLOG "diff");
    e2e_expect_has(e2e_last(diff->out), "0 newly failing, 1 ");
    e2e_expect_lacks(diff->out, "gone");
    e2e_expect_has(diff->out, e2e_last(e2e_run("ls -rd testlog-runs/2* | "
                                               "sed -n 3p")
                                           ->out));
}

Test(e2e_kept_runs, diff_names_programs_if_there_are_several)
{
    const char *small = e2e_program("small", E2E_PLAIN);

    e2e_run(TESTLOG "run %s %s; SMALL=other " TESTLOG "run %s %s", small, small,
            small, small);
    e2e_expect_has(e2e_run(TESTLOG "diff")->out,
                   ": small_test~2 other/passes: failed");
}

/* Runs a test that takes a second, and makes five old runs that are said to
 * have taken 10 to 14 ms. */
static void run_slower(void)
{
    e2e_run("%s", e2e_program("times", E2E_TRACED));
    e2e_run("for i in 0 1 2 3 4; do "
            "cp -r \"$(realpath testlog-runs/latest)\" old-$i && "
            "sed -i 's/\"duration_ns\":[0-9]*/\"duration_ns\":1'$i'000000/' "
            "old-$i/run.json; done");
}

Test(e2e_kept_runs, diff_prints_changed_durations)
{
    const struct e2e *diff;

    run_slower();
    diff = e2e_exits(0, TESTLOG "diff old-0,old-1,old-2,old-3,old-4 latest");
    e2e_expect_has(diff->out, "old: old-0, old-1, old-2, old-3, old-4 (0.06 s)",
                   "\nslower:\n    times/sleeps: 0.01 s -> 1.",
                   " s (earlier passes: at most 0.01 s)\n");
    e2e_expect_is(e2e_last(diff->out), "0 newly failing, 1 slower");
    diff = e2e_run(TESTLOG "diff latest old-0,old-1,old-2,old-3,old-4");
    e2e_expect_has(diff->out, "\nfaster:\n");
}

Test(e2e_kept_runs, diff_fails_for_what_is_slower)
{
    const cJSON *json, *test;

    run_slower();
    e2e_exits(1, TESTLOG
              "diff old-0,old-1,old-2,old-3,old-4 latest --fail-over=10%%");
    e2e_exits(0, TESTLOG
              "diff old-0,old-1,old-2,old-3,old-4 latest --fail-over=50000%%");
    e2e_exits(0, TESTLOG
              "diff old-0,old-1,old-2,old-3,old-4 latest --json >diff.json");
    json = e2e_json("diff.json");
    e2e_expect_is(e2e_text(json, "verdict"), "slower");
    e2e_expect_is(e2e_text(json, "old"), "old-4");
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(json, "old_runs")), 5);
    test = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "changes"), 0);
    e2e_expect_is(e2e_text(test, "change"), "slower");
    e2e_expect_is(e2e_text(test, "verdict"), "slower");
    test = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "tests"), 0);
    e2e_expect_is(e2e_text(test, "name"), "times/sleeps");
    e2e_expect_is(e2e_text(test, "verdict"), "slower");
    cr_expect_gt(e2e_number(test, "ratio"), 50);
}

Test(e2e_kept_runs, diff_says_what_is_too_noisy_to_tell)
{
    const struct e2e *diff;
    const cJSON *json, *test;

    run_slower();
    diff = e2e_exits(0, TESTLOG "diff old-0 latest --fail-over=10%%");
    e2e_expect_has(diff->out,
                   "\ntests that are too noisy to tell:\n"
                   "    times/sleeps: 0.01 s -> 1.",
                   "; 2 more runs of each side would tell\n",
                   "\ntoo noisy to tell: 1 test; to measure more, use "
                   "--repeat, or compare more runs: OLD1,OLD2 NEW1,NEW2\n");
    e2e_expect_is(e2e_last(diff->out), "0 newly failing, 1 unchanged");
    e2e_exits(1, TESTLOG "diff old-0 latest --fail-noisy");
    e2e_exits(0, TESTLOG "diff old-0 latest --json >diff.json");
    json = e2e_json("diff.json");
    e2e_expect_is(e2e_text(json, "verdict"), "too-noisy");
    test = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "tests"), 0);
    e2e_expect_is(e2e_text(test, "verdict"), "too-noisy");
    cr_expect_eq(e2e_number(test, "more_runs"), 2);
}

/* The passes are of the flavour of the run, and were before it. */
Test(e2e_kept_runs, diff_judges_by_remembered_passes)
{
    run_slower();
    e2e_run(
        "cd testlog-runs/.history && "
        "flavour=$(awk '$1 == \"run\" { print $3 }' times_test.outcomes) && "
        "{ printf 'test\\t0\\ttimes/sleeps\\n'; for i in 1 2 3 4 5; do "
        "printf 'run\\t2026-01-0%%d\\t%%s\\t-\\t-\\n' $i \"$flavour\"; "
        "printf 'passed\\t0\\t1\\t1%%d000000\\n' $i; "
        "done; } >times_test.outcomes");
    e2e_expect_has(e2e_run(TESTLOG "diff old-0 latest")->out, "\nslower:\n");
    e2e_run("sed -i '/^run/ s/[^\\t]*/other/3' "
            "testlog-runs/.history/times_test.outcomes");
    e2e_expect_lacks(e2e_run(TESTLOG "diff old-0 latest")->out, "\nslower:\n");
}

Test(e2e_kept_runs, diff_takes_a_folder_with_a_comma)
{
    run_slower();
    e2e_run("mv old-0 a,b");
    e2e_expect_has(e2e_run(TESTLOG "diff a,b latest")->out, "old: a,b (");
    e2e_expect_has(e2e_run(TESTLOG "diff a,b,old-1 latest")->err,
                   "there is no run a in testlog-runs");
}

Test(e2e_kept_runs, diff_prints_json)
{
    const cJSON *json, *change;

    run_twice("none", "sizes");
    e2e_exits(1, TESTLOG "diff --json >diff.json");
    json = e2e_json("diff.json");
    e2e_expect_has(e2e_text(json, "old"), "testlog-runs/2");
    cJSON_ArrayForEach(change, cJSON_GetObjectItem(json, "changes"))
    {
        if (!strcmp(e2e_text(change, "change"), "newly-failing"))
            break; /* others may be slower */
    }
    cr_assert_not_null(change);
    e2e_expect_is(e2e_text(change, "program"), "small_test");
    e2e_expect_is(e2e_text(change, "name"), "small/sizes[03]");
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(change, "old"), "outcome"),
                  "passed");
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(change, "new"), "outcome"),
                  "failed");
}

Test(e2e_kept_runs, diff_reads_a_run_json_of_any_bytes)
{
    static const char *const runs[] = {
        "{\"tests\":[]}",
        "{\"tests\":[1,null,[],{},{\"name\":7},{\"name\":\"a\"},"
        "{\"name\":\"\\u001b/\\n#\",\"program\":\"\\u001b\",\"outcome\":"
        "\"failed\",\"duration_ns\":1e300,\"reason\":\"\\u001b:9: \\n\"}]}",
    };

    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        make(OLD, "{\"tests\":[]}");
        make(OLD2, runs[i]);
        e2e_expect_lacks(e2e_exits(i ? 1 : 0, TESTLOG "diff")->out, "\033");
        e2e_expect_lacks(e2e_run(TESTLOG "diff --json")->out, "\033");
    }
}

Test(e2e_kept_runs, diff_refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"", "diff: there is no run latest~1 in testlog-runs; testlog list "
             "lists them"},
        {"latest~1x", "there is no run latest~1x in testlog-runs"},
        {OLD " latest~99999999999999999999", "no run latest~99999999999999"},
        {OLD " " OLD2, "diff: testlog-runs/" OLD2 " has no run.json, so it is "
                       "not finished; testlog list shows which runs are"},
        {OLD " " OLD3, OLD3 "/run.json: it is damaged; testlog list "},
        {"a b c", "diff: two runs are enough; leave out c, or write "
                  "b,c for several of one side"},
        {OLD ",,", "diff: \"" OLD ",,\" names no run between its commas"},
        {"--jsom", "diff: unknown flag --jsom; did you mean --json?"},
    };

    make(OLD, JSON);
    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        const struct e2e *result;

        if (i) {
            make(OLD2, NULL);
            make(OLD3, "{");
        }
        result = e2e_exits(2, TESTLOG "diff %s", rows[i].arguments);
        e2e_expect_has(result->err, rows[i].error);
        e2e_expect_is(result->out, "");
    }
}

/* ---- clean ---- */

static double count_runs(void)
{
    return atof(e2e_run(TESTLOG "list | wc -l")->out);
}

Test(e2e_kept_runs, clean_removes_old_runs_and_prints_what_they_used)
{
    const struct e2e *clean;

    make(OLD, JSON);
    make(OLD2, JSON);
    make(OLD3, JSON);
    e2e_expect_is(e2e_run(TESTLOG "clean")->out, "0 runs removed, 0 B\n");
    clean = e2e_exits(0, TESTLOG "clean --keep=1 --dry-run");
    e2e_expect_has(clean->out, "would remove testlog-runs/" OLD2 ", ");
    e2e_expect_has(e2e_last(clean->out), "2 runs would be removed, ", " KiB");
    cr_expect_eq(count_runs(), 3);
    clean = e2e_exits(0, TESTLOG "clean --keep=1");
    e2e_expect_has(clean->out, "removed testlog-runs/" OLD2 ", ",
                   "removed testlog-runs/" OLD ", ");
    e2e_expect_has(e2e_last(clean->out), "2 runs removed, ");
    e2e_expect_has(e2e_run(TESTLOG "list")->out, OLD3);
    cr_expect_eq(count_runs(), 1);
}

Test(e2e_kept_runs, clean_takes_a_folder_and_the_settings)
{
    static const char *const commands[] = {
        "TRACE_DIR=x TRACE_KEEP=1 " TESTLOG "clean given",
        "TRACE_DIR=given TRACE_KEEP=1 " TESTLOG "clean",
        "TRACE_KEEP=1 " TESTLOG "clean --keep 2 given",
        TESTLOG "clean --keep=0 given",
        "echo keep = 1 >testlog.conf; " TESTLOG "clean given",
    };
    static const char *const left[] = {"1\n", "1\n", "2\n", "3\n", "1\n"};

    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        make(OLD, JSON);
        make(OLD2, JSON);
        make(OLD3, JSON);
        e2e_run("mv testlog-runs given");
        e2e_exits(0, "%s", commands[i]);
        e2e_expect_is(e2e_run("ls given | wc -l; rm -r given")->out, left[i]);
    }
}

Test(e2e_kept_runs, clean_keeps_what_a_run_would_keep)
{
    const struct e2e *clean;

    make(OLD, JSON);
    make(OLD2, NULL);
    make(OLD3, JSON);
    e2e_run("cd testlog-runs && mkdir notes ../other && touch ../other/file && "
            "ln -s ../other 2026-01-01T00-00-00.000000 && "
            "mkdir .removing-2026-01-01T00-00-00.000001 && "
            "ln -s ../../other " OLD "/tests/link && "
            "cp -r " OLD " 2026-01-01T00-00-00.000002");
    clean =
        e2e_exits(0, "flock testlog-runs/" OLD " " TESTLOG "clean --keep=1");
    e2e_expect_has(clean->out, "/.removing-2026-01-01T00-00-00.000001",
                   "/2026-01-01T00-00-00.000002", "2 runs removed, ");
    e2e_expect_is(e2e_run("ls -A testlog-runs")->out,
                  "2026-01-01T00-00-00.000000\n" OLD "\n" OLD2 "\n" OLD3 "\n"
                  "notes\n");
    cr_expect(e2e_exists("other/file"));
}

Test(e2e_kept_runs, clean_reports_a_run_that_it_cannot_remove)
{
    const struct e2e *clean;

    make(OLD, JSON);
    make(OLD2, JSON);
    e2e_run("cd testlog-runs/" OLD "/tests && mkdir -p $(printf 'a/%%.0s' "
            "$(seq 70))");
    clean = e2e_exits(1, TESTLOG "clean --keep=1");
    e2e_expect_has(clean->err, "testlog: clean: cannot remove testlog-runs/" OLD
                               ": Too many levels of symbolic links\n");
    e2e_expect_is(clean->out, "0 runs removed, 0 B\n");
}

Test(e2e_kept_runs, clean_refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"", "testlog: clean: cannot read testlog-runs: No such file or "},
        {"--keep=some .", "testlog: --keep: \"some\""},
        {"--keep", "testlog: clean: --keep needs a value"},
        {"--dry-run=1", "clean: --dry-run takes no value"},
        {"-x", "clean: unknown flag -x"},
        {". ..", "clean: one folder is enough; leave out .."},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        e2e_expect_has(e2e_exits(2, TESTLOG "clean %s", rows[i].arguments)->err,
                       rows[i].error);
}

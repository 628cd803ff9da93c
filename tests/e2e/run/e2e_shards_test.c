/* e2e_shards_test.c: shards, which together run all tests. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    e2e_link("small", E2E_TRACED, "small");
}

TestSuite(e2e_shards, .init = begin, .timeout = 300);

/* The tests and outcomes of all runs in a folder, with repetitions. */
static const char *results(const char *folder)
{
    return e2e_run("cut -f1,3,4 %s/latest/results.tsv | sort", folder)->out;
}

/* Writes durations of some tests to history.tsv: the others are new. */
static void write_history(void)
{
    e2e_run("{ for i in 00 01 02 03 04 05 06 07 08 09; do "
            "  echo passed 1$i small small/sizes[$i]; "
            "  echo failed 3$i small~2 small/sizes[$i]; done; "
            "echo passed 999 small small/passes; "
            "echo timeout 700 ci ci/fails; "
            "echo passed 400 ci ci/gone; } | tr ' ' '\t' >history.tsv");
}

/* ---- Slices and hashes ---- */

static const struct {
    const char *command;
    int total;
} spreads[] = {
    {"./small", 1},
    {"./small", 2},
    {"./small", 3},
    {"./small", 20},
    {"./small --shard-by=hash", 3},
    {"./small --repeat 2 --filter '*/sizes*'", 5},
    {TESTLOG " run ./small ./ci", 4},
    {TESTLOG " run ./small ./ci -- --shard-by=hash", 3},
    {"./small --shard-by=time", 3},
    {"./small --shard-by=time --history=history.tsv", 3},
    {TESTLOG " run ./small ./ci ./small -- --shard-by=time "
             "--history=history.tsv",
     4},
};

/* All shards together have the tests and outcomes of a whole run, and a shard
 * fails only for its own tests. */
Test(e2e_shards, runs_every_test_in_one_shard)
{
    e2e_link("ci", E2E_TRACED, "ci");
    write_history();
    for (size_t i = 0; i < sizeof(spreads) / sizeof(*spreads); i++) {
        const char *command = spreads[i].command;

        e2e_run("rm -rf whole shards; TRACE_DIR=whole %s", command);
        e2e_run("for i in $(seq 0 %d); do TEST_TOTAL_SHARDS=%d "
                "TEST_SHARD_INDEX=$i TRACE_DIR=shards/$i %s || "
                "grep -qE '^(failed|crashed|timeout)' "
                "shards/$i/latest/results.tsv || "
                "touch failed; done",
                spreads[i].total - 1, spreads[i].total, command);
        cr_expect_not(e2e_exists("failed"), "%s", command);
        e2e_expect_is(results("shards/*"), results("whole"));
        cr_expect_geq(e2e_count(results("whole"), "\n"), (size_t)16);
    }
}

static const char *tests_of(const char *flags)
{
    e2e_exits(0, "./small %s", flags);
    return e2e_run("cut -f4 testlog-runs/latest/results.tsv")->out;
}

Test(e2e_shards, slices_the_sorted_names)
{
    e2e_expect_is(tests_of("--shard=2/4"), "small/has_a_default\n"
                                           "small/sizes[01]\n"
                                           "small/sizes[05]\n"
                                           "small/sizes[09]\n");
    e2e_expect_is(tests_of("--shard=2/4 --filter '*/sizes*'"),
                  "small/sizes[01]\nsmall/sizes[05]\nsmall/sizes[09]\n");
}

/* A test stays in its shard if the others are filtered out. */
Test(e2e_shards, hash_keeps_a_test_in_its_shard)
{
    const char *all = tests_of("--shard=1/3 --shard-by=hash");

    cr_expect_geq(e2e_count(all, "\n"), (size_t)2);
    for (int i = 0; i < 12; i++) {
        char name[32], filter[128];

        snprintf(name, sizeof(name), "small/sizes[%02d]\n", i);
        snprintf(filter, sizeof(filter),
                 "--shard=1/3 --shard-by=hash --filter 'small/sizes[%02d]'", i);
        e2e_expect_is(tests_of(filter), strstr(all, name) ? name : "");
    }
}

Test(e2e_shards, writes_the_shard_to_run_json_and_stderr)
{
    const struct e2e *result =
        e2e_run("./small --shard=2/5 --shard-by=hash --filter '*/sizes*'");
    const cJSON *shard = cJSON_GetObjectItem(e2e_run_json(), "shard");

    e2e_expect_has(result->err, "recorded: trace (default); "
                                "shard: 2/5 by hash (--shard)\n");
    cr_expect_eq(e2e_number(shard, "index"), 1);
    cr_expect_eq(e2e_number(shard, "total"), 5);
    cr_expect_str_eq(e2e_text(shard, "by"), "hash");
    result = e2e_run("TEST_SHARD=1/3 " TESTLOG " run ./small ./small");
    cr_expect_eq(e2e_count(result->err, "shard: 1/3 by slice (TEST_SHARD)"),
                 (size_t)1);
    e2e_expect_closing(result, "12 passed, 0 failed, 0 skipped");
    shard = cJSON_GetObjectItem(e2e_run_json(), "shard");
    cr_expect_eq(e2e_number(shard, "total"), 3);
    e2e_run("./small");
    shard = cJSON_GetObjectItem(e2e_run_json(), "shard");
    cr_expect(cJSON_IsNull(shard));
}

/* ---- The plan in run.json ---- */

/* The program of a plan that has a name. */
static const cJSON *planned_program(const cJSON *plan, const char *name)
{
    const cJSON *program;

    cJSON_ArrayForEach(program, plan)
    {
        if (!strcmp(e2e_text(program, "program"), name))
            return program;
    }
    cr_assert_fail("%s is not in the plan", name);
    return NULL;
}

static bool has_name(const cJSON *names, const char *name)
{
    const cJSON *item;

    cJSON_ArrayForEach(item, names)
    {
        if (!strcmp(item->valuestring, name))
            return true;
    }
    return false;
}

/* The tests of a run must be those that its plan has for its shard. */
static void expect_as_planned(const cJSON *run, int shard)
{
    const cJSON *plan = cJSON_GetObjectItem(run, "plan"), *test, *program;
    const cJSON *tests = cJSON_GetObjectItem(run, "tests");
    int counted = 0;

    cJSON_ArrayForEach(test, tests)
    {
        const cJSON *all = planned_program(plan, e2e_text(test, "program"));
        const cJSON *names = cJSON_GetObjectItem(all, "tests");

        cr_expect(
            has_name(cJSON_GetArrayItem(names, shard), e2e_text(test, "name")),
            "%s in shard %d", e2e_text(test, "name"), shard);
    }
    cJSON_ArrayForEach(program, plan)
    {
        const cJSON *count =
            cJSON_GetArrayItem(cJSON_GetObjectItem(program, "counts"), shard);

        counted += count->valueint;
    }
    cr_expect_eq(counted, cJSON_GetArraySize(tests));
}

static const struct {
    const char *command, *programs;
} planners[] = {
    {"./small", "1\n"},
    {"./small --shard-by=hash", "1\n"},
    {"./small --shard-by=time --history=history.tsv", "1\n"},
    {TESTLOG " run ./small ./ci ./small", "3\n"},
};

Test(e2e_shards, writes_the_plan_of_all_shards_to_run_json)
{
    e2e_link("ci", E2E_TRACED, "ci");
    write_history();
    for (size_t i = 0; i < sizeof(planners) / sizeof(*planners); i++) {
        e2e_run("rm -rf runs");
        for (int shard = 0; shard < 3; shard++) {
            e2e_run("TEST_SHARD=%d/3 TRACE_DIR=runs/%d %s", shard + 1, shard,
                    planners[i].command);
            expect_as_planned(e2e_json("runs/%d/latest/run.json", shard),
                              shard);
        }
        e2e_expect_is(e2e_run("cat runs/*/latest/run.json | grep '^\"plan\"' | "
                              "grep -o '{[^}]*}' | sort -u | wc -l")
                          ->out,
                      planners[i].programs);
    }
    e2e_run("./small");
    cr_expect_null(cJSON_GetObjectItem(e2e_run_json(), "plan"));
}

/* No test runs: there are fewer than shards. */
Test(e2e_shards, names_up_to_10000_planned_tests)
{
    e2e_link("large", E2E_TRACED, "large");
    for (int tests = 10000; tests <= 10001; tests++) {
        const cJSON *program;

        e2e_run("LARGE_TESTS=%d ./large --filter large/one_of_many "
                "--shard=20000/20000",
                tests);
        program = planned_program(cJSON_GetObjectItem(e2e_run_json(), "plan"),
                                  "large");
        cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(program, "counts")),
                     20000);
        cr_expect_eq(cJSON_HasObjectItem(program, "tests"), tests == 10000);
    }
}

/* ---- Shards by time ---- */

/* Three programs, whose tests take 1 to 40 ms; each alone has one test that is
 * long for its shards. */
static void write_skewed_history(void)
{
    e2e_run("for program in small small~2 small~3; do "
            "printf 'passed\\t40000000\\t%%s\\tsmall/passes\\n' $program; "
            "for i in 00 01 02 03 04 05 06 07 08 09 10 11; do "
            "printf 'passed\\t1%%s0000\\t%%s\\tsmall/sizes[%%s]\\n' $i "
            "$program $i; done; done >history.tsv");
}

/* The time that the tests of a shard take in history.tsv, in ms. */
static double time_of(const char *run)
{
    return strtod(
        e2e_run("awk -F '\\t' 'NR == FNR {times[$3, $4] = $2; next} {sum += "
                "times[$3, $4]} END {print sum / 1e6}' history.tsv "
                "%s/latest/results.tsv",
                run)
            ->out,
        NULL);
}

static const char *history_of(const char *run)
{
    return e2e_text(
        cJSON_GetObjectItem(e2e_json("%s/latest/run.json", run), "shard"),
        "history");
}

#define TIMED                                                                  \
    TESTLOG " run ./small ./small ./small -- --shard-by=time "                 \
            "--history=history.tsv "

/* Each program alone would put its long test into the first shard. */
Test(e2e_shards, balances_the_programs_of_a_run)
{
    static const char *const runs[] = {"runs/1", "runs/2", "runs/3"};
    double times[3], sum = 0;

    write_skewed_history();
    for (size_t i = 0; i < 3; i++) {
        const struct e2e *result =
            e2e_exits(0, TIMED "--shard=%zu/3 --trace-dir=%s", i + 1, runs[i]);

        e2e_expect_has(result->err, "by time (--shard), 39 durations, history",
                       history_of(runs[i]));
        e2e_expect_is(history_of(runs[i]), history_of(runs[0]));
        sum += times[i] = time_of(runs[i]);
    }
    for (size_t i = 0; i < 3; i++)
        cr_expect_leq(times[i], sum / 3 * 1.2, "shard %zu: %g ms of %g", i,
                      times[i], sum);
}

/* A filter leaves out other tests in all programs. */
Test(e2e_shards, balances_the_tests_that_filters_match)
{
    write_skewed_history();
    for (int i = 1; i <= 2; i++)
        e2e_run(TIMED "--shard=%d/2 --trace-dir=runs/%d --filter '*/sizes*'", i,
                i);
    cr_expect_float_eq(time_of("runs/1"), time_of("runs/2"), 4);
    cr_expect_eq(e2e_count(results("runs/*"), "sizes"), (size_t)36);
    e2e_expect_is(history_of("runs/1"), history_of("runs/2"));
    e2e_expect_has(e2e_read("runs/1/latest/run.json"), "\"durations\":36,");
}

/* Shards that start later must not know more than those before. */
Test(e2e_shards, agree_while_they_share_a_history)
{
    const char *first = NULL, *all;

    e2e_run("./small --filter small/passes; ./small --filter '*/sizes*'; "
            "./small --filter small/has_a_default");
    for (int i = 1; i <= 3; i++) {
        const struct e2e *result =
            e2e_exits(0,
                      "./small --shard=%d/3 --shard-by=time && cat "
                      "testlog-runs/latest/results.tsv >>all.tsv",
                      i);
        const char *history = strstr(result->err, "durations, history");

        cr_assert_not_null(history);
        first = first ? first : history;
        cr_expect_eq(strncmp(history, first, 35), 0, "%.40s", history);
    }
    all = e2e_run("cut -f4 all.tsv | sort -u | wc -l; wc -l <all.tsv")->out;
    e2e_expect_is(all, "16\n16\n");
}

Test(e2e_shards, lists_the_tests_of_a_shard_by_time)
{
    static const char *const commands[] = {"./small",
                                           TESTLOG " run ./small ./small --"};
    static const char *const flags[] = {"", "--history=history.tsv"};

    write_history();
    e2e_run("./small; ./small --filter small/passes");
    for (size_t i = 0; i < 2; i++)
        for (size_t file = 0; file < 2; file++) {
            char command[256];

            snprintf(command, sizeof(command),
                     "%s --shard=2/3 --shard-by=time %s", commands[i],
                     flags[file]);
            e2e_expect_is(
                e2e_run("%s --ascii --list | sed -n 's/^[|`]-- //p' | sort",
                        command)
                    ->out,
                e2e_run(
                    "%s >/dev/null; cut -f4 testlog-runs/latest/results.tsv "
                    "| sed 's,.*/,,' | sort",
                    command)
                    ->out);
        }
}

/* ---- Listing and running ---- */

Test(e2e_shards, passes_a_shard_without_tests)
{
    static const char *const commands[] = {"./small",
                                           TESTLOG " run ./small ./small"};

    for (size_t i = 0; i < 2; i++) {
        const struct e2e *result =
            e2e_exits(0,
                      "export TEST_TOTAL_SHARDS=100 TEST_SHARD_INDEX=99 "
                      "TEST_SHARD_STATUS_FILE=status XML_OUTPUT_FILE=out.xml; "
                      "LOG=programs::small=debug %s",
                      commands[i]);

        e2e_expect_closing(result, "0 passed, 0 failed, 0 skipped");
        cr_expect_eq(
            e2e_count(result->err, "testlog: shard 100/100 has no test\n"),
            (size_t)1);
        e2e_expect_lacks(result->err, "matched");
        e2e_expect_has(e2e_read("out.xml"), "tests=\"0\"");
        cr_expect(e2e_exists("status"));
        e2e_run("rm status out.xml");
    }
    e2e_exits(4, "./small --shard=1/2 --filter nothing");
}

Test(e2e_shards, lists_the_tests_that_filters_match)
{
    e2e_expect_is(e2e_run("./small --ascii --list --filter 'small/sizes[04]' "
                          "--filter 'other/*'")
                      ->out,
                  "other: 1 test\n`-- passes\nsmall: 1 test\n`-- sizes[04]\n");
}

Test(e2e_shards, lists_like_criterion)
{
    e2e_expect_is(e2e_run("./small --list --filter small/passes")->out,
                  "small: 1 test\n\u2514\u2500\u2500 passes\n");
}

Test(e2e_shards, lists_the_tests_of_the_shard)
{
    e2e_expect_is(e2e_run("./small --ascii --list --shard=1/8")->out,
                  "other: 1 test\n`-- passes\nsmall: 1 test\n`-- sizes[04]\n");
    e2e_expect_is(
        e2e_run("./small --ascii --list --shard=2/8 --filter '*/sizes*'")->out,
        "small: 2 tests\n|-- sizes[01]\n`-- sizes[09]\n");
    cr_expect_eq(e2e_count(e2e_run(TESTLOG " run ./small ./small -- --list "
                                           "--shard=1/8")
                               ->out,
                           "sizes[04]"),
                 (size_t)2);
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_shards, failed_reruns_failures_in_their_shard)
{
    static const char *const folders[] = {"1", "2", "3"};
    size_t failed = 0;

    for (size_t i = 0; i < 3; i++) {
        const struct e2e *first = e2e_run(
            "SMALL=sizes,other TRACE_DIR=%s ./small --shard=%zu/3 --retries 1",
            folders[i], i + 1);
        e2e_exits(
            first->code,
            "SMALL=sizes,other TRACE_DIR=%s ./small --shard=%zu/3 --failed",
            folders[i], i + 1);

        failed += e2e_count(results(folders[i]), "failed\t");
        e2e_expect_lacks(first->code ? results(folders[i]) : "", "passed\t");
    }
    cr_expect_eq(failed, (size_t)2, "other/passes and sizes[03]");
}

static const struct {
    const char *command, *printed;
} refused[] = {
    {"TEST_SHARD_INDEX=3 TEST_TOTAL_SHARDS=3 ./small",
     "testlog: TEST_SHARD_INDEX: \"3\" is not a shard of 3 "
     "(TEST_TOTAL_SHARDS); write 0 to 2\n"},
    {"TEST_TOTAL_SHARDS=3 ./small",
     "testlog: TEST_TOTAL_SHARDS is set and TEST_SHARD_INDEX is not; set both "
     "or neither\n"},
    {"GTEST_SHARD_INDEX=one GTEST_TOTAL_SHARDS=3 " TESTLOG " run ./small",
     "testlog: GTEST_SHARD_INDEX: \"one\" is not a shard of 3 "
     "(GTEST_TOTAL_SHARDS); write 0 to 2\n"},
    {"TEST_SHARD=4/3 " TESTLOG " run ./small ./small",
     "testlog: TEST_SHARD: \"4/3\" is not a shard; write 1/3 to 3/3\n"},
    {TESTLOG " run ./small -- --shard=3",
     "testlog: --shard: \"3\" is not a shard; write K/N, such as 2/5, with N "
     "up to 1000000, or auto\n"},
    {"./small --shard-by=name", "testlog: --shard-by: unknown value \"name\"; "
                                "write slice, hash or time\n"},
    {"TEST_HISTORY=absent ./small --shard=1/2 --shard-by=time",
     "testlog: TEST_HISTORY: cannot read absent: No such file or directory; "
     "give all shards the same file, which may be empty\n"},
    {"./small --history=absent",
     "testlog: --history: cannot read absent: No such file or directory; "
     "give all shards the same file, which may be empty\n"},
    {"TEST_HISTORY=absent " TESTLOG " run ./small ./small",
     "testlog: TEST_HISTORY: cannot read absent: No such file or directory; "
     "give all shards the same file, which may be empty\n"},
    {TESTLOG " run ./small -- --shard=1/2 --shard-by=time --history=small",
     "testlog: --history: small:1 is not a line of results.tsv: outcome, "
     "nanoseconds, program and test, separated by tabs\n"},
};

Test(e2e_shards, reports_bad_values_in_one_line_before_any_test)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++) {
        const struct e2e *result = e2e_exits(2, "%s", refused[i].command);

        e2e_expect_is(result->err, refused[i].printed);
        e2e_expect_is(result->out, "");
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

#define UNUSED_HISTORY                                                         \
    "testlog: --history has no effect without --shard-by=time\n"

static const struct {
    const char *command, *printed;
} unused[] = {
    {"./small --history=empty", UNUSED_HISTORY},
    {"./small --history=empty --shard=1/2", UNUSED_HISTORY},
    {TESTLOG " run ./small -- --history=empty --shard=1/2", UNUSED_HISTORY},
    {"./small --shard-by=time",
     "testlog: --shard-by has no effect without --shard\n"},
    {TESTLOG " run ./small -- --shard-by=hash",
     "testlog: --shard-by has no effect without --shard\n"},
    {"cp time.conf testlog.conf; ./small --history=empty",
     "testlog: --history has no effect without --shard\n"},
    {"cp absent.conf testlog.conf; ./small", ""},
    {"TEST_HISTORY=empty ./small", ""},
    {"./small --history=empty --shard=1/2 --shard-by=time", ""},
    {"TEST_SHARD=auto ./small --history=empty --shard-by=time", ""},
    {"TEST_HISTORY=absent " TESTLOG " list", ""},
};

Test(e2e_shards, prints_once_which_flags_have_no_effect)
{
    e2e_run("./small; : >empty; echo 'shard-by = time' >time.conf; "
            "echo 'history = absent' >absent.conf");
    for (size_t i = 0; i < sizeof(unused) / sizeof(*unused); i++) {
        const struct e2e *result = e2e_exits(0, "%s", unused[i].command);

        e2e_expect_has(result->err, unused[i].printed);
        cr_expect_eq(e2e_count(result->err, "no effect"),
                     (size_t)(*unused[i].printed != '\0'), "%s: %s",
                     unused[i].command, result->err);
        e2e_run("rm -f testlog.conf");
    }
}

/* ---- Schedulers ---- */

static const struct {
    const char *variables, *closing;
} schedulers[] = {
    {"SLURM_ARRAY_TASK_ID=3 SLURM_ARRAY_TASK_MIN=1 SLURM_ARRAY_TASK_COUNT=3",
     "5 passed, 0 failed, 0 skipped"},
    {"SLURM_PROCID=1 SLURM_NTASKS=4", "4 passed, 0 failed, 0 skipped"},
    {"JOB_COMPLETION_INDEX=7 TEST_TOTAL_SHARDS=8",
     "2 passed, 0 failed, 0 skipped"},
    {"OMPI_COMM_WORLD_RANK=0 OMPI_COMM_WORLD_SIZE=2",
     "8 passed, 0 failed, 0 skipped"},
    {"PMI_RANK=0 PMI_SIZE=3", "6 passed, 0 failed, 0 skipped"},
    {"CI_NODE_INDEX=4 CI_NODE_TOTAL=4", "4 passed, 0 failed, 0 skipped"},
    {"", "16 passed, 0 failed, 0 skipped"},
};

Test(e2e_shards, takes_the_shard_from_a_scheduler_on_request)
{
    for (size_t i = 0; i < sizeof(schedulers) / sizeof(*schedulers); i++) {
        e2e_expect_closing(
            e2e_run("%s TEST_SHARD=auto ./small", schedulers[i].variables),
            schedulers[i].closing);
        e2e_expect_closing(
            e2e_run("%s ./small --shard=auto", schedulers[i].variables),
            schedulers[i].closing);
    }
    e2e_expect_closing(e2e_run("SLURM_PROCID=1 SLURM_NTASKS=4 ./small"),
                       "16 passed, 0 failed, 0 skipped");
    e2e_expect_has(e2e_run("./small --shard=auto")->err,
                   "shard: all tests, because no scheduler's variable is set "
                   "(--shard=auto)\n");
}

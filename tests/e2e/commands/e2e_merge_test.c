/* e2e_merge_test.c: one run of those of several shards or machines. */
#include "tests/support/e2e.h"

#include <fcntl.h>
#include <glob.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    e2e_link("small", E2E_TRACED, "small");
}

TestSuite(e2e_merge, .init = begin, .timeout = 300);

/* ---- Runs ---- */

static void run_shards(const char *command, int total)
{
    e2e_run("for i in $(seq %d); do TEST_SHARD=$i/%d TRACE_DIR=shards/$i %s; "
            "done",
            total, total, command);
}

/* Makes a copy of a run that seems to be another machine's. */
static void move(const char *run, const char *to, const char *host)
{
    e2e_exits(0,
              "mkdir -p $(dirname %s) && cp -rL %s %s && sed -i "
              "'s/\"host\":{\"name\":\"[^\"]*\"/\"host\":{\"name\":\"%s\"/; "
              "s/^\"pid\":.*/\"pid\":7,/' %s/run.json",
              to, run, to, host, to);
}

static const char *results(const char *run)
{
    return e2e_run("cut -f1,3,4 %s/results.tsv | sort", run)->out;
}

static const struct e2e *merge(int code, const char *arguments)
{
    return e2e_exits(code, TESTLOG " merge %s", arguments);
}

/* ---- Shards ---- */

Test(e2e_merge, makes_the_run_of_all_shards)
{
    const struct e2e *ran;

    e2e_link("ci", E2E_TRACED, "ci");
    e2e_run("TRACE_DIR=whole " TESTLOG " run ./small ./ci");
    run_shards(TESTLOG " run ./small ./ci", 3);
    ran = merge(1, "shards/*/latest -o all");
    e2e_expect_is(results("all"), results("whole/latest"));
    e2e_expect_is(e2e_last(ran->out),
                  e2e_run("tail -n +1 whole/latest/results.tsv | awk '"
                          "{n[$1]++} END {printf \"%%d passed, %%d failed, "
                          "%%d skipped\", n[\"passed\"], n[\"failed\"] + "
                          "n[\"crashed\"] + n[\"timeout\"], n[\"skipped\"]}'")
                      ->out);
    e2e_expect_lacks(ran->err, "shard");
}

static const char *const files[] = {
    "run.json",      "junit.xml",  "results.tap", "results.tsv",
    "results.jsonl", "trace.json", "report.html"};

Test(e2e_merge, works_with_all_commands)
{
    static const char *const commands[] = {"log all",
                                           "stat all",
                                           "export all",
                                           "export all --perfetto",
                                           "diff all whole/latest",
                                           "report all",
                                           "log all small/passes",
                                           "export all --speedscope",
                                           "stat all --by=test"};

    e2e_run("TRACE_DIR=whole ./small");
    run_shards("./small", 2);
    merge(0, "shards/*/latest -o all");
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        cr_expect(e2e_exists("all/%s", files[i]), "%s", files[i]);
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++)
        e2e_exits(0, TESTLOG " %s", commands[i]);
    e2e_expect_is(e2e_run(TESTLOG " log all --time=none | grep -v '^----'"
                                  " | sort")
                      ->out,
                  e2e_run(TESTLOG " log whole/latest --time=none | "
                                  "grep -v '^----' | sort")
                      ->out);
}

static const char *filter_of(const char *run, const char *name)
{
    const cJSON *json = e2e_json("%s/run.json", run);

    return cJSON_GetStringValue(
        cJSON_GetObjectItem(cJSON_GetObjectItem(json, "filters"), name));
}

Test(e2e_merge, names_the_filters_that_all_runs_had)
{
    e2e_run("TRACE_DIR=shards/1 LOG=debug ./small --shard=1/2");
    e2e_run("TRACE_DIR=shards/2 LOG=warn ./small --shard=2/2");
    merge(0, "shards/*/latest -o all");
    cr_expect_null(filter_of("all", "log"));
    cr_expect_str_eq(filter_of("all", "log_origin"), "LOG");
    cr_expect_str_eq(filter_of("all", "trace"), "trace");
    cr_expect_str_eq(filter_of("all", "trace_origin"), "default");
}

Test(e2e_merge, is_listed_like_other_runs)
{
    run_shards("./small", 2);
    e2e_run("mkdir testlog-runs");
    merge(0, "shards/*/latest -o testlog-runs/2026-11-22T01-02-03.000000");
    e2e_expect_has(e2e_run(TESTLOG " list")->out,
                   " passed, 0 failed, 0 skipped  ");
    e2e_expect_has(e2e_run(TESTLOG " list")->out, "testlog merge ");
}

Test(e2e_merge, leaves_the_runs_as_they_were)
{
    static const char list[] = "find shards -type f -exec md5sum {} + | sort";
    const char *before;

    run_shards("./small", 2);
    before = e2e_run("%s", list)->out;
    merge(0, "shards/*/latest -o all");
    e2e_exits(0, TESTLOG " report all");
    e2e_expect_is(e2e_run("%s", list)->out, before);
    cr_expect(e2e_count(before, "recording") >= 8);
}

/* ---- Missing shards ---- */

Test(e2e_merge, names_a_missing_shard)
{
    const struct e2e *ran;
    double missing;

    run_shards("./small", 3);
    missing = atof(e2e_run("wc -l <shards/2/latest/results.tsv")->out);
    ran = merge(1, "shards/[13]/latest -o all");
    e2e_expect_has(ran->err,
                   "shard 2 of 3: failed: missing: ", " tests are unknown: ");
    cr_expect_eq(e2e_number(e2e_json("all/run.json"), "failed"), 1);
    cr_expect_eq(
        (double)e2e_count(e2e_read("all/run.json"), "\"outcome\":\"none\""),
        missing);
    e2e_expect_has(e2e_read("all/junit.xml"), "failures=\"1\"");
    e2e_expect_has(e2e_read("all/results.tap"), "shard 2 of 3");
    ran = merge(0, "shards/[13]/latest -o allowed --allow-missing");
    e2e_expect_has(ran->err, "shard 2 of 3: skipped: missing: ");
}

/* Only the counts of large programs are known. */
Test(e2e_merge, counts_the_tests_of_a_missing_shard_without_names)
{
    run_shards("./small", 3);
    e2e_run("sed -i 's/,\"tests\":\\[\\[.*\\]\\]}\\],$/}],/' "
            "shards/*/2*/run.json");
    e2e_expect_has(e2e_read("shards/1/latest/run.json"), "]}],\n\"tests\"");
    e2e_expect_has(merge(1, "shards/[13]/latest -o all")->err,
                   "shard 2 of 3: failed: missing: ");
    e2e_expect_has(e2e_run("cat all/results.tap")->out, "tests are unknown\"");
}

Test(e2e_merge, keeps_what_a_killed_run_recorded)
{
    run_shards("./small", 2);
    e2e_run("rm shards/2/2*/run.json "
            "shards/2/2*/tests/small/run.json; "
            "head -n 2 shards/2/latest/results.jsonl >some; "
            "cp some shards/2/latest/results.jsonl");
    e2e_expect_has(merge(1, "shards/*/latest -o all")->err,
                   "shard 2 of 2: failed: cut off: ");
    e2e_expect_has(e2e_read("all/run.json"), "\"end\":\"killed\"",
                   "\"outcome\":\"none\",\"reason\":\"its run was cut off\"");
    e2e_expect_is(e2e_run("ls all/tests/small | wc -l")->out,
                  e2e_run("ls -d shards/*/2*/tests/small/*.* | "
                          "grep -v run.json | wc -l")
                      ->out);
}

Test(e2e_merge, keeps_the_tests_before_a_cut)
{
    run_shards("./small", 2);
    e2e_run("f=$(echo shards/2/2*/run.json); size=$(wc -c <$f); "
            "head -c $((size - 300)) $f >cut; cp cut $f; "
            "rm shards/2/2*/results.jsonl shards/2/2*/tests/small/run.json");
    merge(1, "shards/*/latest -o all");
    e2e_expect_has(e2e_read("all/results.tap"), "shard 2 of 2");
}

/* ---- Retries, and tests of one name ---- */

Test(e2e_merge, counts_a_shard_on_another_machine_as_a_retry)
{
    const struct e2e *ran;
    const cJSON *test;

    e2e_link("unsteady", E2E_TRACED, "unsteady");
    e2e_run("TRACE_DIR=a ./unsteady --filter 'unsteady/*' --shard=1/1");
    e2e_run("TRACE_DIR=b ./unsteady --filter 'unsteady/*' --shard=1/1");
    move("b/latest", "moved/b", "node2");
    ran = merge(1, "moved/b a/latest -o all"); /* by time, not in this order */
    e2e_expect_has(
        ran->err, "second_try: passed on try 2; the first failed",
        "testlog: merge: moved/b is a later try of the shard of a/latest\n");
    test = e2e_result(e2e_json("all/run.json"), "unsteady/second_try");
    cr_expect_str_eq(e2e_text(test, "outcome"), "passed");
    cr_expect_eq(e2e_number(test, "tries"), 2);
    e2e_expect_is(e2e_text(test, "folder"),
                  "tests/unsteady/unsteady.second_try.try2");
    test = e2e_result(e2e_json("all/run.json"), "unsteady/never");
    cr_expect_str_eq(e2e_text(test, "outcome"), "failed");
    e2e_expect_has(e2e_read("all/junit.xml"), "flakyFailure");
    cr_expect(e2e_exists("all/tests/unsteady/unsteady.second_try/recording"));
}

Test(e2e_merge, calls_a_test_that_passed_twice_not_flaky)
{
    e2e_run("TRACE_DIR=a ./small --shard=1/1; "
            "TRACE_DIR=b ./small --shard=1/1");
    e2e_expect_lacks(merge(0, "a/latest b/latest -o all")->err, "flaky");
    e2e_expect_lacks(e2e_read("all/run.json"), "\"flaky\":true");
    e2e_expect_lacks(e2e_read("all/junit.xml"), "flakyFailure");
    e2e_expect_has(e2e_read("all/run.json"), "\"tries\":2");
}

Test(e2e_merge, tells_machines_apart)
{
    e2e_exits(0, "./small");
    move("testlog-runs/latest", "moved/a", "node1");
    move("testlog-runs/latest", "moved/b", "node2");
    merge(0, "moved/a moved/b -o all");
    cr_expect_eq(e2e_count(results("all"), "small@node1\tsmall/passes\n"), 1);
    cr_expect_eq(e2e_count(results("all"), "small@node2\tsmall/passes\n"), 1);
    e2e_expect_has(e2e_read("all/trace.json"), "\"node2: small@node2 ",
                   "\"workers of node1\"");
    e2e_exits(0, TESTLOG
              " export all --perfetto | grep -aq 'node1: small@node1 small/p'");
}

Test(e2e_merge, prints_that_runs_repeat_the_same_tests)
{
    const struct e2e *ran;

    e2e_run("for i in 1 2; do TEST_SHARD=auto TRACE_DIR=$i ./small; done; "
            "TRACE_DIR=3 ./small --filter '*/passes'; "
            "TRACE_DIR=4 ./small --filter '*/sizes'");
    ran = merge(0, "1/latest 2/latest -o all");
    e2e_expect_has(ran->err,
                   "testlog: merge: 2 runs that are not shards have the same "
                   "tests, which count once for each run, as in small@");
    cr_expect_eq(e2e_count(ran->err, "not shards"), 1);
    e2e_expect_lacks(merge(0, "3/latest 4/latest -o parts")->err, "not shards");
}

Test(e2e_merge, counts_a_copy_once)
{
    e2e_exits(0, "./small && cp -rL testlog-runs/latest copy");
    e2e_expect_has(merge(0, "testlog-runs/latest copy -o all")->err,
                   " is a copy of ");
    e2e_expect_is(results("all"), results("copy"));
}

/* ---- What is refused ---- */

static const struct {
    const char *prepare, *arguments, *message;
} refusals[] = {
    {"true", "-o all", "merge: name the runs to merge; "},
    {"true", "run", "merge: name the folder of the new run with -o\n"},
    {"true", "run nothing -o all", "merge: there is no run nothing; "},
    {"mkdir empty", "empty -o all", "merge: empty is not a run; "},
    {"true", "run/run.json -o all", "merge: run/run.json is not a run; "},
    {"ln -s run same", "run same -o all",
     "merge: run and same are the same folder; name it once\n"},
    {"mkdir there", "run -o there",
     "merge: there exists; name a new folder with -o\n"},
    {"true", "run -o run/all", "merge: run/all is inside run; "},
    {"true", "run -o run/tests/all", "merge: run/tests/all is inside run; "},
    {"true", "run -o no/all", "merge: cannot create no/all: No such file "},
    {"true", "run -o all --align=nothing", "merge: --align: no test of "},
    {"true", "run -o all --align=",
     "merge: --align needs a value: "
     "--align=SPAN\n"},
    {"true", "run -o all --history=",
     "merge: --history needs a value: "
     "--history=FILE\n"},
    {"true", "run --bad", "merge: unknown flag --bad"},
    {"sed -i 's/^{\"schema\":1/{\"schema\":2/' run/run.json", "run -o all",
     "whose run.json has schema 2; this testlog reads schema 1\n"},
    {"printf '\\143' | dd bs=1 seek=8 conv=notrunc status=none "
     "of=$(ls run/tests/small/*/recording | head -n 1)",
     "run -o all", "has recordings of format 99; this testlog reads formats 1"},
    {TESTLOG " merge run -o one", "one -o all",
     "merge: one is a merged run; name the runs that it was made of\n"},
};

Test(e2e_merge, refuses_bad_input_and_changes_nothing)
{
    static const char list[] = "find . | sort";

    e2e_exits(0, "./small && cp -rL testlog-runs/latest good");
    for (size_t i = 0; i < sizeof(refusals) / sizeof(*refusals); i++) {
        const struct e2e *ran;
        const char *before;

        e2e_run("rm -rf run one; cp -r good run; %s", refusals[i].prepare);
        before = e2e_run("%s", list)->out;
        ran = merge(2, refusals[i].arguments);
        e2e_expect_has(ran->err, refusals[i].message);
        cr_expect_eq(e2e_count(ran->err, "\n"), 1, "%s", ran->err);
        e2e_expect_is(ran->out, "");
        e2e_expect_is(e2e_run("%s", list)->out, before);
    }
}

Test(e2e_merge, refuses_a_run_in_progress)
{
    const struct e2e *ran;

    e2e_exits(0, "./small && cp -rL testlog-runs/latest run");
    ran = e2e_exits(2, "flock -s run " TESTLOG " merge run -o all");
    e2e_expect_has(ran->err, "merge: run is still in progress");
    cr_expect_not(e2e_exists("all"));
}

Test(e2e_merge, refuses_shards_of_different_divisions)
{
    const struct e2e *ran;

    e2e_run("TRACE_DIR=a ./small --shard=1/2; TRACE_DIR=b ./small --shard=2/3;"
            "TRACE_DIR=c ./small --shard=2/2 --shard-by=hash");
    ran = merge(2, "a/latest b/latest -o all");
    e2e_expect_has(ran->err, "merge: a/latest is a shard of 2 and b/latest is "
                             "one of 3 of small; ");
    ran = merge(2, "a/latest c/latest -o all");
    e2e_expect_has(ran->err, "divide the tests of small in different ways");
    cr_expect_not(e2e_exists("all"));
}

Test(e2e_merge, refuses_shards_of_different_durations)
{
    e2e_run("printf 'passed\\t9\\tsmall\\tsmall/passes\\n' >one; "
            "printf 'passed\\t9\\tsmall\\tsmall/sizes[00]\\n' >two; "
            "TRACE_DIR=a ./small --shard=1/2 --shard-by=time --history=one; "
            "TRACE_DIR=b ./small --shard=2/2 --shard-by=time --history=two");
    e2e_expect_has(merge(2, "a/latest b/latest -o all")->err,
                   "a/latest and b/latest divide the tests of small by "
                   "different durations");
    cr_expect_not(e2e_exists("all"));
}

/* ---- Durations ---- */

#define NEXT "./small --shard-by=time --history=history --shard="

Test(e2e_merge, writes_the_durations_of_the_next_run)
{
    e2e_run("printf 'passed\\t9\\told\\told/test\\n"
            "failed\\t9\\told\\told/worse\\n"
            "passed\\t1\\tsmall\\tsmall/passes\\n' >history");
    run_shards("SMALL=other ./small", 3);
    merge(1, "shards/*/latest -o all --history=history");
    e2e_expect_has(e2e_read("history"), "failed\t");
    e2e_expect_is(e2e_run("cut -f1,3,4 history | LC_ALL=C sort")->out,
                  e2e_run("{ printf 'passed\\told\\told/test\\n'; "
                          "printf 'failed\\told\\told/worse\\n'; "
                          "cut -f1,3,4 all/results.tsv; } | LC_ALL=C sort")
                      ->out);
    e2e_expect_lacks(e2e_read("history"), "passed\t1\tsmall");
    e2e_expect_has(e2e_run(NEXT "2/3")->err, "by time (--shard), 16 durations");
}

/* Tests of two systems are told apart in the run, but are the same tests. */
Test(e2e_merge, writes_durations_under_the_programs_own_names)
{
    e2e_run("./small");
    move("testlog-runs/latest", "in/one/latest", "one");
    move("testlog-runs/latest", "in/two/latest", "two");
    merge(0, "in/*/latest -o all --history=history");
    e2e_expect_has(e2e_read("all/results.tsv"), "small@one");
    e2e_expect_is(e2e_run("cut -f3 history | sort | uniq -c | tr -s ' '")->out,
                  " 16 small\n");
}

Test(e2e_merge, refuses_a_bad_history)
{
    e2e_run("./small; echo bad >history");
    e2e_expect_is(
        merge(2, "latest -o all --history=history")->err,
        "testlog: --history: history:1 is not a line of results.tsv: outcome, "
        "nanoseconds, program and test, separated by tabs\n");
    cr_expect_not(e2e_exists("all"));
    e2e_expect_is(e2e_read("history"), "bad\n");
}

/* Whatever run.json says, files stay in the new folder. */
Test(e2e_merge, writes_only_into_its_folder)
{
    static const char *const edits[] = {
        "s#\"program\":\"small\"#\"program\":\"../../small\"#",
        "s#\"program\":\"small\"#\"program\":\"..\"#",
        "s#\"program\":\"small\"#\"program\":\"\"#",
        "s#\"folder\":\"tests/small/#\"folder\":\"tests/small/../../../good/"
        "tests/small/#",
        "s#\"folder\":\"tests/small/[^\"]*#\"folder\":\"tests/..#",
        "s#\"folder\":\"tests/small/[^\"]*#\"folder\":\"tests/small/..#",
        "s#\"start_ns\":[0-9]*#\"start_ns\":1e300#",
        "s#\"duration_ns\":[0-9]*#\"duration_ns\":18446744073709551000#",
        "s#\"shard\":null#\"shard\":{\"index\":1,\"total\":1e18}#",
        "s#\"start\":\"[^\"]*#\"start\":\"9999-12-31T23:59:59.9Z#",
    };

    e2e_exits(0, "./small && cp -rL testlog-runs/latest good");
    for (size_t i = 0; i < sizeof(edits) / sizeof(*edits); i++) {
        const char *before;

        e2e_run("rm -rf in; mkdir in; cp -r good in/run; "
                "sed -i '%s' in/run/run.json; rm -rf out",
                edits[i]);
        before = e2e_run("find . -path ./out -prune -o -print | sort")->out;
        cr_expect_leq(e2e_run(TESTLOG " merge in/run -o out")->code, 1, "%s",
                      edits[i]);
        e2e_expect_is(
            e2e_run("find . -path ./out -prune -o -print | sort")->out, before);
        cr_expect(e2e_exists("out/run.json"), "%s", edits[i]);
    }
}

/* ---- Clocks ---- */

/* Moves the wall clock of a run, by seconds: of its recordings (origin, start
 * and end), and its start. With `from`, only anchors from that one on move: the
 * clock was set while tests ran. */
static void set_clock(const char *run, double seconds, int from)
{
    static const off_t walls[] = {56, 80, 104}; /* struct trace_header */
    glob_t found;
    char pattern[PATH_MAX];

    snprintf(pattern, sizeof(pattern), "%s/tests/*/*/recording", run);
    cr_assert_eq(glob(pattern, 0, NULL, &found), 0);
    for (size_t i = 0; i < found.gl_pathc; i++) {
        int fd = open(found.gl_pathv[i], O_RDWR | O_CLOEXEC);

        for (int j = from; j < 3; j++) {
            uint64_t wall;

            cr_assert_eq(pread(fd, &wall, sizeof(wall), walls[j]), 8);
            wall += (uint64_t)(int64_t)(seconds * 1e9);
            cr_assert_eq(pwrite(fd, &wall, sizeof(wall), walls[j]), 8);
        }
        close(fd);
    }
    globfree(&found);
    if (!from)
        e2e_run(
            "f=%s/run.json; at=$(sed -n 's/^\"start\":\"\\(.*\\)Z\",/\\1/p' "
            "$f); sed -i \"s/^\\\"start\\\":.*/\\\"start\\\":\\\"$(date -u "
            "-d \"$at UTC %+.0f seconds\" +%%FT%%T.%%6NZ)\\\",/\" $f",
            run, seconds);
}

static const cJSON *part(const char *run, int number)
{
    return cJSON_GetArrayItem(
        cJSON_GetObjectItem(e2e_json("%s/run.json", run), "merged"), number);
}

static double start_of(const char *run, const char *program)
{
    const cJSON *test;

    cJSON_ArrayForEach(
        test, cJSON_GetObjectItem(e2e_json("%s/run.json", run), "tests"))
    {
        if (!strcmp(e2e_text(test, "program"), program) &&
            !strcmp(e2e_text(test, "name"), "small/passes"))
            return e2e_number(test, "start_ns");
    }
    return -1;
}

/* Both are the same run, so the offset of the second clock is known. */
Test(e2e_merge, aligns_clocks_by_a_span)
{
    const struct e2e *ran;

    e2e_exits(0, "./small");
    move("testlog-runs/latest", "moved/a", "node1");
    move("testlog-runs/latest", "moved/b", "node2");
    set_clock("moved/b", 100, 0);
    ran = merge(0, "moved/a moved/b -o off");
    e2e_expect_has(ran->err, "clock of node2: offset +0.000000 s, uncertainty "
                             "unknown");
    cr_expect_float_eq(start_of("off", "small@node2") -
                           start_of("off", "small@node1"),
                       100e9, 1e3);
    ran = merge(0, "moved/a moved/b -o on --align=outer");
    e2e_expect_has(ran->err, "clock of node2: offset -100.000000 s, "
                             "uncertainty 0.0");
    cr_expect_eq(e2e_number(part("on", 1), "offset_ns"), -100e9);
    cr_expect_float_eq(start_of("on", "small@node2"),
                       start_of("on", "small@node1"), 1e3);
}

/* The host that waits least arrived last. */
Test(e2e_merge, is_uncertain_by_the_shorter_span)
{
    const char *slow = e2e_program("slow", E2E_TRACED);

    e2e_exits(0, "%s", slow);
    move("testlog-runs/latest", "moved/a", "node1");
    e2e_exits(0, "SLOW_UNTIL=/ %s", slow);
    move("testlog-runs/latest", "moved/b", "node2");
    merge(0, "moved/a moved/b -o on --align=waiting");
    cr_expect_lt(e2e_number(part("on", 1), "uncertainty_ns"), 7e8);
}

/* All commands read recordings with the offset. */
Test(e2e_merge, prints_aligned_times)
{
    e2e_exits(0, "./small");
    move("testlog-runs/latest", "moved/a", "node1");
    move("testlog-runs/latest", "moved/b", "node2");
    set_clock("moved/b", 100, 0);
    merge(0, "moved/a moved/b -o on --align=outer");
    e2e_expect_is(
        e2e_run(TESTLOG " log on/tests/small@node2/small.passes")->out,
        e2e_run(TESTLOG " log on/tests/small@node1/small.passes")->out);
    e2e_expect_lacks(
        e2e_run(TESTLOG " log moved/b/tests/small/small.passes")->out,
        e2e_run(TESTLOG " log on/tests/small@node1/small.passes | "
                        "grep -o '^[0-9T:-]*' | head -n 1 | tr -d '\\n'")
            ->out);
}

Test(e2e_merge, corrects_a_clock_that_was_set_while_tests_ran)
{
    e2e_exits(0, "./small");
    move("testlog-runs/latest", "moved/a", "node1");
    move("testlog-runs/latest", "moved/b", "node2");
    e2e_run("sed -i 's/^\"clock\":.*/\"clock\":{\"error_ns\":1000},/' "
            "moved/*/run.json");
    set_clock("moved/b", 3, 2);
    e2e_expect_has(merge(0, "moved/a moved/b -o all")->err, "offset +3.0000");
    cr_expect_float_eq(e2e_number(part("all", 1), "offset_ns"), 3e9, 1e6);
    cr_expect_float_eq(e2e_number(part("all", 1), "uncertainty_ns"), 3e9, 1e6);
    cr_expect_lt(e2e_number(part("all", 0), "uncertainty_ns"), 1e6);
}

/* ---- Many machines ---- */

static void simulate(int shards, int tests, const char *names)
{
    e2e_exits(0,
              "TRACE_DIR=real %s -q && " BUILD_DIR
              "/tests/simulate real/latest sim %d %d %s",
              e2e_program("simulated", E2E_TRACED), shards, tests, names);
}

Test(e2e_merge, merges_many_hosts_with_skewed_clocks)
{
    const struct e2e *ran;

    simulate(40, 10, "names");
    ran = merge(0, "sim/* -o all");
    e2e_expect_is(e2e_last(ran->out), "400 passed, 0 failed, 0 skipped");
    e2e_expect_has(ran->err, "run.json has the clocks of 6 more hosts");
    cr_expect_eq(e2e_number(e2e_json("all/run.json"), "passed"), 400);
    e2e_expect_is(e2e_run("cut -f4 all/results.tsv | sort -u | wc -l")->out,
                  "400\n");
    e2e_expect_has(e2e_line(e2e_run(TESTLOG " stat all")->out, " work"),
                   "400 ");
    e2e_exits(0, TESTLOG " report all");
}

Test(e2e_merge, counts_missing_and_copied_shards_of_many)
{
    const struct e2e *ran;

    simulate(40, 10, "names");
    e2e_run("rm -r sim/00007 sim/00021; cp -r sim/00030 sim/copy; "
            "rm sim/00011/run.json");
    ran = merge(1, "sim/* -o all");
    e2e_expect_is(e2e_last(ran->out), "370 passed, 3 failed, 0 skipped");
    e2e_expect_has(ran->err, " is a copy of ",
                   "shard 8 of 40: failed: missing: 10 tests are unknown: "
                   "suite/t00007_000, ",
                   "shard 22 of 40: failed: missing: 10 tests are ",
                   "shard 12 of 40: failed: cut off: 10 tests are ");
}

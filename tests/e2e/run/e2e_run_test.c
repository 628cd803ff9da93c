/* e2e_run_test.c: testlog run, and the files of a run. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

/* a/small_test is traced, b/small_test is not. */
static void begin(void)
{
    e2e_begin();
    cr_assert_eq(mkdir("a", 0777) | mkdir("b", 0777), 0);
    e2e_link("small", E2E_TRACED, "a/small_test");
    e2e_link("small", E2E_PLAIN, "b/small_test");
    e2e_script("prints", "echo hello");
    e2e_script("dies", "kill -KILL $$");
    e2e_script("dies_without_a_name", "kill -36 $$");
    e2e_script("fails", "exit 1");
    e2e_script("launch",
               "for rank in 0 1 2; do\n"
               "[ $rank = \"$WITHOUT\" ] ||\n"
               "OMPI_COMM_WORLD_RANK=$rank OMPI_COMM_WORLD_SIZE=3 \"$@\" "
               "|| code=$?\ndone; exit ${code:-0}");
    e2e_script("exits_2", "exit 2");
    e2e_script("exits_3", "exit 3");
    e2e_script("exits_4", "exit 4");
    e2e_script("exits_7", "exit 7");
}

TestSuite(e2e_run, .init = begin, .timeout = 300);

/* ---- Programs ---- */

/* As a shell would, with "./". */
Test(e2e_run, runs_a_program_of_this_folder)
{
    const struct e2e *result;

    e2e_link("small", E2E_TRACED, "here_test");
    result = e2e_exits(0, TESTLOG " run here_test -- --filter 'small/passes'");
    e2e_expect_has(result->out, "1 passed, 0 failed, 0 skipped");
    result = e2e_run("mkdir -p there && mv here_test there && "
                     "PATH=$PWD/there:$PATH " TESTLOG
                     " run here_test -- --filter 'small/passes'");
    e2e_expect_has(result->out, "1 passed, 0 failed, 0 skipped");
    result = e2e_run("mkdir true; chmod 644 exits_2; " TESTLOG
                     " run true exits_2 2>&1");
    e2e_expect_is(result->out, "testlog: run: exits_2 is not in PATH, and what "
                               "is here cannot be executed\n");
}

/* ---- Merging ---- */

Test(e2e_run, merges_programs_into_one_run)
{
    const struct e2e *result =
        e2e_exits(0, TESTLOG " run a/small_test b/small_test 2>&1");
    const cJSON *run = e2e_run_json();

    e2e_expect_is(e2e_last(result->out), "32 passed, 0 failed, 0 skipped");
    cr_expect_eq(e2e_count(result->out, " skipped\n"), 1);
    cr_expect_eq(e2e_count(result->out, "lines shown: "), 1);
    cr_expect_eq(e2e_count(result->out, "run: "), 1);
    cr_expect_eq(e2e_number(run, "passed"), 32);
    cr_expect_eq(e2e_results(run, "small/sizes[07]"), 2);
    e2e_expect_is(e2e_text(run, "command"),
                  TESTLOG " run a/small_test b/small_test");
}

Test(e2e_run, notes_the_command_with_its_flags)
{
    e2e_run(TESTLOG " run a/small_test -- --filter '*/passes' --log=off");
    e2e_expect_is(e2e_text(e2e_run_json(), "command"),
                  TESTLOG " run a/small_test -- --filter '*/passes' "
                          "--log=off");
    e2e_run("a/small_test --log='a b' passes");
    e2e_expect_is(e2e_text(e2e_run_json(), "command"),
                  "a/small_test '--log=a b' passes");
}

Test(e2e_run, separates_programs_of_the_same_name)
{
    e2e_run(TESTLOG " run a/small_test b/small_test a/small_test");

    const char *xml = e2e_read("testlog-runs/latest/junit.xml");
    static const char *const names[] = {"small_test", "small_test~2",
                                        "small_test~3"};
    char suite[64];

    for (size_t i = 0; i < 3; i++) {
        snprintf(suite, sizeof(suite), "<testsuite name=\"%s\" tests=\"16\"",
                 names[i]);
        e2e_expect_has(xml, suite);
        cr_expect(
            e2e_exists("testlog-runs/latest/tests/%s/run.json", names[i]));
    }
    cr_expect(e2e_exists("testlog-runs/latest/tests/small_test~3/"
                         "small.passes/recording"));
    cr_expect_not(e2e_exists("testlog-runs/latest/tests/small_test~4"));
}

Test(e2e_run, supports_special_characters_in_program_names)
{
    e2e_exits(0, "cp a/small_test \"a/it's <&>\"; \"./a/it's <&>\"");

    cr_expect(e2e_exists("testlog-runs/latest/tests/it's <&>/small.passes"));
    e2e_exits(0, TESTLOG " run \"a/it's <&>\"");
    cr_expect(e2e_exists("testlog-runs/latest/tests/it's <&>/run.json"));
    cr_expect_eq(e2e_results(e2e_run_json(), "small/passes"), 1);
}

Test(e2e_run, traces_each_test_on_its_own_track)
{
    e2e_run(TESTLOG " run a/small_test a/small_test");

    const char *trace = e2e_read("testlog-runs/latest/trace.json");

    e2e_json("testlog-runs/latest/trace.json");
    e2e_expect_has(trace, "small_test small/passes",
                   "small_test~2 small/passes", "small_test~2 small/sizes[11]");
}

/* In ns since the run started, read from its trace. */
static double begin_of(const cJSON *trace, const char *name)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, cJSON_GetObjectItem(trace, "traceEvents"))
    {
        if (!strcmp(e2e_text(event, "name"), name))
            return e2e_number(event, "ts");
    }
    cr_assert_fail("no %s in the trace", name);
    return 0;
}

Test(e2e_run, counts_times_of_all_programs_from_the_start_of_the_run)
{
    const cJSON *trace;

    e2e_exits(0,
              "cp '%s' traced_test && cp '%s' late_test && '%s/testlog' run "
              "./late_test ./traced_test -- -j1 --filter late/answers --filter "
              "traced/nests",
              e2e_program("traced", E2E_TRACED),
              e2e_program("late", E2E_TRACED), BUILD_DIR);
    trace = e2e_json("testlog-runs/latest/trace.json");
    cr_expect_lt(begin_of(trace, "request"), begin_of(trace, "outer"));
    e2e_expect_is(
        e2e_text(e2e_run_json(), "start"),
        e2e_text(e2e_json("testlog-runs/latest/tests/traced_test/run.json"),
                 "start"));
}

Test(e2e_run, reports_directives_that_no_program_matches)
{
    const struct e2e *seen = e2e_run("LOG=programs=debug " TESTLOG
                                     " run b/small_test a/small_test 2>&1");
    const struct e2e *unmatched = e2e_run(
        "LOG=nowhere=debug " TESTLOG " run a/small_test a/small_test 2>&1");

    e2e_expect_lacks(seen->out, "matched no call site");
    cr_expect_eq(e2e_count(unmatched->out, "matched no call site"), 1, "%s",
                 unmatched->out);
}

Test(e2e_run, suggests_a_span_of_any_program)
{
    static const char *const orders[] = {"a/small_test ./traced_test",
                                         "./traced_test a/small_test"};

    for (size_t i = 0; i < 2; i++) {
        const struct e2e *result = e2e_run(
            "ln -sf '%s' traced_test; LOG=info,outer=off,nowhere " TESTLOG
            " run %s 2>&1",
            e2e_program("traced", E2E_TRACED), orders[i]);

        cr_expect_eq(e2e_count(result->out, "matched no call site"), 2);
        e2e_expect_has(
            result->out, "nowhere matched no call site\n",
            "outer=off matched no call site; did you mean ![outer]?\n");
    }
}

/* c/small_test and d/small_test have no debug level. */
Test(e2e_run, warns_if_no_program_has_a_level)
{
    static const struct {
        const char *programs;
        size_t notices;
    } runs[] = {
        {"c/small_test d/small_test", 1}, {"b/small_test c/small_test", 1},
        {"c/small_test a/small_test", 0}, {"a/small_test c/small_test", 0},
        {"b/small_test b/small_test", 0},
    };

    cr_assert_eq(mkdir("c", 0777) | mkdir("d", 0777), 0);
    e2e_link("small", E2E_INFO, "c/small_test");
    e2e_link("small", E2E_INFO, "d/small_test");
    for (size_t i = 0; i < sizeof(runs) / sizeof(*runs); i++) {
        const struct e2e *result =
            e2e_exits(0, "LOG=debug " TESTLOG " run %s 2>&1", runs[i].programs);

        cr_expect_eq(e2e_count(result->out, "LOG asks for debug, but this was "
                                            "built with LOG_STATIC_MAX=info\n"),
                     runs[i].notices, "%s: %s", runs[i].programs, result->out);
        cr_expect_eq(e2e_count(result->out, "STATIC_MAX"), runs[i].notices);
    }
}

Test(e2e_run, reports_a_bad_directive_once)
{
    const struct e2e *result = e2e_exits(
        0, "LOG=info,kv=loud " TESTLOG " run a/small_test a/small_test 2>&1");

    cr_expect_eq(e2e_count(result->out, "unknown level"), 1, "%s", result->out);
}

Test(e2e_run, hides_the_run_from_workers)
{
    const struct e2e *result = e2e_exits(
        0, TESTLOG
        " run a/small_test b/small_test -- --filter small/inherits_no_run");

    e2e_expect_closing(result, "2 passed, 0 failed, 0 skipped");
}

Test(e2e_run, runs_inside_a_test)
{
    const struct e2e *result = e2e_exits(
        0, "BXFI_MAP=/bxfi_0 GMON_OUT_PREFIX=gmon TESTLOG_RUN=/nowhere "
           "TESTLOG_SESSION=nested=1:1 " TESTLOG " run a/small_test");

    e2e_expect_closing(result, "16 passed, 0 failed, 0 skipped");
    cr_expect_not(e2e_exists("testlog-runs/latest"));
}

/* ---- Exit codes ---- */

static const struct {
    const char *command;
    int code;
    const char *closing;
} codes[] = {
    {"%s run a/small_test", 0, "16 passed, 0 failed, 0 skipped\n"},
    {"%s run ./prints", 0, "1 passed, 0 failed, 0 skipped\n"},
    {"SMALL=passes %s run a/small_test b/small_test", 1,
     "30 passed, 2 failed, 0 skipped\n"},
    {"%s run ./dies", 1, "0 passed, 1 failed, 0 skipped\n"},
    {"%s run ./exits_7 ./fails ./prints", 1, "1 passed, 2 failed, 0 skipped\n"},
    {"mkdir folder; %s run ./folder a/small_test", 1,
     "16 passed, 1 failed, 0 skipped\n"},
    {"%s run ./exits_2 ./fails", 2, "0 passed, 2 failed, 0 skipped\n"},
    {"%s run ./fails ./exits_3", 2, "0 passed, 2 failed, 0 skipped\n"},
    {"%s run ./exits_4 ./prints", 1, "1 passed, 1 failed, 0 skipped\n"},
    {"%s run ./exits_4 ./exits_4 -- --filter none/here", 4,
     "0 passed, 0 failed, 0 skipped\n"},
    {"%s run ./exits_4 ./fails -- --filter none/here", 1,
     "0 passed, 1 failed, 0 skipped\n"},
    {"%s run ./exits_4 ./exits_2 -- --filter none/here", 2,
     "0 passed, 1 failed, 0 skipped\n"},
    {"%s run a/small_test b/small_test -- --filter none/here", 4,
     "0 passed, 0 failed, 0 skipped\n"},
    {"%s run a/small_test ./exits_4 -- --filter small/passes", 0,
     "1 passed, 0 failed, 0 skipped\n"},
};

Test(e2e_run, exits_with_usage_before_failure_before_success)
{
    char command[256];

    for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++) {
        const char *before = strstr(codes[i].command, "%s");
        const struct e2e *result;

        snprintf(command, sizeof(command), "%.*s" TESTLOG "%s",
                 (int)(before - codes[i].command), codes[i].command,
                 before + 2);
        result = e2e_exits(codes[i].code, "%s", command);
        cr_expect(e2e_count(result->out, codes[i].closing) == 1 &&
                      e2e_count(result->out, " skipped\n") == 1,
                  "%s: %s", command, result->out);
    }
}

Test(e2e_run, passes_programs_without_tests)
{
    static const char says[] = "testlog: ./none_test has no tests\n";
    const struct e2e *run;

    for (int build = E2E_PLAIN; build <= E2E_TRACED; build++) {
        e2e_run("rm -f none_test");
        e2e_link("none", build, "none_test");
        run = e2e_exits(0, "./none_test");
        e2e_expect_closing(run, "0 passed, 0 failed, 0 skipped");
        e2e_expect_has(run->err, "testlog: this program has no tests\n");
        e2e_exits(4, "./none_test --filter 'a/*'");
        e2e_exits(4, "./none_test word");
        e2e_exits(0, "./none_test --shard=1/2");
        run = e2e_exits(0, TESTLOG " run ./none_test ./none_test");
        e2e_expect_closing(run, "0 passed, 0 failed, 0 skipped");
        cr_expect_eq(e2e_count(run->err, " no tests\n"), 1, "%s", run->err);
        e2e_expect_has(run->err, "./none_test and 1 more have no "
                                 "tests\n");
        run = e2e_exits(0, TESTLOG " run a/small_test ./none_test");
        e2e_expect_has(run->err, says);
        run = e2e_exits(0, TESTLOG " run ./none_test a/small_test -- passes");
        e2e_expect_lacks(run->err, "no tests");
        e2e_exits(4, TESTLOG " run ./none_test -- word");
    }
}

Test(e2e_run, counts_a_program_that_dies_as_a_failed_test)
{
    const struct e2e *result =
        e2e_run("mkdir folder; " TESTLOG
                " run ./dies ./dies_without_a_name ./exits_7 ./folder");
    const cJSON *run = e2e_run_json();

    e2e_expect_is(e2e_text(e2e_result(run, "dies"), "outcome"), "crashed");
    e2e_expect_is(e2e_text(e2e_result(run, "dies"), "reason"),
                  "the program died of SIGKILL");
    e2e_expect_is(e2e_text(e2e_result(run, "dies_without_a_name"), "reason"),
                  "the program died of signal 36");
    e2e_expect_is(e2e_text(e2e_result(run, "exits_7"), "reason"),
                  "the program exited with 7");
    e2e_expect_is(e2e_text(e2e_result(run, "folder"), "reason"),
                  "cannot be run: Permission denied");
    e2e_expect_has(result->err, "\ndies: crashed: the program died of "
                                "SIGKILL\n");
}

Test(e2e_run, reports_wrong_use_in_one_line_and_runs_nothing)
{
    static const char *const commands[] = {"%s run",
                                           "%s run --nonsense a/small_test",
                                           "%s run a/small_test -- --nonsense",
                                           "LOG_TIME=noon %s run a/small_test",
                                           "%s walk",
                                           "%s run a/small_test passes",
                                           "%s run a/small_test a/gone",
                                           "touch dull; %s run ./dull",
                                           "touch dull; %s run dull"};
    char command[256];

    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        const char *before = strstr(commands[i], "%s");
        const struct e2e *result;

        snprintf(command, sizeof(command), "%.*s" TESTLOG "%s",
                 (int)(before - commands[i]), commands[i], before + 2);
        result = e2e_exits(2, "%s", command);
        e2e_expect_is(result->out, "");
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
        e2e_expect_has(result->err, "testlog: ");
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

Test(e2e_run, prints_help_and_lists_without_a_closing_line)
{
    static const char *const flags[] = {"--help", "--version", "run --help",
                                        "run a/small_test -- --list",
                                        "run a/small_test -- --version"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        const struct e2e *result = e2e_exits(0, TESTLOG " %s", flags[i]);

        e2e_expect_lacks(result->out, "passed, 0 failed");
        e2e_expect_is(result->err, "");
        cr_expect(result->out[0]);
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

/* They stand before the programs, among them or after "--". */
Test(e2e_run, takes_the_flags_of_programs_anywhere)
{
    static const char *const lines[] = {
        "-j2 --filter '*/passes' a/small_test b/small_test",
        "a/small_test --filter='*/passes' b/small_test -j 2",
        "a/small_test b/small_test -- --filter '*/passes' -j2",
        "--filter '*/passes' a/small_test b/small_test -- -j2"};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++)
        e2e_expect_closing(e2e_exits(0, TESTLOG " run %s", lines[i]),
                           "4 passed, 0 failed, 0 skipped");
    e2e_expect_has(e2e_read("testlog-runs/latest/run.json"),
                   "a/small_test b/small_test -- '--filter=*/passes' -j2\"");
}

Test(e2e_run, refuses_bad_flags_of_programs_before_any_starts)
{
    static const char *const lines[][2] = {
        {"--timeout=soon a/small_test",
         "testlog: --timeout: \"soon\" is not a number of seconds"},
        {"--timeuot=3 a/small_test",
         "testlog: run: unknown flag --timeuot=3; did you mean --timeout?\n"},
        {"a/small_test --timeout",
         "testlog: run: --timeout needs a value: --timeout=SECONDS\n"},
        {"a/small_test --gtest_filter=x",
         "testlog: run: unknown flag --gtest_filter; write --filter="},
        {"--preload=1 a/small_test",
         "testlog: run: --preload takes no value\n"}};

    for (size_t i = 0; i < sizeof(lines) / sizeof(*lines); i++) {
        const struct e2e *result = e2e_exits(2, TESTLOG " run %s", lines[i][0]);

        e2e_expect_has(result->err, lines[i][1]);
        cr_expect_eq(e2e_count(result->err, "\n"), 1, "%s", result->err);
    }
    cr_expect_not(e2e_exists("testlog-runs"));
}

/* cron(8) and others close streams. Files that get their numbers must contain
 * only results. */
Test(e2e_run, keeps_verdicts_with_closed_streams)
{
    static const char *const closed[] = {"2>&-", ">&- 2>&-", "<&- >&-",
                                         "<&- >&- 2>&-"};

    for (size_t i = 0; i < sizeof(closed) / sizeof(*closed); i++) {
        const char *lines;

        e2e_exits(0, TESTLOG " run a/small_test %s", closed[i]);
        lines = e2e_read("testlog-runs/latest/results.jsonl");
        e2e_expect_lacks(lines, "testlog: ");
        cr_expect_eq(e2e_count(lines, "\"outcome\":\"passed\""), 16, "%s: %s",
                     closed[i], lines);
    }
}

/* Programs that are left out keep their names. */
Test(e2e_run, reruns_failures_of_programs_of_the_same_name)
{
    const char *command = TESTLOG " run a/small_test c/small_test";

    cr_assert_eq(mkdir("c", 0777), 0);
    e2e_script("c/small_test", "SMALL=other exec b/small_test \"$@\"");
    e2e_expect_closing(e2e_run("%s", command),
                       "31 passed, 1 failed, 0 skipped");
    for (int i = 0; i < 3; i++) {
        e2e_expect_closing(e2e_run("%s -- --failed", command),
                           "0 passed, 1 failed, 0 skipped");
        e2e_expect_has(e2e_read("testlog-runs/latest/results.tsv"),
                       "\tsmall_test~2\tother/passes\t");
    }
}

/* Daemons may leave SIGCHLD ignored for the programs that they start. */
Test(e2e_run, waits_for_programs_though_sigchld_is_ignored)
{
    const char *ignoring = "timeout -s KILL 200 env --ignore-signal=CHLD";

    e2e_expect_closing(e2e_run("%s a/small_test", ignoring),
                       "16 passed, 0 failed, 0 skipped");
    e2e_expect_is(
        e2e_last(
            e2e_run("%s " TESTLOG " run ./prints a/small_test", ignoring)->out),
        "17 passed, 0 failed, 0 skipped");
}

/* ---- Running failures again ---- */

static const char *rerun_of(const struct e2e *result)
{
    const char *command =
        e2e_between(result->err, "run them again:\n    ", "\n");

    cr_assert(command[0], "no command in %s", result->err);
    return command;
}

Test(e2e_run, printed_command_repeats_as_often)
{
    const struct e2e *first = e2e_run(
        "SMALL=other " TESTLOG " run a/small_test b/small_test -- --repeat=3");
    const struct e2e *again = e2e_run("SMALL=other %s", rerun_of(first));

    e2e_expect_closing(again, "0 passed, 6 failed, 0 skipped");
}

Test(e2e_run, printed_command_runs_only_the_failures)
{
    const struct e2e *first = e2e_run(
        "SMALL=sizes,other " TESTLOG " run ./prints a/small_test b/small_test");
    const struct e2e *again = e2e_run("SMALL=sizes,other %s", rerun_of(first));

    e2e_expect_is(e2e_last(first->out), "29 passed, 4 failed, 0 skipped");
    e2e_expect_closing(again, "0 passed, 4 failed, 0 skipped");
    e2e_expect_lacks(rerun_of(first), "./prints");
    e2e_expect_closing(e2e_run("%s", rerun_of(first)),
                       "4 passed, 0 failed, 0 skipped");
}

Test(e2e_run, printed_command_works_for_a_single_program)
{
    const struct e2e *first = e2e_run("SMALL=sizes,passes,other a/small_test");
    const struct e2e *again =
        e2e_run("SMALL=sizes,passes,other %s", rerun_of(first));

    e2e_expect_closing(first, "13 passed, 3 failed, 0 skipped");
    e2e_expect_closing(again, "0 passed, 3 failed, 0 skipped");
    e2e_expect_has(rerun_of(first), " --filter 'small/sizes[03]'");
}

/* A shard of the failures would be another one. */
Test(e2e_run, printed_command_runs_all_that_failed_in_a_shard)
{
    static const char *const shards[] = {
        "TEST_SHARD=2/3", "TEST_SHARD_INDEX=1 TEST_TOTAL_SHARDS=3"};
    static const char *const runners[] = {"", TESTLOG " run"};

    for (size_t i = 0; i < 4; i++) {
        const char *shard = shards[i / 2];
        const struct e2e *first = e2e_exits(
            1, "%s SMALL=sizes,other %s a/small_test", shard, runners[i % 2]);

        e2e_expect_closing(e2e_run("%s %s", shard, rerun_of(first)),
                           "1 passed, 0 failed, 0 skipped");
    }
}

/* The command doesn't contain flags. */
Test(e2e_run, printed_command_omits_the_shard_flag)
{
    e2e_expect_lacks(
        rerun_of(e2e_run("SMALL=sizes,other a/small_test --shard=2/3")),
        "--shard");
}

Test(e2e_run, prints_no_command_if_all_tests_pass)
{
    e2e_expect_lacks(e2e_run(TESTLOG " run a/small_test")->err, "again");
}

/* ---- Files ---- */

static const char *files(const char *where)
{
    return e2e_run("cd '%s' && find . | LC_ALL=C sort", where)->out;
}

Test(e2e_run, writes_these_files_for_a_single_program)
{
    e2e_exits(0,
              "a/small_test --filter 'small/sizes[07]' --filter other/passes");
    e2e_expect_is(files("testlog-runs/latest/."),
                  ".\n./junit.xml\n./order\n./report.html\n./results.jsonl\n"
                  "./results.tap\n./results.tsv\n./run.json\n./summary.tsv\n"
                  "./tests\n"
                  "./tests/small_test\n"
                  "./tests/small_test/other.passes\n"
                  "./tests/small_test/other.passes/log.txt\n"
                  "./tests/small_test/other.passes/output.txt\n"
                  "./tests/small_test/other.passes/recording\n"
                  "./tests/small_test/other.passes/trace.json\n"
                  "./tests/small_test/small.sizes[07]\n"
                  "./tests/small_test/small.sizes[07]/log.txt\n"
                  "./tests/small_test/small.sizes[07]/output.txt\n"
                  "./tests/small_test/small.sizes[07]/recording\n"
                  "./tests/small_test/small.sizes[07]/trace.json\n"
                  "./trace.json\n");
}

Test(e2e_run, writes_only_its_own_folder_as_part_of_a_run)
{
    e2e_exits(0, "mkdir whole && TESTLOG_RUN=$PWD/whole a/small_test --filter "
                 "other/passes");
    e2e_expect_is(e2e_run("find whole -maxdepth 3 | LC_ALL=C sort")->out,
                  "whole\nwhole/tests\nwhole/tests/small_test\n"
                  "whole/tests/small_test/other.passes\n"
                  "whole/tests/small_test/run.json\n");
}

Test(e2e_run, writes_a_run_json_for_each_program)
{
    e2e_run(TESTLOG " run a/small_test b/small_test -- --filter other/passes");
    e2e_expect_is(files("testlog-runs/latest/."),
                  ".\n./junit.xml\n./order\n./report.html\n./results.jsonl\n"
                  "./results.tap\n./results.tsv\n./run.json\n./summary.tsv\n"
                  "./tests\n"
                  "./tests/small_test\n"
                  "./tests/small_test/other.passes\n"
                  "./tests/small_test/other.passes/log.txt\n"
                  "./tests/small_test/other.passes/output.txt\n"
                  "./tests/small_test/other.passes/recording\n"
                  "./tests/small_test/other.passes/trace.json\n"
                  "./tests/small_test/run.json\n"
                  "./tests/small_test~2\n"
                  "./tests/small_test~2/run.json\n"
                  "./trace.json\n");
}

Test(e2e_run, links_latest_to_the_last_run)
{
    char name[PATH_MAX] = "";
    const struct e2e *result;

    e2e_run("a/small_test --filter other/passes");
    e2e_run(TESTLOG " run a/small_test -- --filter other/passes");
    result = e2e_run("a/small_test --filter other/passes");
    cr_assert_gt(readlink("testlog-runs/latest", name, sizeof(name) - 1), 0);
    cr_expect_null(strchr(name, '/'), "%s is not relative", name);
    cr_expect_eq(strlen(name), strlen("2026-11-21T02-08-30.123456"));
    e2e_expect_is(e2e_line(result->err, "run: ") + strlen("run: testlog-runs/"),
                  name);
    cr_expect_eq(e2e_count(e2e_run("ls -d testlog-runs/20*")->out, "\n"), 3);
}

Test(e2e_run, leaves_latest_alone_inside_a_test)
{
    e2e_run("a/small_test --filter other/passes");

    const char *before = e2e_run("readlink testlog-runs/latest")->out;

    e2e_run("TESTLOG_SESSION=nested=1:1 a/small_test --filter other/passes");
    e2e_expect_is(e2e_run("readlink testlog-runs/latest")->out, before);
    cr_expect_eq(e2e_count(e2e_run("ls -d testlog-runs/20*")->out, "\n"), 2);
}

Test(e2e_run, separates_runs_at_the_same_time)
{
    const struct e2e *result =
        e2e_run("for i in 1 2 3 4; do a/small_test --filter other/passes & "
                "done; wait");

    cr_expect_eq(e2e_count(result->out, "1 passed, 0 failed, 0 skipped\n"), 4);
    cr_expect_eq(e2e_count(e2e_run("ls testlog-runs/*/run.json")->out, "\n"),
                 5); /* latest is one of them */
    cr_expect_eq(e2e_count(e2e_run("ls -d testlog-runs/20*")->out, "\n"), 4);
}

static const char *const programs[] = {"a/small_test", "b/small_test",
                                       TESTLOG " run a/small_test"};

Test(e2e_run, reports_an_unwritable_folder_once)
{
    cr_assert_eq(e2e_run("touch file && mkdir temporary")->code, 0);
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        const struct e2e *result = e2e_exits(
            0, "TMPDIR=$PWD/temporary TRACE_DIR=file/below %s", programs[i]);

        e2e_expect_closing(result, "16 passed, 0 failed, 0 skipped");
        cr_expect_eq(e2e_count(result->err, "cannot write to file/below"), 1,
                     "%s", result->err);
        e2e_expect_has(result->err, "/temporary/testlog-");
    }
    cr_expect_eq(
        e2e_count(e2e_run("ls temporary/testlog-*/run.json")->out, "\n"), 3);
}

Test(e2e_run, keeps_verdicts_without_any_folder)
{
    cr_assert_eq(e2e_run("touch file")->code, 0);
    for (size_t i = 0; i < sizeof(programs) / sizeof(*programs); i++) {
        const struct e2e *good = e2e_exits(
            0, "TMPDIR=/nowhere/here TRACE_DIR=file/below %s", programs[i]);
        const struct e2e *bad = e2e_exits(
            1, "SMALL=sizes TMPDIR=/nowhere/here TRACE_DIR=file/below %s",
            programs[i]);

        e2e_expect_is(e2e_last(good->out), "16 passed, 0 failed, 0 skipped");
        e2e_expect_is(e2e_last(bad->out), "15 passed, 1 failed, 0 skipped");
        e2e_expect_has(good->err, "cannot write to file/below");
    }
}

/* ---- Launchers ---- */

#define LAUNCH                                                                 \
    TESTLOG " run --launch './launch env' a/small_test -- --filter "           \
            "'small/sizes[01]' --filter 'small/sizes[03]' "

Test(e2e_run, runs_each_test_on_all_ranks)
{
    const struct e2e *result = e2e_exits(0, LAUNCH);

    e2e_expect_is(e2e_last(result->out), "6 passed, 0 failed, 0 skipped");
    e2e_expect_is(e2e_run("cut -f3,4 testlog-runs/latest/results.tsv")->out,
                  "small_test\tsmall/sizes[01]#rank0\n"
                  "small_test\tsmall/sizes[01]#rank1\n"
                  "small_test\tsmall/sizes[01]#rank2\n"
                  "small_test\tsmall/sizes[03]#rank0\n"
                  "small_test\tsmall/sizes[03]#rank1\n"
                  "small_test\tsmall/sizes[03]#rank2\n");
    cr_expect_eq(e2e_count(e2e_read("testlog-runs/latest/results.jsonl"),
                           "#rank1\",\"outcome\""),
                 2);
    cr_expect(e2e_exists("testlog-runs/latest/tests/small_test/"
                         "small.sizes[03]#rank2/recording"));
}

Test(e2e_run, names_a_rank_without_results)
{
    const struct e2e *result = e2e_exits(1, "WITHOUT=1 " LAUNCH);

    e2e_expect_is(e2e_last(result->out), "4 passed, 2 failed, 0 skipped");
    e2e_expect_has(result->err, "small/sizes[03]#rank1: crashed: the rank "
                                "ended without results\n");
}

Test(e2e_run, runs_what_failed_on_a_rank_again)
{
    const struct e2e *result = e2e_exits(1, "SMALL=sizes " LAUNCH);

    e2e_expect_is(e2e_last(result->out), "3 passed, 3 failed, 0 skipped");
    cr_expect_eq(
        e2e_count(e2e_between(result->err, "run them again:", "\ntime: "),
                  "small/sizes[03]'"),
        1);
    result = e2e_exits(0, LAUNCH "--failed");
    e2e_expect_is(e2e_last(result->out), "3 passed, 0 failed, 0 skipped");
}

Test(e2e_run, lists_tests_without_their_launcher)
{
    e2e_expect_is(e2e_run(LAUNCH "--ascii --list")->out,
                  "small: 2 tests\n|-- sizes[01]\n`-- sizes[03]\n");
}

Test(e2e_run, keeps_the_verdicts_of_ranks_without_any_folder)
{
    const struct e2e *result =
        e2e_exits(1, "touch file; SMALL=sizes TMPDIR=/nowhere/here "
                     "TRACE_DIR=file/below " LAUNCH);

    cr_expect_eq(e2e_count(result->out, "1 passed, 0 failed"), 3);
    cr_expect_eq(e2e_count(result->out, "0 passed, 1 failed"), 3);
}

Test(e2e_run, creates_the_folder_of_runs)
{
    e2e_exits(0,
              "a/small_test --trace-dir new/runs/here --filter other/passes");
    cr_expect(e2e_exists("new/runs/here/latest/run.json"));
}

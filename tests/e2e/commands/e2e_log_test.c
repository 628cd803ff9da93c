/* e2e_log_test.c: testlog log and testlog export, after a run and during it. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_log, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "

/* A run of two programs, which is made once. */
static const char *a_run(void)
{
    static char path[1200];
    const char *small = e2e_program("small", E2E_TRACED);
    const char *traced = e2e_program("traced", E2E_TRACED);

    e2e_once("run",
             TESTLOG "run '%s' '%s' -- --filter '*/nests' --filter "
                     "'small/passes'",
             traced, small);
    snprintf(path, sizeof(path), "../run/testlog-runs/latest");
    cr_assert(e2e_exists("%s/run.json", path));
    return path;
}

/* ---- testlog log ---- */

#define NESTED                                                                 \
    "outer{number=7 text=\"a \\\"b\\\"\\n\"}:inner{ratio=0.5}: "               \
    "programs::traced: "

Test(e2e_log, log_applies_another_filter_to_a_run)
{
    const struct e2e *result = e2e_exits(
        0, TESTLOG "log %s --time none --filter '[inner{ratio=0.5}]=info'",
        a_run());

    e2e_expect_is(result->out, "---- traced_test traced/nests ----\n"
                               " INFO " NESTED "1 of many\n"
                               " WARN " NESTED "happened age=3\n");
    e2e_expect_is(result->err, "");
}

Test(e2e_log, log_reports_a_filter_that_matches_no_line)
{
    const struct e2e *result;

    e2e_run("%s -q", e2e_program("small", E2E_TRACED));
    result = e2e_exits(0, TESTLOG " log --filter htp=debug");
    e2e_expect_is(result->out, "");
    e2e_expect_is(result->err,
                  "testlog: --filter: htp=debug matched no recorded call site\n"
                  "testlog: log: no recorded line matches \"htp=debug\"; "
                  "testlog filter explains a filter\n");
}

Test(e2e_log, log_names_directives_that_match_no_recorded_call_site)
{
    const struct e2e *result = e2e_exits(
        0,
        TESTLOG
        "log %s --time none --log "
        "'warn,[iner]=trace,programs::traced:debug,/happened/=warn,gpu=info'",
        a_run());

    e2e_expect_has(result->out, "happened age=3");
    e2e_expect_is(result->err,
                  "testlog: --filter: programs::traced:debug matched no "
                  "recorded call site; did you mean programs::traced=debug?\n"
                  "testlog: --filter: [iner]=trace matched no recorded call "
                  "site; did you mean [inner]=trace?\n");
}

Test(e2e_log, log_names_ten_directives_and_counts_the_others)
{
    const struct e2e *result = e2e_run(
        TESTLOG "log %s --filter $(printf 'no::%%d,' $(seq 12))", a_run());

    cr_expect_eq(e2e_count(result->err, " matched no recorded call site\n"),
                 11);
    e2e_expect_has(result->err, "testlog: 2 more directives matched no "
                                "recorded call site\n");
}

/* The run's own lines omit them, as EnvFilter's do. */
Test(e2e_log, log_names_all_enclosing_spans)
{
    const char *run = a_run(), *lines;

    lines = e2e_run(TESTLOG "log %s --time none --filter warn", run)->out;
    e2e_expect_has(lines, " WARN " NESTED "happened age=3\n");
    e2e_expect_lacks(e2e_read("%s/tests/traced_test/traced.nests/log.txt", run),
                     "inner");
    lines = e2e_run(TESTLOG "log %s traced/nests --filter warn --span-events "
                            "full",
                    run)
                ->out;
    cr_expect_eq(e2e_count(lines, "\n"), 1, "%s", lines);
}

static const char *requests_of(const char *status, const char *flags)
{
    return e2e_run(TESTLOG "log --time none "
                           "--filter '[request{status=%s}]=debug' %s",
                   status, flags)
        ->out;
}

Test(e2e_log, log_judges_spans_by_their_final_values_on_demand)
{
    e2e_run("%s -q", e2e_program("late", E2E_TRACED));
    e2e_expect_is(requests_of("500", ""), "");
    e2e_expect_is(requests_of("100", "--final-values"), "");
    e2e_expect_is(requests_of("500", "--final-values"),
                  "---- late_test late/answers ----\n"
                  "DEBUG request{id=2}: programs::late: asked\n"
                  "DEBUG request{id=2 status=500}: programs::late: answered\n");
}

Test(e2e_log, log_reports_a_run_that_showed_no_line)
{
    const struct e2e *result;

    e2e_run("%s -q --log=off", e2e_program("small", E2E_TRACED));
    result = e2e_exits(0, TESTLOG " log");
    e2e_expect_is(result->out, "");
    e2e_expect_is(result->err, "testlog: log: the run showed no line; write "
                               "--filter trace for all that were recorded\n");
}

Test(e2e_log, log_accepts_log_for_filter)
{
    const char *run = a_run();
    const char *lines =
        e2e_run(TESTLOG "log %s --time none --log warn", run)->out;

    e2e_expect_has(lines, "happened age=3");
    e2e_expect_is(
        lines, e2e_run(TESTLOG "log %s --time none --filter warn", run)->out);
}

Test(e2e_log, log_accepts_names_patterns_and_paths)
{
    const char *run = a_run();
    const char *by_name =
        e2e_run(TESTLOG "log %s traced/nests --time none", run)->out;

    e2e_expect_has(by_name, "happened age=3");
    e2e_expect_lacks(by_name, "----");
    e2e_expect_is(e2e_run(TESTLOG "log %s 'traced/*' --time none", run)->out,
                  by_name);
    e2e_expect_is(e2e_run(TESTLOG "log %s/tests/traced_test/traced.nests "
                                  "--time none",
                          run)
                      ->out,
                  by_name);
    e2e_expect_is(e2e_run(TESTLOG
                          "log %s/tests/traced_test/traced.nests/recording "
                          "--time none",
                          run)
                      ->out,
                  by_name);
}

/* On a terminal, with and without colours; a pipe gets all. */
Test(e2e_log, log_cuts_long_lines_on_a_terminal)
{
    static const char *const colors[] = {"never", "always"};
    const struct e2e *result;

    e2e_exits(0, "%s --filter large/records_much",
              e2e_program("large", E2E_TRACED));
    for (size_t i = 0; i < 2; i++) {
        result = e2e_run("command -v script >/dev/null || exit 77; "
                         "script -qec '" TESTLOG "log --color=%s' /dev/null",
                         colors[i]);
        if (result->code == 77)
            cr_skip_test("script(1) is not installed");
        e2e_expect_code(result, 0);
        cr_expect_lt(strlen(result->out), 10000);
        e2e_expect_has(result->out, "xxxx",
                       " bytes; testlog log ... | cat prints all)\r\n");
        cr_expect_eq(e2e_count(result->out, "\033[0m... (1000"), i);
    }
    cr_expect_gt(strlen(e2e_run(TESTLOG "log")->out), 1000 * 1000);
}

/* As a word selects tests in a program. */
Test(e2e_log, commands_select_tests_by_a_part_of_their_names)
{
    static const char *const commands[] = {
        "log has_a --format=json --filter=trace",
        "export --chrome has_a",
        "export --chrome small/has_a_default",
    };
    const struct e2e *result;

    e2e_exits(0, "'%s' --repeat=2", e2e_program("small", E2E_TRACED));
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        result = e2e_exits(0, TESTLOG "%s", commands[i]);
        cr_expect(e2e_count(result->out, "careful"), "%s", commands[i]);
        e2e_expect_lacks(result->out, "plain");
    }
    result = e2e_exits(0, TESTLOG "stat passes");
    e2e_expect_has(result->out, "outer");
    e2e_exits(0, TESTLOG "stat small/passes --critical");
    e2e_exits(0, TESTLOG "report has_a");
    e2e_exits(2, TESTLOG "report has_b");
}

Test(e2e_log, log_uses_the_latest_run_by_default)
{
    a_run();
    e2e_expect_has(
        e2e_run("TRACE_DIR=../run/testlog-runs " TESTLOG "log traced/nests")
            ->out,
        "happened age=3");
}

Test(e2e_log, log_accepts_layouts_times_and_span_events)
{
    const char *run = a_run();

    e2e_expect_has(
        e2e_run(TESTLOG "log %s traced/nests --format json", run)->out,
        "\"fields\":{\"message\":\"happened\",\"age\":3}");
    e2e_expect_has(e2e_run(TESTLOG "log %s --format json", run)->out,
                   "{\"test\":\"traced/nests\",");
    e2e_expect_has(e2e_run(TESTLOG "log %s traced/nests --filter trace "
                                   "--span-events close --time uptime",
                           run)
                       ->out,
                   "TRACE outer{number=7 text=\"a \\\"b\\\"\\n\"}:second: "
                   "programs::traced: close time.busy=");
}

/* The setup of a test, and a process of many tests, take longer. */
Test(e2e_log, relative_times_begin_with_each_test)
{
    static const char *const flags[][2] = {
        {"--log-time=relative --nocapture", "true"},
        {"--log-time=relative --log=trace", "true"},
        {"--quiet >all 2>&1", TESTLOG "log --time relative --filter trace"}};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        const struct e2e *result =
            e2e_run("{ SMALL=sizes,passes '%s' %s; %s; } 2>&1",
                    e2e_program("small", E2E_TRACED), flags[i][0], flags[i][1]);

        e2e_expect_has(result->out, "ms  INFO programs::small: size 3\n");
        cr_expect_geq(e2e_count(result->out, "    +0."), 2, "%s", result->out);
    }
}

Test(e2e_log, log_warns_about_what_was_not_recorded)
{
    const struct e2e *result;
    const char *traced = e2e_program("traced", E2E_TRACED);

    e2e_run("TRACE_FILTER=warn LOG=warn '%s' --filter traced/nests", traced);
    result = e2e_run(TESTLOG "log --filter trace --time none");
    e2e_expect_is(result->out, "---- traced_test traced/nests ----\n"
                               " WARN programs::traced: happened age=3\n");
    e2e_expect_is(result->err,
                  "testlog: log: only events that match \"warn\" or \"warn\" "
                  "were recorded; \"trace\" cannot show others\n");
}

/* A killed runner leaves every record. */
Test(e2e_log, log_reads_a_run_whose_runner_was_killed)
{
    const char *slow = e2e_program("slow", E2E_TRACED);

    e2e_run("SLOW_UNTIL=$PWD/go '%s' >/dev/null 2>&1 & "
            "until grep -qs one testlog-runs/latest/tests/*/*/recording; do "
            "sleep 0.01; done; kill -9 $!",
            slow);
    cr_assert_not(e2e_exists("testlog-runs/latest/run.json"));
    e2e_expect_has(e2e_run(TESTLOG "log --time none")->out,
                   " INFO waiting{n=1}: programs::slow: phase: begins\n"
                   " INFO waiting{n=1}: programs::slow: one\n");
}

Test(e2e_log, log_follows_a_run_to_its_end)
{
    const char *slow = e2e_program("slow", E2E_TRACED);
    const struct e2e *result =
        e2e_exits(0,
                  "'%s' >/dev/null 2>&1 & until [ -e testlog-runs/latest/tests "
                  "]; do sleep 0.01; done; " TESTLOG "log --follow --time none",
                  slow);

    e2e_expect_is(result->out,
                  "[slow/logs_and_waits]  INFO waiting{n=1}: programs::slow: "
                  "phase: begins\n"
                  "[slow/logs_and_waits]  INFO waiting{n=1}: programs::slow: "
                  "one\n"
                  "[slow/logs_and_waits]  INFO waiting{n=1}: programs::slow: "
                  "two\n");
}

/* `looks PID` returns once a process has slept and looked again, twice. */
#define LOOKS                                                                  \
    "sleeps() { sed -n 's/^voluntary_ctxt_switches:.//p' /proc/$1/status; }; " \
    "looks() { until [ $(sleeps $1) -gt 0 ]; do :; done; n=$(sleeps $1); "     \
    "until [ $(sleeps $1) -gt $((n + 2)) ]; do sleep 0.01; done; }; "

/* Killed processes record no end. */
#define HANG_AND_KILL                                                          \
    LOOKS                                                                      \
    "unsteady='%s'; $unsteady --filter waits/for_ever >/dev/null 2>&1 & "      \
    "runner=$!; until [ -s ready ]; do sleep 0.01; done; "                     \
    "worker=$(cut -d' ' -f4 /proc/$(cat child)/stat); "                        \
    "end() { kill -KILL $runner $worker $(cat child); wait $runner; }; "

Test(e2e_log, log_does_not_follow_a_dead_run)
{
    e2e_exits(0, HANG_AND_KILL "end 2>/dev/null; " TESTLOG "log --follow",
              e2e_program("unsteady", E2E_TRACED));

    cr_expect_not(e2e_exists("testlog-runs/latest/run.json"));
}

/* A damaged recording, without a process id and without an end. */
Test(e2e_log, log_does_not_follow_a_recording_without_owner)
{
    e2e_exits(0,
              "'%s' --filter traced/nests 2>/dev/null && dd if=/dev/zero bs=8 "
              "seek=3 count=1 conv=notrunc status=none "
              "of=testlog-runs/latest/tests/traced_test/traced.nests/recording "
              "&& timeout 200 " TESTLOG "log --follow",
              e2e_program("traced", E2E_TRACED));
}

/* A recording has a name before it has a header. */
Test(e2e_log, log_follows_a_recording_that_is_being_made)
{
    const struct e2e *result = e2e_run(
        LOOKS "'%s' --filter traced/nests >/dev/null 2>&1; "
              "run=testlog-runs/latest; "
              "test=$run/tests/traced_test/traced.nests; "
              "mv $run/run.json $test/recording . && : >$test/recording && "
              "{ " TESTLOG "log -f --filter trace & } && looks $! && "
              "mv recording $test && mv run.json $run && wait $!",
        e2e_program("traced", E2E_TRACED));

    e2e_expect_code(result, 0);
    e2e_expect_has(result->out, "inner");
}

Test(e2e_log, log_follows_a_run_until_it_is_killed)
{
    e2e_exits(0,
              HANG_AND_KILL TESTLOG
              "log -f waits/for_ever other/tests & log=$!; looks $log; end "
              "2>/dev/null; wait $log",
              e2e_program("unsteady", E2E_TRACED));
}

Test(e2e_log, log_waits_for_a_missing_test_until_the_run_ends)
{
    const struct e2e *result = e2e_exits(
        2,
        HANG_AND_KILL TESTLOG
        "log -f no/such & log=$!; looks $log; end 2>/dev/null; wait $log",
        e2e_program("unsteady", E2E_TRACED));

    cr_expect_eq(e2e_count(result->err, "latest has no recording of no/such "
                                        "yet; waiting\n"),
                 1, "%s", result->err);
    e2e_expect_is(e2e_last(result->err),
                  "testlog: log: testlog-runs/latest has no recording of "
                  "no/such");
}

Test(e2e_log, log_reports_once_what_it_waits_for)
{
    e2e_exits(2,
              LOOKS "mkdir -p r/tests; " TESTLOG
                    "log -f r 2>err & log=$!; until [ -s err ]; do sleep 0.01; "
                    "done; looks $log; echo '{}' >r/run.json; wait $log");

    e2e_expect_is(e2e_read("err"),
                  "testlog: log: r has no recording yet; waiting\n"
                  "testlog: log: r has no recording\n");
}

Test(e2e_log, records_the_pid_of_the_outermost_runner)
{
    e2e_exits(0,
              TESTLOG
              "run '%s' >/dev/null 2>&1 & runner=$!; wait $runner; grep -a -c "
              "\"runner.*$runner\" testlog-runs/latest/tests/*/*/recording",
              e2e_program("slow", E2E_TRACED));
}

/* ---- Output that cannot be written ---- */

Test(e2e_log, reports_output_that_cannot_be_written)
{
    static const char *const commands[][2] = {
        {TESTLOG "filter info", "filter"},
        {TESTLOG "log %s", "log"},
        {TESTLOG "log -f %s", "log"},
        {TESTLOG "export %s", "export"},
    };
    char command[2 * PATH_MAX], printed[128];
    const struct e2e *result;

    if (!e2e_exists("/dev/full"))
        cr_skip_test("no /dev/full");
    for (size_t i = 0; i < sizeof(commands) / sizeof(*commands); i++) {
        const char *run = strstr(commands[i][0], "%s");

        snprintf(command, sizeof(command), "%.*s%s >/dev/full",
                 (int)(run ? (size_t)(run - commands[i][0])
                           : strlen(commands[i][0])),
                 commands[i][0], run ? a_run() : "");
        snprintf(printed, sizeof(printed),
                 "testlog: %s: cannot write to standard output: No space left "
                 "on device\n",
                 commands[i][1]);
        result = e2e_exits(1, "%s", command);
        e2e_expect_is(result->err, printed);
    }
    result = e2e_exits(1, "'%s' --list-sites >/dev/full",
                       e2e_program("slow", E2E_TRACED));
    e2e_expect_is(result->err, "testlog: --list-sites: cannot write to "
                               "standard output: No space left on device\n");
}

Test(e2e_log, keeps_verdicts_if_a_report_cannot_be_written)
{
    static const char *const formats[] = {"jsonl", "tap", "junit"};

    if (!e2e_exists("/dev/full"))
        cr_skip_test("no /dev/full");
    for (size_t i = 0; i < 3; i++) {
        const struct e2e *result =
            e2e_exits(0, "'%s' --filter small/passes --report=%s:- >/dev/full",
                      e2e_program("small", E2E_TRACED), formats[i]);

        e2e_expect_has(result->err, "cannot write standard output",
                       "1 passed, 0 failed, 0 skipped\n");
    }
}

/* ---- testlog export ---- */

Test(e2e_log, export_writes_a_run_as_one_trace)
{
    const struct e2e *result =
        e2e_exits(0, TESTLOG "export %s -o trace.json", a_run());
    const cJSON *trace = e2e_json("trace.json");

    e2e_expect_is(result->out, "");
    cr_expect(cJSON_IsArray(cJSON_GetObjectItem(trace, "traceEvents")));
    e2e_expect_has(e2e_read("trace.json"), "\"traced_test traced/nests\"",
                   "\"small_test small/passes\"");
}

Test(e2e_log, export_writes_one_test_to_standard_output)
{
    const struct e2e *result =
        e2e_exits(0, TESTLOG "export %s traced/nests --chrome", a_run());

    e2e_expect_has(result->out, "\"name\":\"happened\"");
    e2e_expect_lacks(result->out, "small/passes");
    e2e_expect_is(e2e_run(TESTLOG "export %s traced/nests -o -", a_run())->out,
                  result->out);
    cr_expect_not(e2e_exists("-"));
}

Test(e2e_log, export_writes_folded_stacks)
{
    const struct e2e *result =
        e2e_exits(0, TESTLOG "export %s --folded", a_run());

    cr_expect_eq(strncmp(e2e_line(result->out, ";outer;inner "),
                         "traced_test traced/nests;", 25),
                 0, "%s", result->out);
    result = e2e_run(TESTLOG "export %s traced/nests --folded -o stacks; "
                             "cat stacks",
                     a_run());
    e2e_expect_lacks(result->out, "traced/nests");
    e2e_expect_has(result->out, ";outer;second ");
}

Test(e2e_log, export_writes_profiles_for_speedscope)
{
    const cJSON *file, *profile;

    e2e_exits(0, TESTLOG "export %s --speedscope -o all.json", a_run());
    file = e2e_json("all.json");
    e2e_expect_is(e2e_text(file, "$schema"),
                  "https://www.speedscope.app/file-format-schema.json");
    profile = cJSON_GetArrayItem(cJSON_GetObjectItem(file, "profiles"), 0);
    e2e_expect_has(e2e_text(profile, "name"), "small_test small/passes: ");
    e2e_run(TESTLOG "export %s traced/nests --speedscope -o one.json", a_run());
    file = e2e_json("one.json");
    profile = cJSON_GetObjectItem(file, "profiles");
    cr_assert_eq(cJSON_GetArraySize(profile), 1);
    e2e_expect_lacks(e2e_text(cJSON_GetArrayItem(profile, 0), "name"),
                     "traced/nests");
    e2e_expect_has(e2e_read("one.json"), "\n{\"name\":\"outer\",\"file\":\"");
}

Test(e2e_log, trace_contains_counters_and_signposts)
{
    e2e_run("'%s'", e2e_program("slow", E2E_TRACED));
    e2e_expect_has(e2e_read("testlog-runs/latest/trace.json"),
                   "\"name\":\"depth\",\"args\":{\"depth\":3}",
                   "\"signpost\":\"phase\"");
}

/* ---- Bad arguments ---- */

Test(e2e_log, refuses_bad_arguments)
{
    static const struct {
        const char *arguments, *error;
    } rows[] = {
        {"log", "testlog-runs/latest does not exist; run a test "},
        {"log nothing/there",
         "cannot find nothing/there: testlog-runs/latest does "},
        {"log /dev/null", "/dev/null is not a run"},
        {"log --format x", "--format: unknown value \"x\"; write "},
        {"log --span-events x", "write new, enter,"},
        {"log --fields x", "--fields: unknown value \"x\"; write thread, "
                           "location, pid or none\n"},
        {"log -f --final-values",
         "testlog: log: --final-values needs a run that has ended; leave out "
         "--follow\n"},
        {"log --filter net=x", "unknown level \"x\""},
        {"log --folow",
         "testlog: log: unknown flag --folow; did you mean --follow?\n"},
        {"log --nonsense", "log: unknown flag --nonsense; testlog log --help "},
        {"log -fx",
         "testlog: log: unknown flag -x; testlog log --help lists all\n"},
        {"log --follow -xf", "testlog: log: unknown flag -x; testlog "},
        {"log --color=never -xf", "testlog: log: unknown flag -x; testlog "},
        {"export --chrome -Cx", "testlog: export: unknown flag -C; testlog "},
        {"log --follow=yes", "testlog: log: --follow takes no value\n"},
        {"log --filter", "log: --filter needs a value: --filter=FILTER\n"},
        {"export --bogus", "testlog: export: unknown flag --bogus; testlog "
                           "export --help lists all\n"},
        {"export -o", "testlog: export: -o needs a value: --output=FILE\n"},
        {"export", "testlog-runs/latest does not exist; run a test "},
        {"export --chrom=x", "export: --chrome takes no value\n"},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        e2e_expect_has(e2e_exits(2, TESTLOG "%s", rows[i].arguments)->err,
                       rows[i].error);
}

Test(e2e_log, export_fails_if_a_trace_cannot_be_written)
{
    const struct e2e *result =
        e2e_exits(1, TESTLOG "export %s -o /dev/full/x", a_run());

    e2e_expect_has(result->err, "cannot write to /dev/full/x: Not a directory");
    result = e2e_exits(1, TESTLOG "export %s >/dev/full", a_run());
    e2e_expect_has(result->err, "No space left on device");
}

/* e2e_expect_test.c: tests that assert on their own records. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_expect, .init = e2e_begin, .timeout = 300);

static const char *program(void)
{
    return e2e_program("expect", E2E_TRACED);
}

Test(e2e_expect, passes_met_expectations_under_any_filter)
{
    static const char *const settings[] = {
        "",
        "LOG=off",
        "LOG=trace",
        "LOG='[fill{n=3}]=trace'",
        "TRACE_FILTER=off",
        "TRACE_FILTER='warn,![fill]' LOG=error",
        "NOCAPTURE=1 LOG=warn",
        "NOCAPTURE=1 TRACE_FILTER=off LOG=off",
    };

    for (size_t i = 0; i < sizeof(settings) / sizeof(*settings); i++)
        e2e_expect_closing(
            e2e_run("%s %s --filter 'expect/[!a]*' --color=never "
                    "-j1 | tail -n1",
                    settings[i], program()),
            "4 passed, 0 failed, 0 skipped");
    e2e_expect_closing(e2e_run("%s --filter 'expect/a*'", program()),
                       "1 passed, 0 failed, 0 skipped");
}

/* Only what LOG asks for is shown. */
Test(e2e_expect, shows_only_what_LOG_asks_for)
{
    const struct e2e *result =
        e2e_run("LOG=warn %s --filter expect/events --nocapture "
                "--log-time=none --color=never",
                program());

    e2e_expect_has(result->err, " WARN kv::store: evicted "
                                "key=\"ant\" age=3\n");
    cr_expect_eq(e2e_count(result->err, "kv::store: "), 2, "%s", result->err);
    result =
        e2e_run("LOG=off %s --filter expect/events --nocapture", program());
    e2e_expect_lacks(result->err, "kv::store");
}

Test(e2e_expect, records_everything_despite_TRACE_FILTER)
{
    const struct e2e *result =
        e2e_run("TRACE_FILTER=off %s --filter expect/lines", program());

    e2e_expect_has(result->err, "testlog: TRACE_FILTER has no effect: ",
                   "; recorded: trace (log_expect)\n");
    e2e_expect_has(e2e_read("testlog-runs/latest/trace.json"), "3 of 6 slots");
    result = e2e_run("%s --filter expect/lines", program());
    e2e_expect_lacks(result->err, "has no effect");
}

Test(e2e_expect, obeys_TRACE_FILTER_without_expectations)
{
    const struct e2e *result =
        e2e_run("TRACE_FILTER=off LOG=off %s --filter 'annotated/finds'",
                e2e_program("annotated", E2E_TRACED));

    e2e_expect_has(result->err, "; recorded: off (TRACE_FILTER)\n");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/trace.json"),
                     "no arguments");
}

/* ---- Failing ---- */

static const struct e2e *wrong(void)
{
    return e2e_once("wrong",
                    "%s --filter 'wrong/*' -j1 --log-time=none "
                    "--color=never; cp testlog-runs/latest/run.json "
                    "testlog-runs/latest/junit.xml .",
                    program());
}

Test(e2e_expect, fails_unmet_expectations_and_continues)
{
    const struct e2e *result = wrong();

    e2e_expect_closing(result, "0 passed, 6 failed, 0 skipped");
    e2e_expect_has(result->err, " INFO kv::store: the end\n");
    cr_expect_eq(e2e_count(result->err, "log_expect_contains(\"evictd\"): 0 of "
                                        "5 events match\n      nearest: "),
                 2, "%s", result->err);
}

Test(e2e_expect, shows_the_nearest_records_once)
{
    const struct e2e *result = wrong();
    const char *near = "  nearest:  WARN outer{id=5}:fill{n=3 key=\"ant\"}: "
                       "kv::store: evicted key=\"ant\" age=3\n";

    e2e_expect_has(
        result->err, near,
        "  found:   DEBUG outer{id=5}:fill{n=4 key=\"ant\"}: kv::store: 4 of 8 "
        "slots used\n",
        "found:   fill{n=1} (open)\n",
        "log_expect_event(\"kv=loud\"): filter: unknown level \"loud\"");
    /* The log shows the expectation as one line, in its place. */
    e2e_expect_has(result->err,
                   "\n  ERROR programs::expect: assertion failed: "
                   "log_expect_contains(\"evictd\"): 0 of 5 events match\n");
}

Test(e2e_expect, reports_a_failure_at_the_statement)
{
    const cJSON *run = e2e_json("%s/run.json", wrong()->folder);
    const char *reason = e2e_text(e2e_result(run, "wrong/lacking"), "reason");
    const char *source = e2e_read("%s/programs/expect.c", TESTS_DIR);
    const char *statement = strstr(source, "log_expect_lacks(\"slots\")");
    char place[64];
    int line = 1;

    cr_assert_not_null(statement);
    for (; source < statement; source++)
        line += *source == '\n';
    snprintf(place, sizeof(place), "programs/expect.c:%d: log_expect_lacks(",
             line);
    e2e_expect_has(reason, place);
    cr_expect_eq(e2e_number(e2e_result(run, "wrong/lacking"), "unjudged"), 0);
}

/* ---- Expectations that are not judged ---- */

static void expect_unjudged(const char *test, int count, const char *why)
{
    const cJSON *run = e2e_run_json();
    const cJSON *result = e2e_result(run, test);

    cr_assert_not_null(result);
    cr_expect_str_eq(e2e_text(result, "outcome"), "passed");
    cr_expect_eq(e2e_number(result, "unjudged"), count, "%s: %g for %s", test,
                 e2e_number(result, "unjudged"), why);
}

Test(e2e_expect, does_not_fail_if_records_are_missing)
{
    const struct e2e *result = e2e_run(
        "TRACE_LIMIT=256K %s --filter 'missing/*' --show-output", program());

    e2e_expect_closing(result, "3 passed, 0 failed, 0 skipped");
    expect_unjudged("missing/disabled", 3, "trace_disable");
    expect_unjudged("missing/limited", 2, "the limit");
    expect_unjudged("missing/unannotated", 1, "no recording");
    e2e_expect_has(e2e_normal(result->err),
                   "programs/expect.c:LINE: not judged: log_expect_contains("
                   "\"slots\"): trace_disable() was called (and 2 more)\n");
    e2e_expect_has(e2e_line(result->err, "testlog: missing/limited: "),
                   "not judged: log_expect_contains(\"no such thing\"): ",
                   " records were lost after TRACE_LIMIT was reached",
                   " (and 1 more)");
    e2e_expect_has(e2e_line(result->err, "testlog: missing/unannotated: "),
                   ": the process has no recording");
    cr_expect_eq(e2e_count(result->err, "testlog: missing/disabled"), 1);
}

Test(e2e_expect, warns_once_about_unjudged_expectations)
{
    for (int live = 0; live < 2; live++) {
        const struct e2e *result =
            e2e_run("TRACE_LIMIT=256K LOG=info,kv=off NOCAPTURE=%s %s --filter "
                    "'missing/[dl]*' --show-output --log-time=none -j1 "
                    "--color=never",
                    live ? "1" : "", program());

        e2e_expect_has(result->err,
                       " WARN programs::expect: log_expect_contains(\"slots\") "
                       "is not judged: trace_disable() was called (others "
                       "may not be, either)\n");
        e2e_expect_has(
            e2e_line(result->err,
                     "log_expect_contains(\"no such thing\") is not judged: "),
            " WARN programs::expect: ", " lost after TRACE_LIMIT was reached");
        cr_expect_eq(e2e_count(result->err, "(others may not be, either)"), 2,
                     "%s", result->err);
    }
}

Test(e2e_expect, counts_unjudged_expectations_in_testlog_run)
{
    e2e_exits(0, "'%s/testlog' run %s -- --filter 'missing/disabled'",
              BUILD_DIR, program());

    expect_unjudged("missing/disabled", 3, "trace_disable");
}

Test(e2e_expect, does_not_fail_if_the_disk_is_full)
{
    const struct e2e *result =
        e2e_run("ulimit -f 300; %s --filter 'wrong/lacking' --trace-dir=runs",
                program());

    e2e_expect_has(result->err, ": not judged: log_expect_");
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
}

Test(e2e_expect, does_not_judge_levels_that_are_compiled_out)
{
    const struct e2e *result =
        e2e_run("%s --filter 'wrong/lacking'", e2e_program("expect", E2E_INFO));

    e2e_expect_has(e2e_line(result->err, ": not judged: log_expect_"),
                   "): this was built with LOG_STATIC_MAX=info");
    e2e_expect_closing(result, "1 passed, 0 failed, 0 skipped");
}

Test(e2e_expect, expects_nothing_without_tracing)
{
    e2e_expect_closing(e2e_run("%s", e2e_program("expect", E2E_PLAIN)),
                       "14 passed, 0 failed, 0 skipped");
}

Test(e2e_expect, judges_expectations_in_cxx)
{
    const char *cxx = e2e_program("expect_cxx", E2E_TRACED);
    const struct e2e *result = e2e_run("%s --color=never", cxx);

    e2e_expect_closing(result, "1 passed, 1 failed, 0 skipped");
    e2e_expect_has(
        result->err,
        "log_expect_event(\"=debug\", \"{value=5}\"): 0 of 1 events match\n",
        "log_expect_count(2, \"six\"): 1 of 1 events",
        "log_expect_no_span(\"put\"): 1 of 1 spans");
    e2e_expect_closing(e2e_run("%s", e2e_program("expect_cxx", E2E_PLAIN)),
                       "2 passed, 0 failed, 0 skipped");
}

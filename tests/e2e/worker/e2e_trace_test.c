/* e2e_trace_test.c: the trace of a test, however the test ends. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_trace, .init = e2e_begin, .timeout = 300);

static const char *program(void)
{
    return e2e_program("traced", E2E_TRACED);
}

/* All tests of suite `traced`, once. */
static const struct e2e *all(void)
{
    return e2e_once("all-of-traced", "%s -j2 --filter 'traced/*'", program());
}

static const cJSON *trace_of(const char *folder, const char *test)
{
    return e2e_json("%s/testlog-runs/latest/tests/traced_test/%s/trace.json",
                    folder, test);
}

static const char *log_of(const char *folder, const char *test)
{
    return e2e_read("%s/testlog-runs/latest/tests/traced_test/%s/log.txt",
                    folder, test);
}

static const cJSON *events_of(const cJSON *trace)
{
    return cJSON_GetObjectItemCaseSensitive(trace, "traceEvents");
}

/* The first event with a name and phase; NULL if there is none. */
static const cJSON *event(const cJSON *trace, const char *phase,
                          const char *name)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (!strcmp(e2e_text(event, "ph"), phase) &&
            !strcmp(e2e_text(event, "name"), name))
            return event;
    }
    return NULL;
}

static const cJSON *needed(const cJSON *trace, const char *phase,
                           const char *name)
{
    const cJSON *found = event(trace, phase, name);

    cr_assert_not_null(found, "no %s \"%s\" in the trace", phase, name);
    return found;
}

static const cJSON *argument(const cJSON *event, const char *name)
{
    return cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(event, "args"), name);
}

/* In microseconds. Rounding makes sums differ by less than a nanosecond. */
static double end_of(const cJSON *slice)
{
    return e2e_number(slice, "ts") + e2e_number(slice, "dur");
}

static bool before(double one, double other)
{
    return one < other + 0.0005;
}

static void expect_in(const cJSON *inner, const cJSON *outer)
{
    const char *name = e2e_text(inner, "name");

    cr_expect_eq(e2e_number(inner, "tid"), e2e_number(outer, "tid"), "%s",
                 name);
    cr_expect(before(e2e_number(outer, "ts"), e2e_number(inner, "ts")), "%s",
              name);
    cr_expect(before(e2e_number(inner, "ts"), end_of(outer)), "%s", name);
    if (!strcmp(e2e_text(inner, "ph"), "X"))
        cr_expect(before(end_of(inner), end_of(outer)), "%s", name);
}

/* ---- Slices and instants ---- */

Test(e2e_trace, writes_spans_as_nested_slices)
{
    const cJSON *trace = trace_of(all()->folder, "traced.nests");
    const cJSON *outer = needed(trace, "X", "outer");
    const cJSON *inner = needed(trace, "X", "inner");
    const cJSON *second = needed(trace, "X", "second");

    expect_in(inner, outer);
    expect_in(second, outer);
    cr_expect(before(end_of(inner), e2e_number(second, "ts")));
    cr_expect_null(argument(outer, "unfinished"));
    e2e_expect_is(e2e_text(outer, "cat"), "info");
    e2e_expect_is(e2e_text(inner, "cat"), "debug");
}

Test(e2e_trace, writes_lines_and_events_as_instants)
{
    const cJSON *trace = trace_of(all()->folder, "traced.nests");
    const cJSON *inner = needed(trace, "X", "inner");
    const cJSON *line = needed(trace, "i", "1 of many");
    const cJSON *happened = needed(trace, "i", "happened");

    expect_in(line, inner);
    expect_in(happened, inner);
    cr_expect_lt(e2e_number(line, "ts"), e2e_number(happened, "ts"));
    e2e_expect_is(e2e_text(happened, "cat"), "warn");
    cr_expect_eq(argument(happened, "age")->valuedouble, 3);
}

Test(e2e_trace, writes_fields_as_arguments)
{
    const cJSON *trace = trace_of(all()->folder, "traced.nests");
    const cJSON *outer = needed(trace, "X", "outer");

    cr_expect_eq(argument(outer, "number")->valuedouble, 7);
    e2e_expect_is(argument(outer, "text")->valuestring, "a \"b\"\n");
    cr_expect_eq(argument(needed(trace, "X", "inner"), "ratio")->valuedouble,
                 0.5);
    e2e_expect_is(argument(outer, "testlog.target")->valuestring,
                  "programs::traced");
    e2e_expect_has(argument(outer, "testlog.location")->valuestring,
                   "programs/traced.c:");
}

/* The first metadata of that name about a thread, or about a test. */
static const cJSON *on_row(const cJSON *trace, const char *name, bool thread)
{
    const cJSON *event;

    cJSON_ArrayForEach(event, events_of(trace))
    {
        if (!strcmp(e2e_text(event, "name"), name) &&
            thread == (e2e_number(event, "tid") > 0))
            return event;
    }
    cr_assert_fail("no %s", name);
    return NULL;
}

Test(e2e_trace, names_tracks)
{
    const cJSON *trace = trace_of(all()->folder, "traced.nests");

    e2e_expect_is(
        argument(needed(trace, "M", "process_name"), "name")->valuestring,
        "traced/nests");
    e2e_expect_has(
        argument(on_row(trace, "thread_name", true), "name")->valuestring,
        "traced_test ");
    e2e_expect_is(
        argument(on_row(trace, "thread_name", false), "name")->valuestring,
        "test");
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(trace, "otherData"), "result"),
                  "passed");
}

/* ---- Ends of tests ---- */

Test(e2e_trace, marks_spans_of_a_killed_test_as_unfinished)
{
    const cJSON *trace = trace_of(all()->folder, "traced.dies_in_spans");
    const cJSON *outer = needed(trace, "X", "outer");
    const cJSON *last = needed(trace, "X", "last words");

    cr_expect(cJSON_IsTrue(argument(outer, "unfinished")));
    cr_expect(cJSON_IsTrue(argument(last, "unfinished")));
    cr_expect_eq(argument(last, "n")->valuedouble, 1);
    expect_in(last, outer);
    expect_in(needed(trace, "i", "nobody handles SIGKILL"), last);
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(trace, "otherData"), "result"),
                  "crashed");
}

Test(e2e_trace, writes_a_failed_assertion_as_an_error_in_its_span)
{
    const cJSON *trace = trace_of(all()->folder, "traced.fails_in_a_span");
    const cJSON *failure =
        needed(trace, "i", "assertion failed: sums are wrong");
    const cJSON *judged = needed(trace, "X", "judged");

    e2e_expect_is(e2e_text(failure, "cat"), "error");
    expect_in(failure, judged);
    cr_expect_null(argument(judged, "unfinished"));
    e2e_expect_has(e2e_text(failure, "loc"), "programs/traced.c:");
}

Test(e2e_trace, gives_children_their_own_tracks)
{
    static const char *const tests[][2] = {
        {"traced.forks_and_exits", "the child says exit"},
        {"traced.forks_and_executes", "the child says exec"}};

    for (size_t i = 0; i < 2; i++) {
        const cJSON *trace = trace_of(all()->folder, tests[i][0]);
        const cJSON *parent = needed(trace, "X", "parent");
        const cJSON *child = needed(trace, "X", "child");
        const cJSON *line = needed(trace, "i", tests[i][1]);

        cr_expect_neq(e2e_number(child, "tid"), e2e_number(parent, "tid"));
        cr_expect_eq(e2e_number(line, "tid"), e2e_number(child, "tid"));
        expect_in(needed(trace, "i", "before the fork"), parent);
        expect_in(needed(trace, "i", "after the fork"), parent);
        cr_expect_null(argument(parent, "unfinished"));
        cr_expect(cJSON_IsTrue(argument(child, "unfinished")));
    }
}

Test(e2e_trace, prints_lines_of_children_in_their_parents_spans)
{
    e2e_expect_has(log_of(all()->folder, "traced.forks_and_exits"),
                   " INFO parent:child{how=\"exit\"}: programs::traced: the "
                   "child says exit\n");
    e2e_expect_has(log_of(all()->folder, "traced.forks_and_executes"),
                   " INFO parent: programs::traced: after the fork\n");
}

Test(e2e_trace, draws_arrows_to_threads_that_enter_a_span)
{
    const cJSON *trace, *from, *to;

    e2e_exits(0, "%s --filter late/hands_over",
              e2e_program("late", E2E_TRACED));
    trace = e2e_json("testlog-runs/latest/tests/late_test/late.hands_over/"
                     "trace.json");
    from = needed(trace, "s", "enter");
    to = needed(trace, "f", "enter");
    cr_expect_eq(e2e_number(from, "id"), e2e_number(to, "id"));
    cr_expect_neq(e2e_number(from, "tid"), e2e_number(to, "tid"));
    cr_expect(before(e2e_number(from, "ts"), e2e_number(to, "ts")));
}

Test(e2e_trace, keeps_the_verdict_while_a_thread_continues)
{
    const struct e2e *run =
        e2e_exits(0,
                  "for i in 1 2 3 4 5; do %s --filter "
                  "traced/ends_while_a_thread_logs || exit; done",
                  program());

    cr_expect_eq(e2e_count(run->out, "1 passed, 0 failed, 0 skipped\n"), 5);

    const cJSON *trace = trace_of(".", "traced.ends_while_a_thread_logs");

    needed(trace, "X", "chatter");
    needed(trace, "i", "still here 0");
    needed(trace, "i", "the test ends");
}

Test(e2e_trace, contains_every_test_in_the_trace_of_the_run)
{
    const cJSON *trace =
        e2e_json("%s/testlog-runs/latest/trace.json", all()->folder);
    static const char *const names[] = {
        "outer", "last words", "judged", "span of trace", "parent", "chatter"};

    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        needed(trace, "X", names[i]);
    e2e_expect_closing(all(), "5 passed, 2 failed, 0 skipped");
}

/* ---- Tests and workers ---- */

/* Expects the slice of a test above its threads. */
static void expect_test(const cJSON *trace, const char *name,
                        const char *outcome, const char *reason)
{
    const cJSON *slice = needed(trace, "X", name);

    e2e_expect_is(e2e_text(slice, "cat"), "test");
    e2e_expect_is(argument(slice, "outcome")->valuestring, outcome);
    e2e_expect_has(argument(slice, "location")->valuestring,
                   "programs/traced.c:");
    cr_expect_gt(argument(slice, "duration_ns")->valuedouble, 0);
    if (reason)
        e2e_expect_has(argument(slice, "reason")->valuestring, reason);
}

Test(e2e_trace, draws_each_test_with_its_outcome)
{
    static const char *const tests[][4] = {
        {"traced.nests", "traced/nests", "passed", NULL},
        {"traced.dies_in_spans", "traced/dies_in_spans", "crashed", "SIGKILL"},
        {"traced.fails_in_a_span", "traced/fails_in_a_span", "failed",
         "sums are wrong"},
    };
    const cJSON *run =
        e2e_json("%s/testlog-runs/latest/trace.json", all()->folder);
    const cJSON *exported;

    e2e_exits(0, "'%s/testlog' export '%s/testlog-runs/latest' -o all.json",
              BUILD_DIR, all()->folder);
    exported = e2e_json("all.json");
    for (size_t i = 0; i < 3; i++) {
        const char *const *test = tests[i];

        expect_test(trace_of(all()->folder, test[0]), test[1], test[2],
                    test[3]);
        expect_test(run, test[1], test[2], test[3]);
        expect_test(exported, test[1], test[2], test[3]);
    }
}

Test(e2e_trace, draws_a_row_for_each_worker_of_a_run)
{
    const cJSON *trace, *first, *second;

    e2e_run("%s -j1 --filter 'traced/fails_in_a_span' --retries 1", program());
    trace = e2e_json("testlog-runs/latest/trace.json");
    first = needed(trace, "X", "traced/fails_in_a_span, try 1");
    second = needed(trace, "X", "idle");
    e2e_expect_is(e2e_text(first, "cat"), "test");
    cr_expect_eq(e2e_number(first, "tid"), 1);
    cr_expect_eq(e2e_number(second, "tid"), 1);
    cr_expect(before(end_of(first), e2e_number(second, "ts")));
    cr_expect_null(event(trace_of(".", "traced.fails_in_a_span"), "X", "idle"));
}

/* The first test was reported before the run was killed. */
Test(e2e_trace, draws_tests_of_a_killed_run)
{
    const cJSON *trace;

    e2e_exits(0,
              "%s -q --filter 'traced/@(nests|logs_all_levels)' && cd "
              "testlog-runs/latest && rm run.json && sed -i /nests/d "
              "results.jsonl && '%s/testlog' export . -o ../../trace.json",
              program(), BUILD_DIR);
    trace = e2e_json("trace.json");
    e2e_expect_is(
        argument(needed(trace, "X", "traced/logs_all_levels"), "outcome")
            ->valuestring,
        "passed");
    e2e_expect_is(
        argument(needed(trace, "X", "traced/nests"), "outcome")->valuestring,
        "unknown");
    cr_expect_null(event(trace, "X", "idle"));
}

/* ---- Filters ---- */

static const struct {
    const char *settings;
    const char *last, *not_recorded; /* events; NULL: all are */
    const char *not_shown;
} filters[] = {
    {"", "a trace", NULL, "a debug"},
    {"LOG=off", "a trace", NULL, "an error"},
    {"LOG=off TRACE_FILTER=info", "an info", "a debug", "an error"},
    {"LOG=error TRACE_FILTER=programs=warn", "a warning", "an info",
     "a warning"},
    {"LOG=debug TRACE_FILTER=off", "a debug", "a trace", "a trace"},
};

Test(e2e_trace, records_by_TRACE_FILTER_and_shows_by_LOG)
{
    for (size_t i = 0; i < sizeof(filters) / sizeof(*filters); i++) {
        const cJSON *trace;

        e2e_exits(0, "%s %s --filter traced/logs_all_levels",
                  filters[i].settings, program());
        trace = trace_of(".", "traced.logs_all_levels");
        cr_expect_not_null(event(trace, "i", filters[i].last), "%s",
                           filters[i].settings);
        if (filters[i].not_recorded)
            cr_expect_null(event(trace, "i", filters[i].not_recorded), "%s",
                           filters[i].settings);
        e2e_expect_lacks(log_of(".", "traced.logs_all_levels"),
                         filters[i].not_shown);
    }
}

/* ---- Limits ---- */

Test(e2e_trace, keeps_verdicts_after_the_limit)
{
    const struct e2e *run =
        e2e_run("TRACE_LIMIT=256K %s --filter 'limit/*'", program());
    const cJSON *json = e2e_run_json();
    const cJSON *passed = e2e_result(json, "limit/passes");
    const cJSON *failed = e2e_result(json, "limit/fails");

    e2e_expect_closing(run, "1 passed, 1 failed, 0 skipped");
    e2e_expect_is(e2e_text(passed, "outcome"), "passed");
    e2e_expect_is(e2e_text(failed, "outcome"), "failed");
    e2e_expect_has(e2e_text(failed, "reason"), "whatever was logged");
    cr_expect_gt(e2e_number(passed, "dropped"), 1000);
    cr_expect_gt(e2e_number(failed, "dropped"), 1000);
}

Test(e2e_trace, keeps_errors_after_the_limit)
{
    const struct e2e *run =
        e2e_run("%s --trace-limit=256K --filter 'limit/fails'", program());
    const cJSON *trace = trace_of(".", "limit.fails");

    needed(trace, "i", "line 0 of very many");
    needed(trace, "i", "the error is kept");
    needed(trace, "i", "assertion failed: whatever was logged");
    cr_expect_null(event(trace, "i", "line 49999 of very many"));
    e2e_expect_has(run->err, "ERROR flood: programs::traced: the error is "
                             "kept\n");
}

Test(e2e_trace, reports_lost_records_once)
{
    const struct e2e *run =
        e2e_run("TRACE_LIMIT=256K %s --filter 'limit/passes' 2>&1", program());
    const cJSON *test = e2e_latest("limit/passes");
    char line[128];

    snprintf(line, sizeof(line),
             "testlog: limit/passes: %.0f records were lost after "
             "TRACE_LIMIT was reached; raise --trace-limit\n",
             e2e_number(test, "dropped"));
    e2e_expect_has(run->out, line);
    cr_expect_eq(e2e_count(run->out, "were lost"), 1);
    e2e_expect_lacks(e2e_run("%s --filter limit/passes", program())->err,
                     "were lost");
}

/* ---- Examples ---- */

static const struct e2e *example(const char *name)
{
    if (!e2e_exists("%s/examples/%s", VARIANT_DIR, name))
        cr_skip_test("%s is not built", name);
    return e2e_run("LOG=trace '%s/examples/%s' -j2", VARIANT_DIR, name);
}

/* Expects that an example's lines have the place of `call` in its source. */
static void expect_place(const char *name, const char *call)
{
    const struct e2e *run =
        e2e_run("grep -n '%s' '%s/examples/%s.c'", call, SOURCE_DIR, name);
    char place[128];

    cr_assert_eq(run->code, 0);
    snprintf(place, sizeof(place), "    at examples/%s.c:%d\n", name,
             atoi(run->out));
    run = e2e_exits(
        0, "'%s/examples/%s' --show-output --log=trace --log-format=pretty",
        VARIANT_DIR, name);
    if (strstr(VARIANT_DIR, "-trace"))
        e2e_expect_has(run->err, place);
}

Test(e2e_trace, bridges_keep_file_and_line)
{
    example("bridge_rxi_log_test");
    expect_place("bridge_rxi_log_test", "log_fatal(\"nobody");
    example("bridge_glib_test"); /* skips the rest if glib is missing */
    expect_place("bridge_glib_test", "g_warning(");
}

Test(e2e_trace, failing_examples_print_their_outcomes)
{
    const struct e2e *run = example("failures_test");
    static const char *const always[] = {
        "failures/aborts: crashed: SIGABRT",
        "failures/assert_fails_in_nested_spans: failed: ",
        "failures/crashes_in_fini: crashed: in its teardown",
        "failures/crashes_in_init: crashed: in its setup",
        "failures/exits_with_3: failed: exited with 3 instead of 0",
        "failures/hangs_in_a_span: timed out: after ",
        "failures/hangs_in_a_thread: timed out: after ",
        "failures/instance_7_of_12_fails[07]: failed: ",
        "failures/kills_itself: crashed: SIGKILL",
        "failures/one_data_point_fails: failed: ",
        "failures/segfaults_with_unflushed_output: ",
    };

    if (e2e_sanitized())
        cr_skip_test("sanitizers exit instead of crashing");
    e2e_expect_is(e2e_last(run->out), "13 passed, 13 failed, 1 skipped");
    e2e_expect_code(run, 1);
    for (size_t i = 0; i < sizeof(always) / sizeof(*always); i++)
        e2e_expect_has(run->err, always[i]);
}

Test(e2e_trace, failing_examples_show_their_spans_if_traced)
{
    const struct e2e *run = example("failures_test");
    const char *text = e2e_normal(run->err);
    static const char *const traced[] = {
        "DEBUG outer{pairs=2}:assert_red{key=\"bear\"}: "
        "examples::failures_test: bear is brown\n",
        "ERROR outer{pairs=2}:assert_red{key=\"bear\"}: "
        "examples::failures_test: assertion failed: a bear should be red\n",
        "open spans:\nTHREAD: hang{unused=ADDRESS}\n",
        "output:\na line of output\n",
        "\nand one that never ended\n",
        "output:\nstill in the buffer\nopen spans:\nTHREAD: leaving\n",
    };

    if (!strstr(VARIANT_DIR, "-trace"))
        cr_skip_test("the examples are built without TRACING");
    for (size_t i = 0; i < sizeof(traced) / sizeof(*traced); i++)
        e2e_expect_has(text, traced[i]);
}

Test(e2e_trace, failing_example_of_newer_assertions_shows_a_diff)
{
    const struct e2e *run = example("failures_new_test");

    e2e_expect_closing(run, "0 passed, 1 failed, 0 skipped");
    e2e_expect_has(run->err,
                   "failures_new/assert_shows_the_difference: failed");
}

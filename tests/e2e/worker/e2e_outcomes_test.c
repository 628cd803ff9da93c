/* e2e_outcomes_test.c: every way in which a test can end, in all reports. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_outcome, .init = e2e_begin, .timeout = 300);
TestSuite(e2e_outcomes, .init = e2e_begin, .timeout = 300);

static const char *const builds[] = {"plain", "traced"};

/* Runs all tests of a program, once. */
static const struct e2e *all_of(const char *program, enum e2e_build build)
{
    char key[64];

    snprintf(key, sizeof(key), "%s-of-%s", builds[build], program);
    return e2e_once(key, "%s -j2", e2e_program(program, build));
}

/* ---- Single tests ---- */

/* How many lines of the list of failed tests begin with "suite/test". */
static size_t listed(const struct e2e *all, const char *name)
{
    const char *failed = strstr(all->err, "\nfailed:\n");
    char line[256];

    snprintf(line, sizeof(line), ": %s: ", name);
    return e2e_count(failed ? failed : "", line);
}

static const char *junit_case(const struct e2e *all, const char *name)
{
    const char *xml = e2e_read("%s/testlog-runs/latest/junit.xml", all->folder);
    char open[256];

    snprintf(open, sizeof(open), "<testcase name=\"%s\"",
             strchr(name, '/') + 1);
    cr_expect_eq(e2e_count(xml, open), 1, "%s in junit.xml", name);
    return e2e_between(xml, open, "</testcase>");
}

static const char *junit_element(const char *outcome)
{
    static const char *const elements[][2] = {{"failed", "<failure "},
                                              {"crashed", "<error "},
                                              {"timeout", "<error "},
                                              {"skipped", "<skipped "}};

    for (size_t i = 0; i < sizeof(elements) / sizeof(*elements); i++)
        if (!strcmp(outcome, elements[i][0]))
            return elements[i][1];
    return NULL;
}

/* Expects the same in run.json, junit.xml and the summary, in both builds. */
static void expect(const char *program, const char *name, const char *outcome,
                   const char *reason)
{
    const char *element = junit_element(outcome);

    for (int build = E2E_PLAIN; build <= E2E_TRACED; build++) {
        const struct e2e *all = all_of(program, (enum e2e_build)build);
        const cJSON *run =
            e2e_json("%s/testlog-runs/latest/run.json", all->folder);
        const cJSON *test = e2e_result(run, name);
        const char *xml = junit_case(all, name);

        cr_expect_eq(e2e_results(run, name), 1, "%s is not listed once", name);
        e2e_expect_is(e2e_text(test, "outcome"), outcome);
        e2e_expect_has(e2e_text(test, "reason"), reason);
        cr_expect(reason[0] || !e2e_text(test, "reason")[0],
                  "%s must have no reason: %s", name, e2e_text(test, "reason"));
        cr_expect_eq(listed(all, name),
                     strcmp(outcome, "passed") && strcmp(outcome, "skipped"),
                     "%s:\n%s", name, all->err);
        if (element)
            e2e_expect_has(xml, element);
        else
            e2e_expect_lacks(xml, " message=\"");
    }
}

/* X(test, outcome, part of its reason: "" for none) */
#define OUTCOMES(X)                                                            \
    X(passes, "passed", "")                                                    \
    X(passes_without_annotation, "passed", "")                                 \
    X(fails_an_assertion, "failed", ": no answer")                             \
    X(fails_without_annotation, "failed", ": no answer either")                \
    X(fails_two_expectations, "failed", ": the first")                         \
    X(aborts, "crashed", "SIGABRT")                                            \
    X(is_killed, "crashed", "SIGKILL")                                         \
    X(is_terminated, "crashed", "SIGTERM")                                     \
    X(hangs, "timeout", "after ")                                              \
    X(hangs_in_init, "timeout", "after ")                                      \
    X(hangs_in_fini, "timeout", "after ")                                      \
    X(exits_with_3, "failed", "exited with 3 instead of 0")                    \
    X(exits_at_once_with_4, "failed", "exited with 4 instead of 0")            \
    X(exits_with_0, "failed", "exited with 0 before the test ended")           \
    X(exits_as_expected, "passed", "")                                         \
    X(does_not_exit_as_expected, "failed", "exited with 0 instead of 3")       \
    X(raises_as_expected, "passed", "")                                        \
    X(does_not_raise_as_expected, "failed", "SIGTERM was expected")            \
    X(crashes_in_init, "crashed", "in its setup")                              \
    X(crashes_in_fini, "crashed", "in its teardown")                           \
    X(fails_in_init, "crashed", "in its setup")                                \
    X(exits_in_init, "crashed", "exited in its setup")                         \
    X(exits_in_fini, "failed", "exited in its teardown")                       \
    X(fails_and_crashes_in_fini, "crashed", "in its teardown")                 \
    X(crashes_at_exit, "crashed", "in its teardown")                           \
    X(is_skipped, "skipped", "no time today")                                  \
    X(is_skipped_silently, "skipped", "")                                      \
    X(is_disabled, "skipped", "disabled")                                      \
    X(warns, "passed", "")                                                     \
    X(holds, "passed", "")                                                     \
    X(does_not_hold, "failed", ": 1 and 1")

#define X(name, outcome, reason)                                               \
    Test(e2e_outcome, reports_a_test_that_##name)                              \
    {                                                                          \
        expect("outcomes", "outcomes/" #name, outcome, reason);                \
    }
OUTCOMES(X)
#undef X

Test(e2e_outcome, reports_a_test_that_segfaults)
{
    if (e2e_sanitized())
        cr_skip_test("sanitizers exit on SIGSEGV");
    expect("outcomes", "outcomes/segfaults", "crashed", "SIGSEGV");
}

Test(e2e_outcome, reports_a_test_that_dies_before_it_begins)
{
    e2e_exits(1, "%s", e2e_program("unborn", E2E_TRACED));

    const cJSON *test = e2e_latest("unborn/never_begins");

    e2e_expect_is(e2e_text(test, "outcome"), "crashed");
    cr_expect_lt(e2e_number(test, "duration_ns"), 60e9);
    cr_expect(e2e_exists("testlog-runs/latest/%s/trace.json",
                         e2e_text(test, "folder")));
}

Test(e2e_outcome, reports_a_test_that_is_disabled_with_its_suite)
{
    expect("outcomes", "unwanted/is_disabled_with_its_suite", "skipped",
           "disabled");
}

Test(e2e_outcome, pads_the_numbers_of_instances)
{
    char name[64];

    for (int i = 0; i <= 10; i++) {
        snprintf(name, sizeof(name), "outcomes/instance[%02d]", i);
        expect("outcomes", name, i == 7 ? "failed" : "passed",
               i == 7 ? ": instance 7" : "");
    }
}

Test(e2e_outcome, reports_newer_assertions)
{
    expect("new_assert", "new_assert/passes", "passed", "");
    expect("new_assert", "new_assert/fails", "failed",
           ": eq(int, legs, 8) actual=6 expected=8");
}

/* The header, the assertion and the closing list; no line of Criterion's. */
Test(e2e_outcome, prints_a_verdict_at_once_and_at_the_end)
{
    const struct e2e *run =
        e2e_run("%s --fail-log=0 --filter outcomes/fails_two_expectations "
                "--filter outcomes/fails_without_annotation",
                e2e_program("outcomes", E2E_TRACED));

    cr_expect_eq(e2e_count(run->err, "outcomes/fails_two_expectations: failed"),
                 2, "%s", run->err);
    cr_expect_eq(
        e2e_count(run->err, "outcomes/fails_without_annotation: failed"), 2,
        "%s", run->err);
    e2e_expect_has(
        e2e_between(run->err, "_expectations: failed ----\n", "log:"),
        ": the second\n");
    e2e_expect_lacks(run->err, "[FAIL]", "[----]", "Synthesis");
}

Test(e2e_outcome, keeps_lines_of_Criterion_if_verbose_or_not_annotated)
{
    const char *flags = "--filter outcomes/fails_an_assertion";
    const struct e2e *verbose =
        e2e_run("%s --verbose %s", e2e_program("outcomes", E2E_TRACED), flags);
    const struct e2e *plain =
        e2e_run("%s %s", e2e_program("outcomes", E2E_PLAIN), flags);

    e2e_expect_has(verbose->err, "[FAIL] outcomes::fails_an_assertion");
    e2e_expect_has(plain->err, "[FAIL] outcomes::fails_an_assertion",
                   "Synthesis");
}

Test(e2e_outcome, prints_a_diff_of_texts)
{
    const struct e2e *run =
        e2e_exits(1, "%s --filter new_assert/fails_in_a_text",
                  e2e_program("new_assert", E2E_TRACED));

    e2e_expect_has(run->err, "-\"two\\n\"\n", "+\"2\\n\"\n");
}

Test(e2e_outcome, prints_what_belongs_to_each_failed_assertion)
{
    const struct e2e *run = e2e_run("%s --filter new_assert/fails_twice",
                                    e2e_program("new_assert", E2E_TRACED));
    const char *first = e2e_between(run->err, "not a spider\n", "not a spider");

    e2e_expect_has(first, "[-6-]{+8+}");
    e2e_expect_lacks(first, "[-7-]{+8+}");
}

/* Criterion would print the parameters among the lines of other tests. */
Test(e2e_outcome, prints_the_parameters_of_a_theory_in_its_block)
{
    const struct e2e *run =
        e2e_run("%s -j4 --filter 'new_assert/@(does|fails)*'",
                e2e_program("new_assert", E2E_TRACED));
    const char *block =
        e2e_between(run->err, "---- new_assert/does_not_hold", "\nlog:");

    e2e_expect_lacks(run->err, "[----]");
    cr_expect_eq(e2e_count(block, "  with the parameters ("), 3, "%s", block);
    e2e_expect_has(e2e_between(block, "actual: 2", "too large"),
                   "\n  with the parameters (2, 3)\n");
    e2e_expect_has(e2e_between(block, "too large\n", "actual: 2"),
                   "  with the parameters (1, 4)\n");
    e2e_expect_has(block, "\n  with the parameters (2, 4)");
}

/* Criterion's own reports count timeouts as failures, too, although testlog
 * killed the tests. */
Test(e2e_outcome, counts_no_timeout_as_a_crash)
{
    const struct e2e *run =
        e2e_run("%s -j1 --verbose --filter 'outcomes/hangs*' --xml=report.xml",
                e2e_program("outcomes", E2E_TRACED));

    e2e_expect_has(run->err, "[FAIL] outcomes::hangs: Timed out. (1.",
                   "[FAIL] outcomes::hangs_in_init: Timed out. (1.",
                   "[FAIL] outcomes::hangs_in_fini: Timed out. (1.",
                   "Failing: 3 | Crashing: 0");
    cr_expect_eq(e2e_count(e2e_read("report.xml"), "type=\"timeout\""), 3);
    e2e_expect_lacks(e2e_read("report.xml"), "type=\"crash\"");
}

Test(e2e_outcome, reports_uncaught_exceptions)
{
    expect("throws", "throws/an_exception", "failed",
           "uncaught std::runtime_error: out of luck");
    expect("throws", "throws/a_number", "failed", "uncaught int: 42");
    expect("throws", "throws/a_caught_number", "passed", "");
}

Test(e2e_outcome, logs_uncaught_exceptions_as_errors)
{
    const struct e2e *run = e2e_run("%s --filter throws/an_exception",
                                    e2e_program("throws", E2E_TRACED));

    e2e_expect_has(run->err, "Z ERROR programs::throws: uncaught "
                             "std::runtime_error: out of luck\n");
    run =
        e2e_run("%s --filter whole/throws", e2e_program("whole_cxx", E2E_ALL));
    e2e_expect_has(run->err, "Z ERROR criterion: uncaught std::runtime_error");
}

/* ---- The run ---- */

struct sums {
    double passed, failed, skipped;
};

static struct sums count(const cJSON *run)
{
    struct sums sums = {0, 0, 0};
    const cJSON *test;

    cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(run, "tests"))
    {
        const char *outcome = e2e_text(test, "outcome");

        sums.passed += !strcmp(outcome, "passed");
        sums.skipped += !strcmp(outcome, "skipped");
        sums.failed += strcmp(outcome, "passed") && strcmp(outcome, "skipped");
    }
    return sums;
}

Test(e2e_outcomes, closing_line_counts_each_test_once)
{
    for (int build = E2E_PLAIN; build <= E2E_TRACED; build++) {
        const struct e2e *all = all_of("outcomes", (enum e2e_build)build);
        const cJSON *run =
            e2e_json("%s/testlog-runs/latest/run.json", all->folder);
        struct sums sums = count(run);
        char closing[96];

        snprintf(closing, sizeof(closing),
                 "%.0f passed, %.0f failed, %.0f skipped", sums.passed,
                 sums.failed, sums.skipped);
        e2e_expect_closing(all, closing);
        e2e_expect_is(closing, "16 passed, 24 failed, 4 skipped");
        cr_expect_eq(e2e_number(run, "passed"), sums.passed);
        cr_expect_eq(e2e_number(run, "failed"), sums.failed);
        cr_expect_eq(e2e_number(run, "skipped"), sums.skipped);
        e2e_expect_code(all, 1);
    }
}

Test(e2e_outcomes, prints_the_closing_line_last)
{
    const struct e2e *all = e2e_run("%s --filter 'outcomes/*' -j2 2>&1",
                                    e2e_program("outcomes", E2E_TRACED));

    e2e_expect_is(e2e_last(all->out), "16 passed, 24 failed, 3 skipped");
    cr_expect_eq(e2e_count(all->out, " passed, "), 1);
    e2e_expect_has(all->out, "\nrun: testlog-runs/");
}

Test(e2e_outcomes, gives_the_same_verdicts_without_tracing)
{
    const struct e2e *plain = all_of("outcomes", E2E_PLAIN);
    const struct e2e *traced = all_of("outcomes", E2E_TRACED);

    e2e_expect_is(e2e_last(plain->out), e2e_last(traced->out));
    cr_expect_eq(plain->code, traced->code);
}

static const struct {
    const char *flags;
    int code;
} codes[] = {
    {"--filter outcomes/passes", 0},
    {"--filter outcomes/warns", 0},
    {"--filter outcomes/is_skipped", 0},
    {"--filter outcomes/is_disabled", 0},
    {"--filter outcomes/exits_in_fini", 1},
    {"--filter outcomes/fails_an_assertion", 1},
    {"--filter outcomes/aborts", 1},
    {"--filter outcomes/hangs", 1},
    {"--filter outcomes/crashes_in_init", 1},
    {"--filter outcomes/crashes_in_fini", 1},
    {"--filter outcomes/exits_in_init", 1},
    {"--filter outcomes/fails_an_assertion --always-succeed", 0},
    {"--filter outcomes/nothing_like_this", 4},
    {"--filter outcomes/no_instance", 4},
    {"--nonsense", 2},
};

Test(e2e_outcomes, exits_with_the_code_of_the_outcome)
{
    for (int build = E2E_PLAIN; build <= E2E_TRACED; build++)
        for (size_t i = 0; i < sizeof(codes) / sizeof(*codes); i++)
            e2e_exits(codes[i].code, "%s %s",
                      e2e_program("outcomes", (enum e2e_build)build),
                      codes[i].flags);
}

Test(e2e_outcomes, starts_no_test_after_a_failure_with_fail_fast)
{
    const struct e2e *run = e2e_exits(1, "%s -f -j1 --filter 'outcomes/fails*'",
                                      e2e_program("outcomes", E2E_TRACED));
    const cJSON *json = e2e_run_json();

    e2e_expect_closing(run, "0 passed, 1 failed, 4 skipped");
    e2e_expect_is(
        e2e_text(e2e_result(json, "outcomes/fails_in_init"), "reason"),
        "not run: --fail-fast");
}

Test(e2e_outcomes, ignores_a_default_timeout_that_is_not_reached)
{
    const struct e2e *run =
        e2e_exits(0, "%s --timeout 30 --filter 'outcomes/passes'",
                  e2e_program("outcomes", E2E_TRACED));

    e2e_expect_closing(run, "1 passed, 0 failed, 0 skipped");
}

/* ---- Files ---- */

static bool has_command(const char *name)
{
    return !e2e_run("command -v %s", name)->code;
}

static void check_xml(const char *path)
{
    if (has_command("xmllint"))
        e2e_exits(0, "xmllint --noout %s", path);
    else if (has_command("python3"))
        e2e_exits(0,
                  "python3 -c 'import sys, xml.dom.minidom as m; "
                  "m.parse(sys.argv[1])' %s",
                  path);
    else
        cr_skip_test("needs xmllint or python3");
}

Test(e2e_outcomes, writes_well_formed_junit)
{
    char path[PATH_MAX + 64];

    for (int build = E2E_PLAIN; build <= E2E_TRACED; build++) {
        snprintf(path, sizeof(path), "%s/testlog-runs/latest/junit.xml",
                 all_of("outcomes", (enum e2e_build)build)->folder);
        check_xml(path);
    }
}

Test(e2e_outcomes, junit_agrees_with_the_closing_line)
{
    const struct e2e *all = all_of("outcomes", E2E_TRACED);
    const char *xml = e2e_read("%s/testlog-runs/latest/junit.xml", all->folder);

    e2e_expect_has(e2e_line(xml, "<testsuite "),
                   " name=\"outcomes_test\" tests=\"44\" ", " skipped=\"4\" ");
    cr_expect_eq(e2e_count(xml, "<testcase "), 44);
    cr_expect_eq(e2e_count(xml, "<failure ") + e2e_count(xml, "<error "), 24);
    cr_expect_eq(e2e_count(xml, "<skipped "), 4);
}

Test(e2e_outcomes, writes_locations_of_tests_to_run_json)
{
    const struct e2e *all = all_of("outcomes", E2E_TRACED);
    const cJSON *run = e2e_json("%s/testlog-runs/latest/run.json", all->folder);
    const cJSON *test = e2e_result(run, "outcomes/fails_an_assertion");

    cr_expect_eq(e2e_number(run, "schema"), 1);
    e2e_expect_is(e2e_text(test, "program"), "outcomes_test");
    e2e_expect_is(e2e_text(test, "file"), "programs/outcomes.c");
    cr_expect_gt(e2e_number(test, "line"), 0);
    cr_expect_gt(e2e_number(test, "duration_ns"), 0);
    cr_expect_eq(e2e_number(test, "dropped"), 0);
    e2e_expect_is(e2e_text(cJSON_GetObjectItem(run, "filters"), "log"), "info");
}

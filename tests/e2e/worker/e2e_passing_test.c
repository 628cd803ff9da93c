/* e2e_passing_test.c: tests that Criterion alone passes or hangs on, and that
 * testlog fails. STANDARDS in testlog-program(7) lists them;
 * e2e_outcomes_test.c has more. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_passing, .init = e2e_begin, .timeout = 300);

#define CHILD "in a forked child: programs/passing.c:"

/* X(suite, test, outcome, part of its reason, Criterion's status) */
#define TESTS(X)                                                               \
    X(early, exits, "failed", "exited with 0 before", "PASSED")                \
    X(early, exits_at_once, "failed", "exited with 0 before", "PASSED")        \
    X(early, becomes_another, "failed", "exited with 0 before", "PASSED")      \
    X(early, exits_in_a_thread, "failed", "exited with 0 before", "PASSED")    \
    X(fini, asserts, "failed", ": in a teardown", "PASSED")                    \
    X(fini, expects, "failed", ": expected in a teardown", "PASSED")           \
    X(fini, exits, "failed", "exited in its teardown", "PASSED")               \
    X(fini_of_suite, asserts, "failed", ": in a teardown", "PASSED")           \
    X(right, exits_as_expected, "passed", "", "PASSED")                        \
    X(right, raises_as_expected, "passed", "", "PASSED")                       \
    X(right, skips, "skipped", "not today", "SKIPPED")                         \
    X(right, skips_silently, "skipped", "", "SKIPPED")                         \
    X(right, may_open_few_files, "passed", "", "")                             \
    X(right, may_write_nothing, "passed", "", "PASSED")                        \
    X(children, come_to_the_end, "passed", "", "")                             \
    X(children, pass_an_assertion, "passed", "", "")                           \
    X(children, skip, "passed", "", "")                                        \
    X(children, log, "passed", "", "")                                         \
    X(children, fail, "failed", CHILD, "")                                     \
    X(children, fail_and_go_on, "failed", CHILD, "")                           \
    X(deaf, swallows, "timeout", "after ", "")                                 \
    X(deaf, ignores, "timeout", "after ", "")                                  \
    X(deaf, blocks, "timeout", "after ", "")                                   \
    X(deaf, ends_late, "timeout", "after ", "")                                \
    X(deaf, hangs_at_its_exit, "timeout", "after ", "")                        \
    X(deaf, has_no_limit, "timeout", "after ", "")

static const struct row {
    const char *name, *outcome, *reason, *criterion;
} rows[] = {
#define X(suite, test, outcome, reason, criterion)                             \
    {#suite "/" #test, outcome, reason, criterion},
    TESTS(X)
#undef X
};

enum { ROWS = sizeof(rows) / sizeof(*rows) };

static void expect_row(const cJSON *run, const struct row *row)
{
    const cJSON *test = e2e_result(run, row->name);
    const char *outcome = e2e_text(test, "outcome");

    cr_expect_str_eq(outcome, row->outcome, "%s: %s: %s", row->name, outcome,
                     e2e_text(test, "reason"));
    e2e_expect_has(e2e_text(test, "reason"), row->reason);
}

/* Checks all rows; without `deaf`, only those that are fast. */
static void expect_rows(const struct e2e *run, bool deaf)
{
    const cJSON *json =
        e2e_json("%s/testlog-runs/latest/run.json", run->folder);

    for (size_t i = 0; i < ROWS; i++)
        if (deaf || strncmp(rows[i].name, "deaf/", 5))
            expect_row(json, &rows[i]);
}

Test(e2e_passing, reports_every_row)
{
    const struct e2e *run =
        e2e_exits(1, "%s -j8 --timeout %d", e2e_program("passing", E2E_ALL),
                  e2e_sanitized() ? 10 : 2);

    e2e_expect_closing(run, "8 passed, 16 failed, 2 skipped");
    expect_rows(run, true);
}

/* Verdicts don't depend on the trace or the number of jobs. */
Test(e2e_passing, reports_every_row_at_j1_to_j8_captured_and_live)
{
    static const char *const builds[] = {"", "--nocapture"};
    const char *all = e2e_program("passing", E2E_ALL);
    const char *plain = e2e_program("passing", E2E_PLAIN);

    for (int jobs = 1; jobs <= 8; jobs++) {
        const struct e2e *run =
            e2e_exits(1, "%s -j%d %s --filter '!(deaf/*)'",
                      jobs % 3 ? all : plain, jobs, builds[jobs % 2]);

        e2e_expect_is(e2e_last(run->out), "8 passed, 10 failed, 2 skipped");
        expect_rows(run, false);
    }
}

/* The status of "suite/test" in Criterion's own report. */
static const char *criterion_says(const cJSON *report, const char *name)
{
    const cJSON *suite, *test;

    cJSON_ArrayForEach(suite, cJSON_GetObjectItem(report, "test_suites"))
    {
        cJSON_ArrayForEach(test, cJSON_GetObjectItem(suite, "tests"))
        {
            char full[256];

            snprintf(full, sizeof(full), "%s/%s", e2e_text(suite, "name"),
                     e2e_text(test, "name"));
            if (!strcmp(full, name))
                return e2e_text(test, "status");
        }
    }
    return "not in the report";
}

/* If Criterion alone gets a row right, the table is out of date. */
Test(e2e_passing, differs_from_criterion_alone)
{
    e2e_exits(
        0,
        "cc -D_GNU_SOURCE -I '%s/include' -o plain '%s/programs/passing.c' "
        "-lcriterion -lpthread && ./plain --json=report.json -j2 --filter "
        "'@(early|fini|fini_of_suite|right)/!(may_open*)'",
        BUILD_DIR, TESTS_DIR);
    const cJSON *report = e2e_json("report.json");

    for (size_t i = 0; i < ROWS; i++)
        if (rows[i].criterion[0])
            cr_expect_str_eq(criterion_says(report, rows[i].name),
                             rows[i].criterion, "%s", rows[i].name);
}

Test(e2e_passing, supports_a_huge_limit_of_open_files)
{
    const char *program = e2e_program("passing", E2E_PLAIN);

    if (atol(e2e_run("ulimit -Hn | sed s/unlimited/1000000000/")->out) <= 65536)
        cr_skip_test("at most 65536 files may be open here");
    e2e_expect_closing(e2e_run("ulimit -n $(ulimit -Hn); %s --filter "
                               "right/may_open_few_files",
                               program),
                       "1 passed, 0 failed, 0 skipped");
}

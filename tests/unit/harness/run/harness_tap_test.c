/* harness_tap_test.c: writes TAP 14. */
#include "harness/run/files/writers.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;

static void end(void)
{
    test_log_run_free(&run);
}

TestSuite(harness_tap, .fini = end);

static struct test_log_result *add(const char *name,
                                   enum test_log_outcome outcome,
                                   const char *reason)
{
    struct test_log_result *result =
        runs_add_result(&run, "p", name, outcome, reason);

    result->duration = 1500000;
    return result;
}

static const char *written(void)
{
    char *text;
    size_t size;
    FILE *out = open_memstream(&text, &size);

    cr_assert_not_null(out);
    test_log_put_tap(out, &run);
    cr_assert_eq(fclose(out), 0);
    return test_keep(text);
}

static void expect_has(const char *part)
{
    cr_expect_not_null(strstr(written(), part), "%s is not in:\n%s", part,
                       written());
}

Test(harness_tap, writes_the_expected_text)
{
    struct test_log_result *result;

    run.program = strdup("p");
    run.path = strdup("runs/1");
    add("passes", TEST_LOG_OUTCOME_PASSED, NULL);
    result = add("fails", TEST_LOG_OUTCOME_FAILED, "file.c:7: why\n\"so\"");
    result->file = strdup("file.c");
    result->line = 5;
    result->folder = strdup("tests/p/suite.fails");
    add("did not run", TEST_LOG_OUTCOME_NONE, NULL);
    add("crashes", TEST_LOG_OUTCOME_CRASHED, NULL);
    add("is skipped", TEST_LOG_OUTCOME_SKIPPED, "no time");
    cr_expect_str_eq(
        written(),
        "TAP version 14\n1..4\n# run: runs/1\n"
        "ok 1 - suite/passes\n  ---\n  outcome: passed\n  program: \"p\"\n"
        "  duration_ms: 1.500\n  ...\n"
        "not ok 2 - suite/fails\n  ---\n"
        "  message: \"file.c:7: why\\n\\\"so\\\"\"\n  severity: fail\n"
        "  outcome: failed\n  program: \"p\"\n  file: \"file.c\"\n  line: 5\n"
        "  duration_ms: 1.500\n"
        "  trace: \"runs/1/tests/p/suite.fails/trace.json\"\n  ...\n"
        "not ok 3 - suite/crashes\n  ---\n  message: \"crashed\"\n"
        "  severity: fail\n  outcome: crashed\n  program: \"p\"\n"
        "  duration_ms: 1.500\n  ...\n"
        "ok 4 - suite/is skipped # SKIP no time\n  ---\n"
        "  message: \"no time\"\n  outcome: skipped\n  program: \"p\"\n"
        "  duration_ms: 1.500\n  ...\n");
}

Test(harness_tap, writes_a_skipping_plan_without_tests)
{
    cr_expect_str_eq(written(), "TAP version 14\n1..0 # SKIP no test ran\n");
}

Test(harness_tap, prefixes_tests_of_several_programs)
{
    struct test_log_result *script;

    add("t", TEST_LOG_OUTCOME_PASSED, NULL);
    script = add("script", TEST_LOG_OUTCOME_PASSED, NULL);
    free(script->suite);
    script->suite = NULL;
    expect_has("\nok 1 - p suite/t\n");
    expect_has("\nok 2 - script\n");
}

Test(harness_tap, writes_a_skip_without_a_reason)
{
    add("t", TEST_LOG_OUTCOME_SKIPPED, NULL);
    expect_has("suite/t # SKIP\n");
}

Test(harness_tap, escapes_hash_and_backslash)
{
    run.program = strdup("p");
    add("a # SKIP \\ b", TEST_LOG_OUTCOME_FAILED, "why");
    add("c", TEST_LOG_OUTCOME_SKIPPED, "issue #7 \\ here");
    expect_has("\nnot ok 1 - suite/a \\# SKIP \\\\ b\n");
    expect_has("\nok 2 - suite/c # SKIP issue \\#7 \\\\ here\n");
}

Test(harness_tap, joins_the_lines_of_a_skip_reason)
{
    add("t", TEST_LOG_OUTCOME_SKIPPED, "one\nok 2 - forged\n  ...\n");
    expect_has("# SKIP one ok 2 - forged   ... \n  ---\n");
    expect_has("\n  message: \"one\\nok 2 - forged\\n  ...\\n\"\n");
}

Test(harness_tap, cannot_be_forged_by_any_bytes)
{
    char bytes[256];
    size_t lines = 0;

    test_seed(5);
    test_random_bytes(bytes, sizeof(bytes) - 1);
    for (size_t i = 0; i < sizeof(bytes) - 1; i++)
        bytes[i] = bytes[i] ? bytes[i] : 1;
    bytes[sizeof(bytes) - 1] = '\0';
    add("t", TEST_LOG_OUTCOME_FAILED, bytes);
    add("u", TEST_LOG_OUTCOME_SKIPPED, bytes);
    for (const char *at = written(); *at; at++)
        lines += *at == '\n';
    cr_expect_eq(lines, 2 + 8 + 7, "%s", written());
}

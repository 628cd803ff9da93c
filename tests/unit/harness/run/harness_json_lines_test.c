/* harness_json_lines_test.c: writes a line for each test when it ends. */
#include "harness/criterion/program/program.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/run/files/writers.h"

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <criterion/redirect.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_output options;

static void begin(void)
{
    test_folder();
    cr_redirect_stderr();
    run.path = strdup(test_path("."));
}

static void end(void)
{
    test_log_jsonl_close(NULL);
    test_log_run_free(&run);
    free(options.reports);
}

TestSuite(harness_json_lines, .init = begin, .fini = end);

static struct test_log_result *add(const char *name,
                                   enum test_log_outcome outcome)
{
    return runs_add_result(&run, "p", name, outcome, NULL);
}

static void add_file(const char *file)
{
    struct test_log_report output = {TEST_LOG_REPORT_JSONL, file, "--report",
                                     false};

    cr_assert_eq(test_log_report_add(&options, output), 0);
}

static void expect_file(const char *name, const char *expected)
{
    cr_expect_str_eq(test_load(test_path(name), NULL), expected);
}

#define LINE(name, outcome)                                                    \
    "{\"schema\":1,\"event\":\"test\",\"program\":\"p\",\"name\":"             \
    "\"suite/" name "\",\"outcome\":\"" outcome                                \
    "\",\"reason\":null,\"file\":null,"                                        \
    "\"line\":0,\"start_ns\":0,\"duration_ns\":0,\"folder\":null,\"tries\":1," \
    "\"flaky\":false}\n"

Test(harness_json_lines, writes_each_line_immediately)
{
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    expect_file("results.jsonl", LINE("a", "passed"));
    test_log_jsonl_result(add("b", TEST_LOG_OUTCOME_CRASHED));
    expect_file("results.jsonl", LINE("a", "passed") LINE("b", "crashed"));
}

Test(harness_json_lines, writes_a_test_again_only_if_its_outcome_changed)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_PASSED);

    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(result);
    test_log_jsonl_result(result);
    result->outcome = TEST_LOG_OUTCOME_CRASHED;
    test_log_jsonl_result(result);
    test_log_jsonl_close(&run);
    expect_file("results.jsonl", LINE("a", "passed") LINE("a", "crashed"));
}

Test(harness_json_lines, writes_a_line_for_each_try)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_FAILED);
    struct test_log_job job = {.result = result};
    char *text;

    test_log_jsonl_open(&run, &options);
    for (size_t i = 0; i < 2; i++) {
        test_log_jsonl_result(result);
        cr_assert_eq(test_log_job_retry(&job), 0);
        test_log_jsonl_result(result);
        result->outcome = TEST_LOG_OUTCOME_FAILED;
        result->folder = strdup(i ? "a.try3" : "a.try2");
    }
    test_log_jsonl_result(result);
    result->outcome = TEST_LOG_OUTCOME_PASSED;
    test_log_jsonl_close(&run);
    text = test_load(test_path("results.jsonl"), NULL);
    cr_expect_not_null(strstr(text, "null,\"tries\":1,\"flaky\":false}\n{"));
    cr_expect_not_null(
        strstr(text, "\"a.try2\",\"tries\":2,\"flaky\":false,\"earlier\":[{"));
    cr_expect_not_null(
        strstr(text, "\"a.try3\",\"tries\":3,\"flaky\":false,\"earlier\":[{"));
    cr_expect_not_null(
        strstr(text, "\"a.try3\",\"tries\":3,\"flaky\":true,\"earlier\":[{"));
}

Test(harness_json_lines, writes_missing_lines_at_the_end)
{
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    add("b", TEST_LOG_OUTCOME_FAILED);
    add("did not run", TEST_LOG_OUTCOME_NONE);
    test_log_jsonl_close(&run);
    expect_file("results.jsonl", LINE("a", "passed") LINE("b", "failed"));
}

Test(harness_json_lines, writes_reasons_on_one_line)
{
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_FAILED);
    char *text;
    cJSON *json;

    result->reason = strdup("one\n\"two\"\377");
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(result);
    text = test_load(test_path("results.jsonl"), NULL);
    cr_expect_eq(strchr(text, '\n'), text + strlen(text) - 1);
    json = cJSON_Parse(text);
    cr_expect_str_eq(cJSON_GetStringValue(cJSON_GetObjectItem(json, "reason")),
                     "one\n\"two\"\357\277\275");
    cJSON_Delete(json);
}

Test(harness_json_lines, truncates_own_files_and_appends_to_a_runs)
{
    test_save(test_path("file"), "old\n", 4);
    add_file(test_path("file"));
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    test_log_jsonl_close(NULL);
    expect_file("file", LINE("a", "passed"));
    run.role = TEST_LOG_ROLE_APART;
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("b", TEST_LOG_OUTCOME_PASSED));
    expect_file("file", LINE("a", "passed") LINE("b", "passed"));
    expect_file("results.jsonl", LINE("a", "passed") LINE("b", "passed"));
}

Test(harness_json_lines, writes_other_files_if_one_cannot_be_opened)
{
    add_file("/nowhere/at/all");
    add_file(test_path("file"));
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    expect_file("file", LINE("a", "passed"));
    expect_file("results.jsonl", LINE("a", "passed"));
}

Test(harness_json_lines, writes_other_files_if_one_disk_is_full)
{
    if (access("/dev/full", W_OK))
        cr_skip_test("no /dev/full");
    add_file("/dev/full");
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    test_log_jsonl_result(add("b", TEST_LOG_OUTCOME_PASSED));
    expect_file("results.jsonl", LINE("a", "passed") LINE("b", "passed"));
}

/* The reader went away, as in `... | head -1`. */
Test(harness_json_lines, survives_a_reader_that_is_gone)
{
    char path[64];
    int ends[2];

    cr_assert_eq(pipe(ends), 0);
    snprintf(path, sizeof(path), "/dev/fd/%d", ends[1]);
    add_file(path);
    test_log_jsonl_open(&run, &options);
    close(ends[0]);
    test_log_stdio_outlive();
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    test_log_jsonl_result(add("b", TEST_LOG_OUTCOME_PASSED));
    expect_file("results.jsonl", LINE("a", "passed") LINE("b", "passed"));
    close(ends[1]);
}

Test(harness_json_lines, writes_files_without_a_folder)
{
    free(run.path);
    run.path = NULL;
    add_file(test_path("file"));
    test_log_jsonl_open(&run, &options);
    test_log_jsonl_result(add("a", TEST_LOG_OUTCOME_PASSED));
    expect_file("file", LINE("a", "passed"));
}

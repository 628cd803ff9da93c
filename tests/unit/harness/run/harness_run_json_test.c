/* harness_run_json_test.c: writes run.json, which is parsed again. */
#include "harness/run/files/writers.h"
#include "harness/version.h"

#include <stdlib.h>
#include <string.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;

static void begin(void)
{
    test_folder();
    run.path = strdup(test_path(""));
    run.start = trace_anchor_now();
    run.start.wall = UINT64_C(1234567890123456789);
}

static void end(void)
{
    test_log_run_free(&run);
}

TestSuite(harness_run_json, .init = begin, .fini = end);

static void add(const char *name, enum test_log_outcome outcome,
                const char *reason)
{
    struct test_log_result *result =
        runs_add_result(&run, "program", name, outcome, reason);

    result->duration = UINT64_C(3000000000);
    result->lost[TRACE_LOSS_DISK] = 7;
    result->line = 42;
}

/* Writes the run and parses it; valid until the test ends. */
static const cJSON *written(void)
{
    static cJSON *json;
    char *text;

    cr_assert_eq(test_log_write_run_json(&run, "run.json"), 0);
    text = test_load(test_path("run.json"), NULL);
    cJSON_Delete(json);
    json = cJSON_Parse(text);
    cr_assert_not_null(json, "%s", text);
    return json;
}

static const cJSON *item(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    cr_assert_not_null(found, "no %s", name);
    return found;
}

static const char *text(const cJSON *object, const char *name)
{
    const char *string = cJSON_GetStringValue(item(object, name));

    return string ? string : "(null)";
}

Test(harness_run_json, writes_the_properties_of_a_run)
{
    const cJSON *json;

    run.command = strdup("./program --filter 'a\"b'");
    run.show = strdup("info");
    run.show_origin = strdup("default");
    run.record = strdup("trace");
    run.record_origin = strdup("TRACE_FILTER");
    json = written();
    cr_expect_eq(item(json, "schema")->valuedouble, 1);
    cr_expect_str_eq(text(json, "command"), "./program --filter 'a\"b'");
    cr_expect_str_eq(text(json, "start"), "2009-02-13T23:31:30.123456Z");
    cr_expect_str_eq(text(item(json, "filters"), "log"), "info");
    cr_expect_str_eq(text(item(json, "filters"), "trace_origin"),
                     "TRACE_FILTER");
    cr_expect_str_eq(text(item(json, "versions"), "testlog"), TEST_LOG_VERSION);
    cr_expect(text(item(json, "host"), "name")[0]);
    cr_expect_eq(cJSON_GetArraySize(item(json, "tests")), 0);
}

Test(harness_run_json, writes_only_variables_that_change_a_run)
{
    static const char *const written_names[] = {"LOG", "CRITERION_X",
                                                "ASAN_OPTIONS"};
    static const char *const others[] = {
        "LOG_TOKEN", "TESTLOG_SESSION", "PASSWORD", "XLOG", "LO", "TRACE_KEY"};
    const cJSON *environment;

    clearenv();
    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++)
        setenv(others[i], "secret", 1);
    for (size_t i = 0; i < sizeof(written_names) / sizeof(*written_names); i++)
        setenv(written_names[i], "a\"b=c", 1);
    setenv("CUDA_VISIBLE_DEVICES", "", 1);
    setenv("CUDA_INJECTION64_PATH", "/usr/lib/libtestlog-gpu.so", 1);
    setenv("OPENCL_LAYERS", "/usr/lib/libtestlog-gpu.so", 1);
    environment = item(written(), "environment");
    cr_expect_eq(cJSON_GetArraySize(environment), 3);
    for (size_t i = 0; i < sizeof(written_names) / sizeof(*written_names); i++)
        cr_expect_str_eq(text(environment, written_names[i]), "a\"b=c");
    cr_expect_str_eq(environment->child->string, "ASAN_OPTIONS");
}

Test(harness_run_json, writes_how_long_the_run_took)
{
    run.start.monotonic -= UINT64_C(5000000000);
    cr_expect_geq(item(written(), "duration_ns")->valuedouble, 5e9);
}

Test(harness_run_json, writes_every_test_that_ran)
{
    const cJSON *json, *test;

    add("a", TEST_LOG_OUTCOME_PASSED, NULL);
    add("b", TEST_LOG_OUTCOME_NONE, NULL);
    add("c[07]", TEST_LOG_OUTCOME_TIMEOUT, "after 3 s");
    add("d", TEST_LOG_OUTCOME_SKIPPED, NULL);
    json = written();
    cr_expect_eq(cJSON_GetArraySize(item(json, "tests")), 3);
    cr_expect_eq(item(json, "passed")->valuedouble, 1);
    cr_expect_eq(item(json, "failed")->valuedouble, 1);
    cr_expect_eq(item(json, "skipped")->valuedouble, 1);
    test = cJSON_GetArrayItem(item(json, "tests"), 1);
    cr_expect_str_eq(text(test, "name"), "suite/c[07]");
    cr_expect_str_eq(text(test, "program"), "program");
    cr_expect_str_eq(text(test, "outcome"), "timeout");
    cr_expect_str_eq(text(test, "reason"), "after 3 s");
    cr_expect_eq(item(test, "line")->valuedouble, 42);
    cr_expect_eq(item(test, "duration_ns")->valuedouble, 3e9);
    cr_expect_eq(item(test, "dropped")->valuedouble, 7);
    cr_expect_eq(item(item(test, "lost"), "disk")->valuedouble, 7);
    cr_expect_eq(cJSON_GetArraySize(item(test, "lost")), 1);
    cr_expect(cJSON_IsNull(item(test, "file")));
}

Test(harness_run_json, writes_any_bytes_as_a_string)
{
    add("a", TEST_LOG_OUTCOME_FAILED, "q\"b\\n\n\t\001 \377 \342\202\254");
    cr_expect_str_eq(
        text(cJSON_GetArrayItem(item(written(), "tests"), 0), "reason"),
        "q\"b\\n\n\t\001 \357\277\275 \342\202\254");
}

Test(harness_run_json, writes_random_reasons_as_json)
{
    char reason[300];

    test_seed(11);
    for (int i = 0; i < 100; i++) {
        test_random_bytes(reason, sizeof(reason) - 1);
        reason[sizeof(reason) - 1] = '\0';
        add("a", TEST_LOG_OUTCOME_FAILED, reason);
    }
    cr_expect_eq(cJSON_GetArraySize(item(written(), "tests")), 100);
}

Test(harness_run_json, writes_directives_that_matched_nothing)
{
    const cJSON *unmatched;

    run.unmatched = calloc(2, sizeof(*run.unmatched));
    run.unmatched[run.unmatched_count++] = strdup("LOG: a=debug");
    run.unmatched[run.unmatched_count++] = strdup("TRACE_FILTER: b");
    unmatched = item(item(written(), "filters"), "unseen");
    cr_assert_eq(cJSON_GetArraySize(unmatched), 2);
    cr_expect_str_eq(cJSON_GetArrayItem(unmatched, 1)->valuestring,
                     "TRACE_FILTER: b");
}

Test(harness_run_json, fails_without_the_folder)
{
    free(run.path);
    run.path = strdup(test_path("nowhere"));
    cr_expect_eq(test_log_write_run_json(&run, "run.json"), -1);
}

/* harness_test_files_test.c: renders a test's files from its recording. */
#include "harness/machine/notice.h"
#include "harness/run/files/writers.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>

#include "tests/support/runs.h"
#include "tests/support/support.h"

static struct test_log_run run;
static const struct log_style style = {.time = LOG_TIME_NONE};
static char *printed;
static size_t printed_size;

static void begin(void)
{
    char path[PATH_MAX];

    test_folder();
    snprintf(path, sizeof(path), "%s", test_path(""));
    run.path = strdup(path);
    run.record = strdup("trace");
    test_log_out = open_memstream(&printed, &printed_size);
}

static void end(void)
{
    fclose(test_log_out);
    free(printed);
    test_log_run_free(&run);
}

TestSuite(harness_test_files, .init = begin, .fini = end);

/* Adds a result with the folder of this test. */
static struct test_log_result *add(const char *name, const char *filter)
{
    struct test_log_result *result =
        runs_add_result(&run, "program", name, TEST_LOG_OUTCOME_PASSED, NULL);

    result->filter = strdup(filter);
    result->folder = strdup(".");
    return result;
}

static const char *load(const char *name)
{
    return test_load(test_path(name), NULL);
}

static const char *words(void)
{
    fflush(test_log_out);
    return printed ? printed : "";
}

static struct trace_site span = TEST_SITE(SPAN, INFO, "span", "t", NULL, 0);
static struct trace_site info = TEST_SITE(EVENT, INFO, "info", "t", NULL, 0);
static struct trace_site debug = TEST_SITE(EVENT, DEBUG, "fine", "t", NULL, 0);

static void record(void)
{
    struct trace_span_ref opened;

    span.id = info.id = debug.id = 0;
    test_record();
    opened = trace_span_begin_(&span, 0, NULL);
    trace_event_(&info, 0, NULL);
    trace_event_(&debug, 0, NULL);
    trace_span_end(opened);
    test_read();
}

Test(harness_test_files, writes_the_lines_that_the_filter_shows)
{
    record();
    test_log_render(&run, add("a", "info"), &style, false);
    cr_expect_str_eq(load("log.txt"), " INFO span: t: info\n");
    test_log_render(&run, add("b", "debug"), &style, false);
    cr_expect_str_eq(load("log.txt"),
                     " INFO span: t: info\nDEBUG span: t: fine\n");
    test_log_render(&run, add("c", "off"), &style, false);
    cr_expect_str_eq(load("log.txt"), "");
    cr_expect_str_eq(words(), "");
}

Test(harness_test_files, writes_neither_colors_nor_names)
{
    struct log_style loud = {
        .time = LOG_TIME_NONE, .color = true, .test = "suite/a"};

    record();
    test_log_render(&run, add("a", "info"), &loud, false);
    cr_expect_str_eq(load("log.txt"), " INFO span: t: info\n");
}

Test(harness_test_files, writes_everything_to_the_trace)
{
    cJSON *json;

    record();
    test_log_render(&run, add("a", "off"), &style, false);
    json = cJSON_Parse(load("trace.json"));
    cr_assert_not_null(json);
    cr_expect_not_null(strstr(load("trace.json"), "\"fine\""));
    cr_expect_str_eq(
        cJSON_GetObjectItem(cJSON_GetObjectItem(json, "otherData"), "test")
            ->valuestring,
        "suite/a");
    cJSON_Delete(json);
}

Test(harness_test_files, reports_a_missing_recording_once)
{
    test_log_render(&run, add("a", "info"), &style, false);
    test_log_render(&run, add("b", "info"), &style, false);
    cr_expect_eq(strchr(words(), '\n'), words() + strlen(words()) - 1, "%s",
                 words());
    cr_expect_not_null(strstr(words(), "suite/a has no recording"), "%s",
                       words());
    cr_expect(access(test_path("log.txt"), F_OK));
}

Test(harness_test_files, keeps_the_result_despite_a_corrupt_recording)
{
    struct test_log_result *result = add("a", "info");

    test_save(test_path("recording"), "nothing to read", 15);
    test_log_render(&run, result, &style, false);
    cr_expect_eq(result->outcome, TEST_LOG_OUTCOME_PASSED);
    cr_expect_not_null(strstr(words(), "suite/a has no recording: it is "
                                       "damaged (others may lack one, too); "),
                       "%s", words());
}

Test(harness_test_files, writes_no_files_without_a_folder)
{
    struct test_log_result *result = add("a", "info");

    free(result->folder);
    result->folder = NULL;
    test_log_render(&run, result, &style, false);
    cr_expect_str_eq(words(), "");
}

Test(harness_test_files, counts_and_reports_lost_records)
{
    struct test_log_result *result = add("a", "info");

    info.id = 0;
    test_record_limit(TRACE_LIMIT_LEAST);
    for (int i = 0; i < 100000; i++)
        trace_event_(&info, 0, NULL);
    test_read();
    test_log_render(&run, result, &style, false);
    cr_expect_gt(result->lost[TRACE_LOSS_LIMIT], 0);
    cr_expect_not_null(
        strstr(words(),
               "records were lost after TRACE_LIMIT was reached; raise "
               "--trace-limit"),
        "%s", words());
    cr_expect_not_null(strstr(load("trace.json"), "\"lost\":\""));
}

Test(harness_test_files, writes_a_track_for_each_test_of_a_run)
{
    const char *text;
    cJSON *json;

    record();
    add("a", "info");
    add("b", "info")->began = 7000;
    free(add("without files", "info")->folder);
    run.results[2].folder = NULL;
    cr_assert_eq(test_log_write_trace(&run, "all.json"), 0);
    text = load("all.json");
    json = cJSON_Parse(text);
    cr_expect_not_null(json);
    cr_expect_not_null(strstr(text, "\"program suite/a\""));
    cr_expect_not_null(strstr(text, "\"program suite/b\""));
    cr_expect_not_null(strstr(text, "\"worker 1\""));
    cr_expect_not_null(strstr(text, "\"ts\":7.000,"));
    cr_expect_null(strstr(text, "without files"));
    cJSON_Delete(json);
}

Test(harness_test_files, writes_an_empty_trace_as_json)
{
    cJSON *json;

    cr_assert_eq(test_log_write_trace(&run, "all.json"), 0);
    json = cJSON_Parse(load("all.json"));
    cr_expect_not_null(json);
    cJSON_Delete(json);
}

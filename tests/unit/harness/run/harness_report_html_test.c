/* harness_report_html_test.c: report.html of a run, and how it compares with
 * earlier ones. */
#include "harness/run/page/report_html.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "tests/support/page.h"
#include "tests/support/runs.h"
#include "tests/support/support.h"

#define NOW "runs/2026-11-21T02-08-30.000009"

static struct test_log_run run;
static char printed[4096];

static void begin(void)
{
    test_folder();
    test_log_out = fmemopen(printed, sizeof(printed), "w");
    test_log_make_folders(test_path(NOW "/tests"));
    run.path = strdup(test_path(NOW));
}

static void end(void)
{
    test_log_run_free(&run);
    fclose(test_log_out);
}

TestSuite(harness_report_html, .init = begin, .fini = end, .timeout = 120);

static struct test_log_result *add(const char *name,
                                   enum test_log_outcome outcome,
                                   uint64_t duration)
{
    struct test_log_result *result =
        runs_add_result(&run, "p", name, outcome, NULL);

    result->duration = duration;
    return result;
}

static struct trace_site site = TEST_SITE(EVENT, INFO, NULL, "m", NULL, 0);

/* Begins the recording of a test. */
static void begin_recording(struct test_log_result *result)
{
    char path[PATH_MAX];
    struct trace_options options = {.limit = TRACE_LIMIT_LEAST * 64};

    cr_assert_geq(asprintf(&result->folder, "tests/p/suite.%s", result->test),
                  0);
    snprintf(path, sizeof(path), NOW "/%s", result->folder);
    test_log_make_folders(test_path(path));
    snprintf(path, sizeof(path), NOW "/%s/recording", result->folder);
    site.id = 0;
    cr_assert_eq(trace_open(test_path(path), &options), 0);
}

static void record(struct test_log_result *result, unsigned lines)
{
    begin_recording(result);
    for (unsigned i = 0; i < lines; i++)
        trace_log_(&site, "line %u", i);
    trace_close();
}

static const char *page(const struct test_log_page *page)
{
    test_log_page_write(page);
    cr_expect_eq(ftell(test_log_out), 0, "%s", printed);
    return test_load(test_path(NOW "/report.html"), NULL);
}

static const char *page_of_run(void)
{
    if (!page_can_read())
        cr_skip_test("no zlib");
    return page(
        &(struct test_log_page){.run = &run, .rerun = "./p", .debug = "./p"});
}

/* ---- Blocks ---- */

Test(harness_report_html, has_a_block_for_the_run_and_each_recording)
{
    const char *html;
    struct page_block block, last;

    add("no_recording", TEST_LOG_OUTCOME_SKIPPED, 0);
    record(add("fails", TEST_LOG_OUTCOME_FAILED, 7), 3);
    run.results[1].began = 50;
    html = page_of_run();
    block = page_block(html, "run");
    cr_expect_eq(page_rows(&block, "tests"), 2);
    cr_expect_str_eq(page_text(&block, "tests", "name", 1), "suite/fails");
    cr_expect_str_eq(page_text(&block, "tests", "outcome", 1), "failed");
    cr_expect_str_eq(page_text(&block, "tests", "rerun", 1),
                     "./p --filter suite/fails");
    cr_expect_str_eq(page_text(&block, "tests", "debug", 1),
                     "./p --filter suite/fails --debug-failed");
    cr_expect_str_eq(page_text(&block, "tests", "debug", 0), "");
    cr_expect_eq(page_number(&block, "tests", "start", 0), 0);
    cr_expect_eq(page_number(&block, "tests", "start", 1), 51);
    cr_expect_not(page_has(html, "t0"));
    block = page_block(html, "t1");
    cr_expect_eq(page_rows(&block, "lines"), 3);
    last = page_block(html, "end");
    cr_assert_eq(page_rows(&last, "counts"), 1);
    cr_expect_eq(page_number(&last, "counts", "lines", 0), 3);
    cr_expect_eq(page_rows(&last, "left_out"), 0);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(last.json, "whole")));
}

Test(harness_report_html,
     the_data_is_behind_the_scripts_and_failures_come_first)
{
    const char *html, *script, *data;

    record(add("passes", TEST_LOG_OUTCOME_PASSED, 1), 1);
    record(add("fails", TEST_LOG_OUTCOME_CRASHED, 1), 1);
    html = page_of_run();
    script = strstr(html, "<script>");
    data = strstr(html, "id=\"run\"");
    cr_assert(script && data);
    cr_expect_lt(script, data);
    cr_expect_lt(data, strstr(html, "id=\"t1\""));
    cr_expect_lt(strstr(html, "id=\"t1\""), strstr(html, "id=\"t0\""));
    cr_expect_not_null(strstr(html, "</script>\n</body></html>\n"));
    cr_expect_null(strstr(html, "unsafe-inline"));
}

Test(harness_report_html, earlier_tries_have_blocks)
{
    struct test_log_result *result = add("flaky", TEST_LOG_OUTCOME_PASSED, 1);
    struct page_block block;
    const char *html;

    record(result, 2);
    result->earlier = calloc(1, sizeof(*result->earlier));
    result->earlier_count = result->earlier_capacity = 1;
    result->earlier[0] =
        (struct test_log_try){.outcome = TEST_LOG_OUTCOME_FAILED,
                              .reason = strdup("first"),
                              .folder = strdup(result->folder)};
    html = page_of_run();
    cr_expect(page_has(html, "t0"));
    cr_expect(page_has(html, "t0.1"));
    block = page_block(html, "run");
    cr_expect_eq(page_number(&block, "tests", "tries", 0), 2);
    cr_expect_str_eq(page_text(&block, "tries", "reason", 0), "first");
}

Test(harness_report_html, tests_have_the_workers_of_the_trace)
{
    static const struct {
        uint64_t began, duration;
        unsigned worker;
    } tests[] = {{10, 90, 1}, {20, 10, 2}, {40, 5, 2},
                 {0, 0, 0},   {100, 9, 1}, {31, 100, 3}};
    struct test_log_try *earlier = calloc(1, sizeof(*earlier));
    struct page_block block;

    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        char name[8];

        snprintf(name, sizeof(name), "t%zu", i);
        add(name, TEST_LOG_OUTCOME_PASSED, tests[i].duration)->began =
            tests[i].began;
    }
    *earlier = (struct test_log_try){
        .outcome = TEST_LOG_OUTCOME_FAILED, .began = 30, .duration = 9};
    run.results[2].earlier = earlier;
    run.results[2].earlier_count = run.results[2].earlier_capacity = 1;
    block = page_block(page_of_run(), "run");
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
        cr_expect_eq(page_number(&block, "tests", "worker", i), tests[i].worker,
                     "test %zu", i);
    cr_expect_eq(page_number(&block, "tries", "worker", 0), 2);
}

/* ---- What is left out ---- */

static const char *why(const char *html, const char **command)
{
    struct page_block block = page_block(html, "end");

    cr_assert_eq(page_rows(&block, "left_out"), 1);
    *command = page_text(&block, "left_out", "command", 0);
    return page_text(&block, "left_out", "why", 0);
}

static bool is_whole(const struct test_log_result *result, void *context)
{
    return !strcmp(result->test, context);
}

Test(harness_report_html, large_passing_tests_are_included)
{
    record(add("large", TEST_LOG_OUTCOME_PASSED, 1), 50000);
    cr_expect(page_has(page_of_run(), "t0"));
}

/* The limit leaves room for the block, but reading the recording would take too
 * long. */
Test(harness_report_html, too_large_tests_are_named_with_their_command)
{
    struct page_block block;
    const char *html, *command;
    char name[] = "large";

    record(add(name, TEST_LOG_OUTCOME_PASSED, 1), 50000);
    if (!page_can_read())
        cr_skip_test("no zlib");
    html = page(&(struct test_log_page){.run = &run, .passing = 130000});
    cr_expect_not(page_has(html, "t0"));
    cr_expect_str_eq(why(html, &command), "large");
    cr_expect_not_null(strstr(command, "testlog report "));
    cr_expect_not_null(strstr(command, " suite/large"));
    block = page_block(html, "end");
    cr_expect_eq(page_number(&block, "counts", "lines", 0), 50000);
    html = page(&(struct test_log_page){
        .run = &run, .is_whole = is_whole, .context = name});
    cr_expect(page_has(html, "t0"));
}

/* Random lines cannot be compressed. */
static void record_random(struct test_log_result *result)
{
    begin_recording(result);
    for (int i = 0; i < 10000; i++)
        trace_log_(&site, "%x%x%x", test_random(), test_random(),
                   test_random());
    trace_close();
}

/* Each fills about 200 kB, except the small one. */
Test(harness_report_html, the_slowest_passing_tests_fill_their_share)
{
    const char *html, *command;

    record_random(add("fast", TEST_LOG_OUTCOME_PASSED, 1));
    record_random(add("slow", TEST_LOG_OUTCOME_PASSED, 9));
    record_random(add("slower", TEST_LOG_OUTCOME_PASSED, 10));
    record(add("small", TEST_LOG_OUTCOME_PASSED, 0), 1);
    record_random(add("fails", TEST_LOG_OUTCOME_FAILED, 0));
    if (!page_can_read())
        cr_skip_test("no zlib");
    html = page(&(struct test_log_page){.run = &run, .passing = 500000});
    cr_expect(page_has(html, "t1") && page_has(html, "t2"));
    cr_expect(page_has(html, "t3") && page_has(html, "t4"));
    cr_expect(strstr(html, "id=\"t4\"") < strstr(html, "id=\"t2\""));
    cr_expect(strstr(html, "id=\"t2\"") < strstr(html, "id=\"t1\""));
    cr_expect_not(page_has(html, "t0"));
    cr_expect_str_eq(why(html, &command), "passing");
    cr_expect_not_null(strstr(command, " suite/fast"));
    run.render_all = true;
    cr_expect(page_has(page_of_run(), "t0"));
}

/* Of its tries, only the last one passed. */
Test(harness_report_html, failed_tries_are_not_of_the_share)
{
    struct test_log_result *result = add("flaky", TEST_LOG_OUTCOME_PASSED, 1);
    const char *html, *command;

    record_random(result);
    result->earlier = calloc(1, sizeof(*result->earlier));
    *result->earlier = (struct test_log_try){.outcome = TEST_LOG_OUTCOME_FAILED,
                                             .folder = strdup(result->folder)};
    result->earlier_count = result->earlier_capacity = 1;
    if (!page_can_read())
        cr_skip_test("no zlib");
    html = page(&(struct test_log_page){.run = &run, .passing = 1000});
    cr_expect(page_has(html, "t0.1"));
    cr_expect_not(page_has(html, "t0"));
    cr_expect_str_eq(why(html, &command), "passing");
}

Test(harness_report_html, passing_tests_fill_the_file)
{
    struct page_block block;
    const char *html, *command;

    record_random(add("passes", TEST_LOG_OUTCOME_PASSED, 1));
    record_random(add("fails", TEST_LOG_OUTCOME_FAILED, 1));
    if (!page_can_read())
        cr_skip_test("no zlib");
    html = page(&(struct test_log_page){
        .run = &run, .most = (1 << 20) + test_log_page_html_size + 300000});
    cr_expect(page_has(html, "t1"));
    cr_expect_not(page_has(html, "t0"));
    cr_expect_str_eq(why(html, &command), "size");
    cr_expect_not_null(strstr(command, " suite/passes"));
    block = page_block(html, "end");
    cr_expect_eq(page_rows(&block, "counts"), 2);
}

Test(harness_report_html, damaged_and_missing_recordings_are_named)
{
    char path[PATH_MAX];
    const char *command;
    struct test_log_result *result = add("a", TEST_LOG_OUTCOME_PASSED, 1);

    record(result, 1);
    snprintf(path, sizeof(path), NOW "/%s/recording", result->folder);
    test_save(test_path(path), "text", 4);
    cr_expect_str_eq(why(page_of_run(), &command), "damaged");
    cr_expect_str_eq(command, "");
    remove(test_path(path));
    cr_expect_str_eq(why(page_of_run(), &command), "missing");
}

Test(harness_report_html, a_failure_to_write_is_one_line)
{
    add("a", TEST_LOG_OUTCOME_PASSED, 1);
    mkdir(test_path(NOW "/report.html"), 0777);
    test_log_page_write(&(struct test_log_page){.run = &run});
    fflush(test_log_out);
    cr_expect_not_null(strstr(
        printed, "testlog: cannot write report.html: Is a directory; results "
                 "are not affected\n"));
    cr_expect_null(strchr(strchr(printed, '\n') + 1, '\n'));
}

Test(harness_report_html, survives_missing_memory)
{
    size_t allocations = 1;
    FILE *null = fopen("/dev/null", "w");

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns malloc");
    record(add("fails", TEST_LOG_OUTCOME_FAILED, 1), 3);
    record(add("passes", TEST_LOG_OUTCOME_PASSED, 1), 3);
    for (size_t nth = 1; allocations >= nth; nth += 1 + nth / 50) {
        test_fail_memory(nth, nth % 2);
        test_log_page_put(&(struct test_log_page){.run = &run,
                                                  .rerun = "./p",
                                                  .debug = "./p"},
                          null);
        allocations = test_fail_memory(0, true);
    }
    fclose(null);
}

/* ---- Earlier runs ---- */

/* Makes an earlier run with lines of results.tsv. */
static void earlier(int number, const char *lines)
{
    char name[128];

    snprintf(name, sizeof(name), "runs/2026-11-21T02-08-30.%06d/tests", number);
    test_log_make_folders(test_path(name));
    snprintf(name, sizeof(name), "runs/2026-11-21T02-08-30.%06d/results.tsv",
             number);
    test_save(test_path(name), lines, strlen(lines));
    snprintf(name, sizeof(name), "runs/2026-11-21T02-08-30.%06d/run.json",
             number);
    test_save(test_path(name), "{\"schema\":1}", 12);
}

static const char *compared(void)
{
    struct trace_text text = {0};

    test_log_compare(&text, &run);
    return test_keep(text.data);
}

Test(harness_report_html, compares_each_test_with_the_last_run_that_has_it)
{
    earlier(1, "passed\t1000\tp\tsuite/breaks\nfailed\t1\tp\tsuite/mends\n"
               "passed\t100000000\tp\tsuite/slows\n");
    earlier(2, "failed\t1000\tp\tsuite/mends\n"
               "skipped\t0\tp\tsuite/breaks\nbad line\n\npassed\t1\tq\tx\n");
    earlier(10, "passed\t1\tp\tsuite/mends\n"); /* a later run */
    add("breaks", TEST_LOG_OUTCOME_TIMEOUT, 1);
    add("mends", TEST_LOG_OUTCOME_PASSED, 1);
    add("slows", TEST_LOG_OUTCOME_PASSED, 250000000);
    add("is_new", TEST_LOG_OUTCOME_PASSED, 1);
    cr_expect_str_eq(compared(),
                     "\"previous\":{\"run\":\"2026-11-21T02-08-30.000002\","
                     "\"newly_failing\":[0],\"newly_passing\":[1],\"new\":[3],"
                     "\"slower\":[[2,100000000,250000000]],\"gone\":[]},");
}

/* It counts as skipped. */
Test(harness_report_html, a_known_failure_is_not_a_new_one)
{
    earlier(1, "passed\t1\tp\tsuite/old\n");
    add("old", TEST_LOG_OUTCOME_FAILED, 1);
    run.results[0].known = strdup("the server is gone");
    add("new", TEST_LOG_OUTCOME_FAILED, 1);
    run.results[1].known = strdup("the server is gone");
    cr_expect_not_null(strstr(compared(), "\"newly_failing\":[],"
                                          "\"newly_passing\":[],\"new\":[],"),
                       "%s", compared());
}

static void number(int place, const char *order)
{
    char name[128];

    snprintf(name, sizeof(name), "runs/2026-11-21T02-08-30.%06d/order", place);
    test_save(test_path(name), order, strlen(order));
}

Test(harness_report_html, compares_with_runs_of_lower_numbers)
{
    earlier(1, "failed\t1\tp\tsuite/a\n");
    earlier(8, "failed\t1\tp\tsuite/a\n");
    earlier(10, "passed\t1\tp\tsuite/a\n");
    number(8, "1\n");
    number(10, "2\n");
    number(9, "3\n");
    number(1, "4\n");
    add("a", TEST_LOG_OUTCOME_FAILED, 1);
    cr_expect_not_null(strstr(compared(), "\"run\":\"2026-11-21T02-08-30."
                                          "000010\",\"newly_failing\":[0]"),
                       "%s", compared());
}

Test(harness_report_html, names_tests_that_the_last_run_had)
{
    earlier(1, "passed\t1\tp\tsuite/older\npassed\t1\tp\tsuite/stays\n");
    earlier(2, "passed\t1\tp\tsuite/a\\tb\nskipped\t0\tp\tsuite/c\n"
               "passed\t1\tother\tsuite/d\npassed\t1\tp\tsuite/stays\n"
               "passed\t1\tdied\tsuite/e\n");
    add("stays", TEST_LOG_OUTCOME_PASSED, 1);
    add("was_not_run", TEST_LOG_OUTCOME_NONE, 0);
    free(add("", TEST_LOG_OUTCOME_CRASHED, 1)->suite);
    run.results[2].suite = NULL;
    free(run.results[2].program);
    run.results[2].program = strdup("died");
    cr_expect_not_null(strstr(compared(), "\"gone\":[]"), "%s", compared());
    run.whole = true;
    cr_expect_not_null(
        strstr(compared(), "\"gone\":[\"suite/a\\\\tb\",\"suite/c\"]"), "%s",
        compared());
    run.interrupted = 2;
    cr_expect_not_null(strstr(compared(), "\"gone\":[]"));
}

Test(harness_report_html, a_first_run_is_compared_with_none)
{
    earlier(1, "passed\t1000\tanother\tsuite/a\n");
    add("a", TEST_LOG_OUTCOME_PASSED, 1);
    cr_expect_str_eq(compared(), "\"previous\":null,");
}

Test(harness_report_html, a_little_slower_is_noise)
{
    earlier(1, "passed\t1000\tp\tsuite/a\npassed\t1000000000\tp\tsuite/b\n");
    add("a", TEST_LOG_OUTCOME_PASSED, 99000000);
    add("b", TEST_LOG_OUTCOME_PASSED, 1400000000);
    cr_expect_not_null(strstr(compared(), "\"slower\":[]"));
}

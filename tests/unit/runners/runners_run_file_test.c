/* runners_run_file_test.c: reads run.json, whole or damaged, test by test. */
#include "runners/runs/run_json.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>

#include "harness/run/files/writers.h"
#include "harness/run/model/model.h"
#include "tests/support/support.h"

static const char text[] =
    "{\"schema\":1,\n\"command\":\"./a\",\n\"host\":{\"name\":\"n\"},\n"
    "\"shard\":{\"index\":1,\"total\":3,\"by\":\"hash\"},\n"
    "\"plan\":[{\"program\":\"a\",\"counts\":[1,2,3]}],\n\"tests\":[\n"
    "{\"program\":\"a\",\"name\":\"s/one\",\"outcome\":\"passed\"},\n"
    "{\"program\":\"a\",\"name\":\"s/two\",\"outcome\":\"failed\","
    "\"earlier\":[{\"outcome\":\"crashed\",\"folder\":\"tests/a/s.two\"}]}\n"
    "]}\n";

static struct run_file *open_text(const char *bytes, size_t size)
{
    struct test_log_run run = {.path = (char *)test_path("")};

    test_save(test_path("run.json"), bytes, size);
    return runners_run_file_open(&run, "run.json");
}

/* Reads all there is; returns how many tests there are. */
static size_t read_all(const char *bytes, size_t size, bool *whole)
{
    struct run_file *file = open_text(bytes, size);
    size_t count = 0;
    cJSON *test;

    *whole = false;
    if (!file)
        return 0;
    while ((test = runners_run_file_next(file))) {
        count++;
        cJSON_Delete(test);
    }
    *whole = runners_run_file_whole(file);
    runners_run_file_close(file);
    return count;
}

TestSuite(runners_run_file, .init = test_folder);

Test(runners_run_file, reads_the_head_before_the_tests)
{
    struct run_file *file = open_text(text, strlen(text));
    struct test_log_shard shard;

    cr_assert_not_null(file);
    cr_expect_str_eq(runners_json_text(runners_run_file_head(file), "command"),
                     "./a");
    cr_expect_str_eq(runners_run_file_plan(file),
                     "[{\"program\":\"a\",\"counts\":[1,2,3]}]");
    shard = runners_json_shard(runners_run_file_head(file));
    cr_expect_eq(shard.index, 1);
    cr_expect_eq(shard.total, 3);
    cr_expect_eq(shard.way, TEST_LOG_SHARD_HASH);
    runners_run_file_close(file);
}

Test(runners_run_file, adds_all_tests)
{
    struct test_log_run run = {0};

    cr_assert_eq(runners_run_file_add(open_text(text, strlen(text)), &run), 0);
    cr_assert_eq(run.count, 2);
    cr_expect_str_eq(test_log_name(&run.results[0]), "s/one");
    cr_expect_eq(run.results[1].outcome, TEST_LOG_OUTCOME_FAILED);
    cr_expect_eq(run.results[1].earlier_count, 1);
    test_log_run_free(&run);
}

Test(runners_run_file, parses_other_layouts_as_a_whole)
{
    static const char *const others[] = {
        "{\"tests\":[{\"name\":\"a\"},{\"name\":\"b\"}]}",
        "{\n  \"tests\": [\n    { \"name\": \"a\" },\n"
        "    { \"name\": \"b\" }\n  ],\n  \"schema\": 1\n}\n",
    };
    bool whole;

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        cr_expect_eq(read_all(others[i], strlen(others[i]), &whole), 2);
        cr_expect(whole);
    }
}

Test(runners_run_file, refuses_files_without_tests)
{
    static const char *const others[] = {
        "", "{}", "[]", "{\"tests\":1}", "\"tests\":[\n", "nonsense\n"};

    for (size_t i = 0; i < sizeof(others) / sizeof(*others); i++) {
        errno = 0;
        cr_expect_null(open_text(others[i], strlen(others[i])), "%s",
                       others[i]);
        cr_expect_eq(errno, EBADMSG, "%s", others[i]);
    }
}

Test(runners_run_file, refuses_a_file_of_a_tebibyte)
{
    struct test_log_run run = {.path = (char *)test_path("")};

    test_save(test_path("run.json"), text, strlen(text));
    cr_assert_eq(truncate(test_path("run.json"), (off_t)1 << 40), 0);
    cr_expect_null(runners_run_file_open(&run, "run.json"));
}

Test(runners_run_file, tells_where_a_file_was_cut_off)
{
    bool whole;

    for (size_t size = 0; size < strlen(text); size++) {
        size_t count = read_all(text, size, &whole);

        cr_expect_not(whole, "%zu", size);
        cr_expect_leq(count, 2);
    }
    cr_expect_eq(read_all(text, strlen(text), &whole), 2);
    cr_expect(whole);
}

/* AddressSanitizer finds what this cannot. */
Test(runners_run_file, survives_random_changes)
{
    size_t size = strlen(text);
    bool whole;

    for (int i = 0; i < 1000; i++) {
        struct test_log_run run = {0};
        char bytes[sizeof(text)];
        struct run_file *file;

        memcpy(bytes, text, size);
        for (uint64_t j = test_below(4) + 1; j; j--)
            bytes[test_below(size)] = (char)test_random();
        cr_expect_leq(read_all(bytes, size, &whole), 4);
        file = open_text(bytes, size);
        if (file) {
            runners_json_add_sources(&run, runners_run_file_head(file));
            runners_run_file_add(file, &run);
        }
        test_log_run_free(&run);
    }
}

/* ---- Reading what was written ---- */

static void fill(struct test_log_run *run)
{
    struct test_log_result *result = test_log_run_add(run);

    *result = (struct test_log_result){
        .program = strdup("p"),
        .suite = strdup("s"),
        .test = strdup("a/b"),
        .outcome = TEST_LOG_OUTCOME_FAILED,
        .reason = strdup("a.c:3: \"x\""),
        .assertions = strdup("a.c:3\n"),
        .file = strdup("a.c"),
        .line = 3,
        .began = 4,
        .duration = 5,
        .folder = strdup("tests/p/s.a"),
        .source = 1,
        .unrendered = true,
        .unjudged = 6,
        .lost = {[TRACE_LOSS_DISK] = 7},
        .earlier = calloc(1, sizeof(*result->earlier)),
        .earlier_count = 1,
    };
    result->earlier[0] =
        (struct test_log_try){.outcome = TEST_LOG_OUTCOME_CRASHED,
                              .reason = strdup("SIGSEGV"),
                              .folder = strdup("tests/p/s.a.try1"),
                              .began = 8,
                              .duration = 9,
                              .source = 1};
    run->sources = calloc(1, sizeof(*run->sources));
    run->source_count = 1;
    run->sources[0] = (struct test_log_merged_run){
        .run = strdup("r"),
        .host = strdup("h"),
        .testlog = strdup("1.0"),
        .end = TEST_LOG_END_KILLED,
        .shard = {.index = 1, .total = 2, .way = TEST_LOG_SHARD_HASH},
        .start = UINT64_C(1234567890123456000),
        .offset = -10,
        .uncertainty = UINT64_MAX,
        .tests = 11};
}

/* Expects an array to be the same in two files. */
static void expect_same(const struct trace_text *one,
                        const struct trace_text *other, const char *array)
{
    const char *a = strstr(one->data, array), *b = strstr(other->data, array);
    int size;

    cr_assert_not_null(a, "%s", one->data);
    cr_assert_not_null(b, "%s", other->data);
    size = (int)(strstr(a, "\n]") - a);
    cr_expect_arr_eq(a, b, (size_t)size, "%.*s\n%.*s", size, a, size, b);
}

Test(runners_run_file, reads_every_member_that_is_written)
{
    struct test_log_run before = {.path = NULL}, after = {.path = NULL};
    struct trace_text written = {0}, again = {0};
    struct run_file *file;

    fill(&before);
    test_log_run_json(&written, &before);
    file = open_text(written.data, written.size);
    cr_assert_not_null(file);
    runners_json_add_sources(&after, runners_run_file_head(file));
    cr_assert_eq(runners_run_file_add(file, &after), 0);
    test_log_run_json(&again, &after);
    expect_same(&written, &again, "\"tests\":[");
    expect_same(&written, &again, "\"merged\":[");
    trace_text_free(&written);
    trace_text_free(&again);
    test_log_run_free(&before);
    test_log_run_free(&after);
}

/* e2e_view_trend_test.c: testlog view: a test over all runs, and the search in
 * all runs. */
#include "tests/support/support.h"

#include "tests/support/e2e.h"
#include "tests/support/view_server.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

static void begin(void)
{
    e2e_begin();
    server_skip();
}

TestSuite(e2e_view_trend, .init = begin, .fini = server_end, .timeout = 300);

/* Returns the JSON of an answer, which is kept. */
static const cJSON *json_of(const char *target)
{
    static cJSON *json;
    const char *answer = server_get(target), *body;

    server_expect(answer, 200);
    cr_expect(strstr(answer, "Content-Type: application/json\r\n"));
    body = strstr(answer, "\r\n\r\n");
    cJSON_Delete(json);
    json = body ? cJSON_Parse(body + 4) : NULL;
    cr_assert(json, "%.300s", answer);
    return json;
}

static const cJSON *item(const cJSON *object, const char *member, int number)
{
    const cJSON *one =
        cJSON_GetArrayItem(cJSON_GetObjectItem(object, member), number);

    cr_assert(one, "%s has no element %d", member, number);
    return one;
}

static int length(const cJSON *object, const char *member)
{
    return cJSON_GetArraySize(cJSON_GetObjectItem(object, member));
}

static void expect_text(const cJSON *object, const char *member,
                        const char *text)
{
    cr_expect_str_eq(e2e_text(object, member), text, "%s: %s", member,
                     e2e_text(object, member));
}

/* ---- A test over all runs ---- */

#define SMALL_TEST "/api/test?program=small_test&test=small/passes"

/* Runs a test; `variables` change the run. */
static void run_small(const char *variables)
{
    e2e_run("%s TRACE_DIR=runs %s -q --filter small/passes", variables,
            e2e_program("small", E2E_TRACED));
}

Test(e2e_view_trend, shows_when_a_test_began_to_fail)
{
    const cJSON *json, *run, *failure;
    char name[64];

    run_small("");
    run_small("");
    run_small("SMALL=passes CI_COMMIT_SHA=0a1b2c");
    run_small("SMALL=passes");
    e2e_run("TRACE_DIR=runs %s -q --filter unsteady/passes",
            e2e_program("unsteady", E2E_TRACED));
    server_start(NULL);
    json = json_of(SMALL_TEST);
    cr_assert_eq(length(json, "runs"), 4);
    cr_expect_eq(e2e_number(json, "without"), 1);
    cr_expect_eq(e2e_number(json, "unread"), 0);
    run = item(json, "runs", 1);
    snprintf(name, sizeof(name), "%s", e2e_text(run, "name"));
    expect_text(run, "outcome", "failed");
    expect_text(run, "state", "failed");
    expect_text(run, "commit", "0a1b2c");
    cr_expect_neq(e2e_text(run, "host")[0], '\0');
    cr_expect(strstr(e2e_text(run, "reason"), "must_fail"), "%s",
              e2e_text(run, "reason"));
    expect_text(item(json, "runs", 3), "outcome", "passed");
    cr_expect_gt(e2e_number(item(json, "runs", 3), "duration_ns"), 0);
    expect_text(item(json, "changes", 0), "outcome", "failed");
    expect_text(item(json, "changes", 0), "run", name);
    failure = cJSON_GetObjectItem(json, "failure");
    expect_text(failure, "run", e2e_text(item(json, "runs", 0), "name"));
    cr_expect(strstr(e2e_text(failure, "shown"), "WARN outer: "));
    cr_expect(strstr(e2e_text(failure, "hidden"), "TRACE outer: "));
    cr_expect_eq(server_stop(SIGTERM), 0);
}

Test(e2e_view_trend, names_a_flaky_test)
{
    const cJSON *json;

    e2e_run("TRACE_DIR=runs %s -q --retries=1 --filter unsteady/second_try",
            e2e_program("unsteady", E2E_TRACED));
    server_start(NULL);
    json = json_of("/api/test?program=unsteady_test&test=unsteady/second_try");
    expect_text(item(json, "runs", 0), "outcome", "passed");
    cr_expect(
        cJSON_IsTrue(cJSON_GetObjectItem(item(json, "runs", 0), "flaky")));
    cr_expect(cJSON_IsNull(cJSON_GetObjectItem(json, "failure")));
}

/* Writes a run with a result of a test. */
static void make_run(int number, const char *test, int ms)
{
    char run[64], path[128];
    FILE *file;

    snprintf(run, sizeof(run), "runs/2026-11-20T10-00-00.%06d", number);
    snprintf(path, sizeof(path), "%s/results.jsonl", run);
    e2e_run("mkdir -p %s/tests && echo '{}' >%s/run.json", run, run);
    file = fopen(path, "we");
    cr_assert(file);
    fprintf(file,
            "{\"schema\":1,\"event\":\"test\",\"program\":\"p\",\"name\":%s,"
            "\"outcome\":\"passed\",\"duration_ns\":%d000000}\n",
            test, ms);
    fclose(file);
}

Test(e2e_view_trend, shows_when_a_test_became_slower)
{
    const cJSON *change;

    for (int i = 0; i < 10; i++)
        make_run(i, "\"s/t\"", i < 6 ? 12 : 31);
    server_start(NULL);
    change = item(json_of("/api/test?program=p&test=s%2Ft"), "changes", 0);
    expect_text(change, "run", "2026-11-20T10-00-00.000006");
    cr_expect_eq(e2e_number(change, "before_ns"), 12e6);
    cr_expect_eq(e2e_number(change, "after_ns"), 31e6);
}

Test(e2e_view_trend, finds_tests_of_any_name)
{
    static const char *const names[][2] = {
        {"\"s/a b&c=d+e#%\"", "s/a+b%26c%3Dd%2Be%23%25"},
        {"\"s/<b>\\\"\\\\\"", "s/%3Cb%3E%22%5C"},
        {"\"s/\xc3\xbc\xe2\x80\xae\"", "s/%C3%BC%e2%80%ae"},
    };

    for (int i = 0; i < 3; i++)
        make_run(i, names[i][0], 1);
    server_start(NULL);
    for (int i = 0; i < 3; i++) {
        char target[256];
        const cJSON *json;

        snprintf(target, sizeof(target), "/api/test?program=p&test=%s",
                 names[i][1]);
        json = json_of(target);
        cr_expect_eq(length(json, "runs"), 1, "%s", target);
        cr_expect_eq(e2e_number(json, "without"), 2);
    }
}

Test(e2e_view_trend, refuses_other_addresses)
{
    static const struct {
        const char *target;
        int status;
    } cases[] = {
        {"/api/test", 400},
        {"/api/test?program=p", 400},
        {"/api/test?program&test=s/t", 400},
        {"/api/test?program=p&test=", 400},
        {"/api/test?program=p&test=s/%zz", 400},
        {"/api/test?program=p&test=s/t%00", 400},
        {"/api/test?program=p&test=s/t%", 400},
        {"/api/test?program=p&test=s/other", 404},
        {"/api/test?program=../p&test=s/t", 404},
        {"/api/search", 400},
        {"/api/search?run=2026-11-20T10-00-00.000001", 400},
        {"/api/search?run=2026-11-20T10-00-00.000001&text=", 400},
        {"/api/search?run=2026-11-20T10-00-00.999999&text=x", 404},
        {"/api/search?run=..&text=x", 404},
        {"/api/search?run=latest&text=x", 404},
        {"/api/search?run=%2e%2e%2fruns&text=x", 404},
    };

    make_run(1, "\"s/t\"", 1);
    e2e_run("ln -s 2026-11-20T10-00-00.000001 runs/latest");
    server_start(NULL);
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
        cr_expect_eq(server_status(server_get(cases[i].target)),
                     cases[i].status, "%s", cases[i].target);
}

Test(e2e_view_trend, gives_the_page_to_all_and_data_for_the_token)
{
    const char *answer;

    run_small("");
    server_start(NULL);
    answer = server_ask("GET", "/test", "Host: 127.0.0.1:%u\r\n", server_port);
    server_expect(answer, 200);
    cr_expect(strstr(answer, "<title>testlog: a test</title>"));
    server_expect(
        server_ask("GET", SMALL_TEST, "Host: 127.0.0.1:%u\r\n", server_port),
        403);
    server_expect(server_ask("GET", "/api/search?run=x&text=y",
                             "Host: 127.0.0.1:%u\r\n", server_port),
                  403);
}

/* ---- Search ---- */

/* Searches the only run. */
static const cJSON *search(const char *arguments)
{
    char target[256], run[64];

    snprintf(run, sizeof(run), "%s", e2e_run("ls runs | grep ^20")->out);
    run[strcspn(run, "\n")] = '\0';
    snprintf(target, sizeof(target), "/api/search?run=%s&%s", run, arguments);
    return json_of(target);
}

Test(e2e_view_trend, searches_lines_and_names)
{
    const cJSON *json, *test;

    e2e_run("TRACE_DIR=runs %s -q", e2e_program("small", E2E_TRACED));
    server_start(NULL);
    json = search("text=FINEST");
    cr_expect_eq(e2e_number(json, "hits"), 1);
    test = item(json, "tests", 0);
    expect_text(test, "program", "small_test");
    expect_text(test, "name", "small/passes");
    expect_text(test, "outcome", "passed");
    expect_text(item(test, "lines", 0), "text", "finest");
    cr_expect_eq(e2e_number(item(test, "lines", 0), "level"), 5);
    json = search("text=/passes");
    cr_expect_eq(e2e_number(json, "hits"), 2);
    cr_expect_eq(length(item(json, "tests", 0), "lines"), 0);
    json = search("text=size+1&most=2");
    cr_expect_eq(e2e_number(json, "hits"), 2);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(json, "full")));
    cr_expect_eq(e2e_number(search("text=no+such"), "hits"), 0);
}

Test(e2e_view_trend, searches_earlier_tries)
{
    const cJSON *json;

    e2e_run("TRACE_DIR=runs %s -q --retries=1 --filter unsteady/second_try",
            e2e_program("unsteady", E2E_TRACED));
    server_start(NULL);
    json = search("text=too+early");
    cr_assert_eq(length(json, "tests"), 1);
    cr_expect_eq(e2e_number(item(json, "tests", 0), "try"), 1);
    expect_text(item(json, "tests", 0), "outcome", "failed");
    cr_expect_eq(length(search("text=one+more"), "tests"), 2);
}

Test(e2e_view_trend, searches_compressed_recordings_and_not_damaged_ones)
{
    const cJSON *json;

    e2e_run("TRACE_DIR=runs LARGE_EVENTS=20000 " TESTLOG
            " run %s -- --filter large/records_much",
            e2e_program("large", E2E_TRACED));
    cr_assert_neq(e2e_run("ls runs/20*/tests/*/*/recording.zst")->out[0], '\0');
    server_start(NULL);
    json = search("text=event+1");
    cr_expect_eq(e2e_number(json, "hits"), 500);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(json, "full")));
    e2e_run("truncate -s 1000 runs/20*/tests/*/*/recording.zst");
    json = search("text=event+1");
    cr_expect_eq(e2e_number(json, "hits"), 0);
    cr_expect_eq(e2e_number(json, "unreadable"), 1);
    e2e_run("for f in runs/20*/tests/*/*/recording.zst; do dd if=/dev/urandom "
            "of=$f bs=4096 count=4; done; truncate -s 100 runs/20*/run.json");
    cr_expect_neq(server_status(server_get("/api/runs")), 0);
    search("text=event+1");
    cr_expect_eq(server_stop(SIGTERM), 0);
}

/* A long line is sent in part, around what matches. */
Test(e2e_view_trend, cuts_long_lines)
{
    const char *text;

    e2e_run("TRACE_DIR=runs %s -q --filter large/records_much",
            e2e_program("large", E2E_TRACED));
    server_start(NULL);
    text = e2e_text(
        item(item(search("text=long+text"), "tests", 0), "lines", 0), "text");
    cr_expect_lt(strlen(text), 500);
    cr_expect(strstr(text, "\xe2\x80\xa6"), "%s", text);
}

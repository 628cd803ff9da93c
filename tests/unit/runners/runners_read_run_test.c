/* runners_read_run_test.c: reads runs that are whole, cut off, or have no
 * run.json. */
#include "runners/runs/run_json.h"

#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cjson/cJSON.h>
#include <criterion/criterion.h>

#include "harness/run/model/model.h"
#include "runners/runs/find.h"
#include "tests/support/support.h"

TestSuite(runners_read_run, .init = test_folder);

#define HEAD  "{\"schema\":1,\n\"command\":\"./a\",\n\"tests\":[\n"
#define EVENT "{\"schema\":1,\"event\":\"test\","
#define FIRST                                                                  \
    "\"program\":\"a\",\"name\":\"s/one\",\"outcome\":\"failed\","             \
    "\"start_ns\":10,\"duration_ns\":5"
#define AGAIN                                                                  \
    "\"program\":\"a\",\"name\":\"s/one\",\"outcome\":\"passed\","             \
    "\"start_ns\":20,\"duration_ns\":5"
#define SECOND                                                                 \
    "\"program\":\"a\",\"name\":\"s/two\",\"outcome\":\"passed\","             \
    "\"start_ns\":30"

static void save(const char *name, const char *text)
{
    test_save(test_path(name), text, strlen(text));
}

/* Returns "name outcome tries ..." of the run, and frees it. */
static const char *read_run(int status, bool unfinished)
{
    static char text[256];
    struct test_log_run run = {.path = NULL};
    struct cJSON *head;

    text[0] = '\0';
    cr_expect_eq(runners_read_run(&run, test_path("."), &head), status);
    cr_expect_eq(run.unfinished, unfinished);
    for (size_t i = 0; i < run.count; i++)
        snprintf(text + strlen(text), sizeof(text) - strlen(text), "%s %s %zu;",
                 test_log_name(&run.results[i]),
                 test_log_outcome_word(run.results[i].outcome),
                 run.results[i].earlier_count);
    cJSON_Delete(head);
    test_log_run_free(&run);
    return text;
}

Test(runners_read_run, has_the_tests_of_a_whole_run)
{
    save("run.json", HEAD "{" FIRST "},\n{" SECOND "}\n]}\n");
    save("results.jsonl", EVENT AGAIN "}\n");
    cr_expect_str_eq(read_run(0, false), "s/one failed 0;s/two passed 0;");
}

Test(runners_read_run, fills_a_cut_run_with_what_was_reported)
{
    save("run.json", HEAD "{" FIRST "},\n{\"program");
    save("results.jsonl",
         EVENT FIRST "}\n" EVENT AGAIN "}\n" EVENT SECOND "}\n" EVENT "\"pro");
    cr_expect_str_eq(read_run(0, true), "s/one passed 1;s/two passed 0;");
}

/* A program that ended has written its own file. */
Test(runners_read_run, has_the_tests_of_a_killed_run)
{
    cr_assert_eq(mkdir(test_path("tests"), 0777), 0);
    cr_assert_eq(mkdir(test_path("tests/a"), 0777), 0);
    save("results.jsonl", EVENT FIRST "}\n");
    save("tests/a/run.json",
         HEAD "{" AGAIN ",\"earlier\":[{\"outcome\":"
              "\"failed\",\"start_ns\":10}]},\n{" SECOND "}\n]}\n");
    cr_expect_str_eq(read_run(0, true), "s/one passed 1;s/two passed 0;");
}

Test(runners_read_run, has_nothing_in_an_empty_folder)
{
    cr_expect_str_eq(read_run(-1, true), "");
}

static void expect_folder(const char *path, const char *program,
                          const char *folder)
{
    const struct recording recording = {.path = (char *)path,
                                        .program = (char *)program};
    char *found = runners_recording_folder(&recording);

    cr_expect_str_eq(found ? found : "", folder);
    free(found);
}

Test(runners_read_run, finds_the_folder_of_a_recording)
{
    expect_folder("runs/r/tests/a/s.one/recording", "a", "tests/a/s.one");
    expect_folder("/tests/a/r/tests/a/s.one/recording.zst", "a",
                  "tests/a/s.one");
    expect_folder("r/tests/tests/s.one/recording", "tests",
                  "tests/tests/s.one");
    expect_folder("r/tests/a/recording#4096", "a", "");
    expect_folder("recording", "", "");
}

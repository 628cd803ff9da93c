/* e2e_disk_test.c: how many runs stay, and how large they are. */
#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_disk, .init = e2e_begin, .timeout = 300);

/* ---- Old runs ---- */

static double count_runs(void)
{
    const struct e2e *count =
        e2e_run("find testlog-runs -maxdepth 1 -type d -name '2*' | wc -l");

    return atof(count->out);
}

Test(e2e_disk, keeps_the_given_number_of_runs)
{
    const char *small = e2e_program("small", E2E_TRACED);

    e2e_run("for i in 1 2 3 4; do %s; done", small);
    cr_expect_eq(count_runs(), 4);
    e2e_exits(0, "%s --keep=3", small);
    cr_expect_eq(count_runs(), 3);
    e2e_exits(0, "TRACE_KEEP=2 " TESTLOG " run %s", small);
    cr_expect_eq(count_runs(), 2);
    e2e_exits(0, "TRACE_KEEP=1 " TESTLOG " record -- true 2>&1");
    cr_expect_eq(count_runs(), 1);
    e2e_exits(0, TESTLOG " run %s -- --keep=0", small);
    cr_expect_eq(count_runs(), 2);
    cr_expect(e2e_exists("testlog-runs/latest/run.json"));
}

Test(e2e_disk, keeps_older_runs_that_failed)
{
    e2e_run("%s; %s; %s", e2e_program("ci", E2E_TRACED),
            e2e_program("small", E2E_TRACED), e2e_program("small", E2E_TRACED));
    cr_expect_eq(count_runs(), 3);
    e2e_run("%s --keep=1", e2e_program("small", E2E_TRACED));
    cr_expect_eq(count_runs(), 2);
    cr_expect_eq(
        e2e_run("grep -l '\"failed\":4' testlog-runs/2*/run.json")->code, 0);
}

Test(e2e_disk, refuses_a_number_of_runs_that_is_none)
{
    const struct e2e *all =
        e2e_exits(2, "%s --keep=some 2>&1", e2e_program("small", E2E_TRACED));

    e2e_expect_has(all->out, "testlog: --keep: \"some\"");
}

Test(e2e_disk, hides_a_new_default_folder_from_git)
{
    const char *small = e2e_program("small", E2E_PLAIN);

    e2e_run("%s", small);
    e2e_expect_is(e2e_read("testlog-runs/.gitignore"), "*\n");
    e2e_run("rm testlog-runs/.gitignore; %s; %s --trace-dir=given", small,
            small);
    cr_expect_not(e2e_exists("testlog-runs/.gitignore"), "it was removed");
    cr_expect_not(e2e_exists("given/.gitignore"), "the user's folder");
}

/* ---- Files on demand ---- */

#define RUN   "testlog-runs/latest/"
#define TESTS RUN "tests/many_test/"

static const cJSON *rendered_of(const char *name)
{
    return cJSON_GetObjectItem(e2e_result(e2e_json(RUN "run.json"), name),
                               "rendered");
}

static void expect_unrendered(void)
{
    const char *trace = e2e_read(RUN "trace.json");

    cr_expect_not(e2e_exists(TESTS "many.lines/trace.json"));
    cr_expect_not(e2e_exists(TESTS "many.lines/log.txt"));
    cr_expect(cJSON_IsFalse(rendered_of("many/lines")));
    e2e_expect_lacks(trace, "inserted key");
    e2e_expect_has(
        trace,
        "\"name\":\"many_test "
        "many/lines\",\"args\":{\"outcome\":\"passed\",\"duration_ns\":",
        "\"spans\":0,\"events\":200000,\"activities\":0,\"threads\":1,\"hint\":"
        "\"testlog export testlog-runs");
}

Test(e2e_disk, renders_large_passing_tests_on_demand)
{
    const char *many = e2e_program("many", E2E_TRACED);

    e2e_exits(0, "%s --filter many/lines", many);
    expect_unrendered();
    e2e_run(TESTLOG " log many/lines > lines; " TESTLOG
                    " export many/lines -o exported.json");
    e2e_expect_is(e2e_run("wc -l < lines")->out, "200000\n");
    e2e_expect_is(e2e_run("grep -c 'inserted key' exported.json")->out,
                  "200000\n");
    e2e_exits(0, TESTLOG " run %s -- --filter many/lines", many);
    expect_unrendered();
}

Test(e2e_disk, renders_large_failed_tests)
{
    e2e_exits(1, "%s --filter many/lines_and_a_failure",
              e2e_program("many", E2E_TRACED));
    cr_expect(e2e_exists(TESTS "many.lines_and_a_failure/trace.json"));
    cr_expect(e2e_exists(TESTS "many.lines_and_a_failure/log.txt"));
    cr_expect_null(rendered_of("many/lines_and_a_failure"));
}

Test(e2e_disk, renders_all_tests_if_told)
{
    e2e_exits(0, "%s --filter many/lines --render=all",
              e2e_program("many", E2E_TRACED));
    cr_expect(e2e_exists(TESTS "many.lines/trace.json"));
    cr_expect(e2e_exists(TESTS "many.lines/log.txt"));
    cr_expect_null(rendered_of("many/lines"));
    e2e_expect_is(e2e_run("grep -c 'inserted key' " RUN "trace.json")->out,
                  "200000\n");
}

/* The recording of 1 MB, once more in report.html, which is 0.5 MB itself;
 * its lines are 16 MB of text. */
Test(e2e_disk, needs_little_space_for_a_large_passing_test)
{
    const char *many = e2e_program("many", E2E_TRACED);
    const struct e2e *size;

    e2e_exits(0, "%s --filter many/lines", many);
    size = e2e_run("du -s --apparent-size -B1 testlog-runs");
    cr_expect_lt(atof(size->out), 4e6, "%s", size->out);
    e2e_expect_is(e2e_run(TESTLOG " log many/lines | wc -l")->out, "200000\n");
}

Test(e2e_disk, keeps_junit_small)
{
    const char *many = e2e_program("many", E2E_TRACED), *xml;

    e2e_exits(1, "LOG=debug %s", many);
    xml = e2e_read(RUN "junit.xml");
    cr_expect_lt(strlen(xml), 3 * 70000);
    cr_expect_eq(e2e_count(xml, " bytes left out; see "), 2);
    e2e_expect_has(xml, "<system-out>printed 0\n",
                   "printed 199999\n</system-out>",
                   "; see testlog log testlog-runs/");
}

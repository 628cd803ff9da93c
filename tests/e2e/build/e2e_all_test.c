/* e2e_all_test.c: the mode that logs and traces every test of a program, though
 * none is annotated. tests/criterion.sh compares the verdicts with Criterion's.
 */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_all, .init = e2e_begin, .timeout = 300);

static const char *whole(enum e2e_build build)
{
    return e2e_program("whole", build);
}

/* ---- On ---- */

static void expect_recorded(const struct e2e *run, const cJSON *test)
{
    static const char *const files[] = {"recording", "trace.json", "log.txt"};
    const char *folder = e2e_text(test, "folder");

    if (!strcmp(e2e_text(test, "reason"), "disabled")) {
        cr_expect_str_eq(folder, "", "%s", folder);
        return;
    }
    cr_expect_str_neq(folder, "", "%s", e2e_text(test, "name"));
    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        cr_expect(e2e_exists("%s/testlog-runs/latest/%s/%s", run->folder,
                             folder, files[i]),
                  "%s/%s", folder, files[i]);
}

static void expect_all_recorded(const struct e2e *run, int tests)
{
    const cJSON *json =
        e2e_json("%s/testlog-runs/latest/run.json", run->folder);
    const cJSON *all = cJSON_GetObjectItem(json, "tests"), *test;

    cr_expect_eq(cJSON_GetArraySize(all), tests);
    cJSON_ArrayForEach(test, all)
    {
        expect_recorded(run, test);
    }
}

Test(e2e_all, records_every_test_that_ran)
{
    static const char *const flags[] = {"-j1", "-j8", "-j1 --nocapture",
                                        "-j8 --nocapture"};

    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        const struct e2e *run = e2e_exits(1, "%s %s", whole(E2E_ALL), flags[i]);

        e2e_expect_is(e2e_last(run->out), "15 passed, 18 failed, 3 skipped");
        expect_all_recorded(run, 36);
    }
}

Test(e2e_all, records_every_test_in_cxx)
{
    const struct e2e *run =
        e2e_exits(1, "%s -j2", e2e_program("whole_cxx", E2E_ALL));

    e2e_expect_closing(run, "4 passed, 5 failed, 0 skipped");
    expect_all_recorded(run, 9);
}

/* Compares with the same run with the mode off, which overrides how the program
 * is linked. */
static void expect_same_verdicts(const char *program)
{
    const cJSON *on, *off, *test;
    int tests = 0;

    e2e_run("TRACE_DIR=on %s -j2", program);
    e2e_run("TRACE_DIR=off TEST_LOG_ALL=0 %s -j2", program);
    on = e2e_json("on/latest/run.json");
    off = e2e_json("off/latest/run.json");
    cJSON_ArrayForEach(test, cJSON_GetObjectItem(off, "tests"))
    {
        const cJSON *same = e2e_result(on, e2e_text(test, "name"));

        tests++;
        e2e_expect_is(e2e_text(test, "folder"), "");
        e2e_expect_is(e2e_text(same, "outcome"), e2e_text(test, "outcome"));
    }
    cr_expect_eq(cJSON_GetArraySize(cJSON_GetObjectItem(on, "tests")), tests);
    cr_expect_gt(tests, 8);
}

Test(e2e_all, keeps_the_verdicts_of_a_run_without_it)
{
    expect_same_verdicts(whole(E2E_ALL));
    expect_same_verdicts(e2e_program("whole_cxx", E2E_ALL));
}

/* ---- Output and lines ---- */

static const struct e2e *all_of(enum e2e_build build)
{
    return e2e_once(build == E2E_ALL ? "of-all" : "of-traced-all", "%s -j1",
                    whole(build));
}

static const char *file_of(const struct e2e *run, const char *test,
                           const char *name)
{
    return e2e_read("%s/testlog-runs/latest/tests/whole_test/%s/%s",
                    run->folder, test, name);
}

Test(e2e_all, captures_the_output_of_fixtures)
{
    const struct e2e *run = all_of(E2E_ALL);

    e2e_expect_is(file_of(run, "fixtures.of_suite_and_test", "output.txt"),
                  "suite's init\ntest's init\nbody\ntest's fini\n"
                  "suite's fini\n");
    e2e_expect_lacks(run->out, "suite's init");
    e2e_expect_has(
        e2e_between(run->err, "---- fixtures/after_a_failure", "\n---- "),
        "output:\nsuite's init\ntest's init\ntest's fini\n"
        "suite's fini\n");
}

Test(e2e_all, shows_output_and_open_spans_of_a_crash)
{
    e2e_expect_has(e2e_between(all_of(E2E_TRACED_ALL)->err,
                               "---- ends/aborts: crashed: SIGABRT", "trace: "),
                   "output:\nbefore it aborts\n", "open spans:\n",
                   ": its last\n");
}

Test(e2e_all, keeps_an_unfinished_line_without_stacks)
{
    const struct e2e *run = e2e_exits(
        1, "%s --filter 'ends/aborts' --stacks=off", whole(E2E_TRACED_ALL));

    e2e_expect_has(run->err, "output:\nbefore it aborts\n");
}

Test(e2e_all, prints_lines_with_their_spans)
{
    const struct e2e *run = all_of(E2E_TRACED_ALL);
    const char *log = file_of(run, "fixtures.after_a_failure", "log.txt");

    e2e_expect_has(
        log, " INFO programs::whole: suite's init\n",
        " INFO left by an assertion:twice{number=2}: programs::whole: twice\n",
        " ERROR left by an assertion: programs::whole: assertion failed: no "
        "five\n");
    /* The assertion's jump left the span. */
    e2e_expect_has(log, " INFO programs::whole: suite's fini\n");
    e2e_expect_has(file_of(run, "several.parameters[07]", "log.txt"),
                   "twice{number=7}: ");
    e2e_expect_has(file_of(run, "several.points", "log.txt"),
                   "assertion failed: 1 and 1");
}

Test(e2e_all, applies_LOG_as_for_annotated_tests)
{
    const char *program = whole(E2E_TRACED_ALL);
    const struct e2e *run =
        e2e_run("LOG=warn %s --nocapture --filter fixtures/after_a_failure "
                "--fail-log=0 --log-time=none",
                program);

    e2e_expect_lacks(run->err, " INFO ");
    e2e_expect_has(run->err, "ERROR programs::whole: assertion failed");
    run = e2e_run("LOG='[twice]' %s --nocapture --log-time=none "
                  "--filter fixtures/of_suite_and_test",
                  program);
    e2e_expect_has(run->err, "INFO twice{number=2}: programs::whole: twice\n");
    e2e_expect_lacks(run->err, "suite's");
    e2e_expect_has(run->out, "suite's init\n");
}

Test(e2e_all, warns_that_no_line_was_compiled_in)
{
    const char *says = "LOG asks for debug, but no line was compiled in";

    e2e_expect_has(
        e2e_run("LOG=debug %s --filter ends/passes", whole(E2E_ALL))->err,
        says);
    e2e_expect_lacks(e2e_run("%s --filter ends/passes", whole(E2E_ALL))->err,
                     "compiled in");
    e2e_expect_lacks(
        e2e_run("LOG=debug %s --filter ends/passes", whole(E2E_TRACED_ALL))
            ->err,
        "compiled in");
}

/* ---- On and off ---- */

static const struct {
    enum e2e_build build;
    const char *before, *after;
    bool on;
} switches[] = {
    {E2E_PLAIN, "", "", false},
    {E2E_TRACED, "", "", false},
    {E2E_PLAIN, "", "--all-tests", true},
    {E2E_PLAIN, "TEST_LOG_ALL=1", "", true},
    {E2E_PLAIN, "TEST_LOG_ALL=", "", false},
    {E2E_PLAIN, "TEST_LOG_ALL=0", "--all-tests", true},
    {E2E_ALL, "", "", true},
    {E2E_ALL, "TEST_LOG_ALL=", "", true},
    {E2E_ALL, "TEST_LOG_ALL=0", "", false},
};

Test(e2e_all, is_enabled_by_link_variable_or_flag)
{
    for (size_t i = 0; i < sizeof(switches) / sizeof(*switches); i++) {
        const struct e2e *run = e2e_exits(
            0, "%s %s %s --filter fixtures/of_suite_and_test",
            switches[i].before, whole(switches[i].build), switches[i].after);
        bool on = switches[i].on;

        cr_expect_eq(e2e_count(run->out, "suite's init"), !on, "%zu: %s", i,
                     run->out);
        cr_expect_eq(e2e_count(run->err, "testlog: lines shown: info"), on,
                     "%zu: %s", i, run->err);
        cr_expect_eq(e2e_exists("testlog-runs/latest/tests/whole_test/"
                                "fixtures.of_suite_and_test/recording"),
                     on, "%zu", i);
    }
}

Test(e2e_all, refuses_a_bad_value)
{
    e2e_expect_is(
        e2e_exits(2, "TEST_LOG_ALL=maybe %s", whole(E2E_ALL))->err,
        "testlog: TEST_LOG_ALL: unknown value \"maybe\"; write 0 or 1\n");
}

/* Annotated tests keep their own filters. */
Test(e2e_all, keeps_annotated_tests_as_they_are)
{
    const struct e2e *run =
        e2e_run("%s --all-tests -j2", e2e_program("outcomes", E2E_TRACED));
    cr_expect_str_neq(
        e2e_text(e2e_latest("outcomes/fails_without_annotation"), "folder"),
        "");
    e2e_expect_has(
        e2e_between(run->err,
                    "---- outcomes/fails_without_annotation: ", "trace: "),
        "assertion failed: no answer either\n");
    run = e2e_run("%s --all-tests --nocapture",
                  e2e_program("capture", E2E_TRACED));
    e2e_expect_has(run->err, "logged by");
    cr_expect_eq(e2e_count(run->err, "logged by a passing test\n"), 1);
}

Test(e2e_all, is_passed_on_by_testlog_run)
{
    e2e_run("TEST_LOG_ALL=1 %s run %s -- --filter ends/passes",
            BUILD_DIR "/testlog", whole(E2E_PLAIN));
    cr_expect(e2e_exists("testlog-runs/latest/tests/whole_test/ends.passes/"
                         "recording"));
}

/* ---- Linking ---- */

static const struct e2e *link_in(const char *flags)
{
    return e2e_run("cc " SANITIZE_FLAGS " -D_GNU_SOURCE -I '%s/include' "
                   "'%s/programs/whole.c' -o whole_test -L '%s' %s",
                   BUILD_DIR, TESTS_DIR, BUILD_DIR, flags);
}

Test(e2e_all, criterions_main_asks_for_testlog_first)
{
    const struct e2e *run;

    cr_assert_eq(
        link_in("-Wl,-u,test_log_all -lcriterion -ltestlog -lpcre2-8")->code,
        0);
    run = e2e_run("./whole_test --filter ends/passes");
    cr_expect_eq(e2e_count(run->err, "testlog: "), 1, "%s", run->err);
    e2e_expect_has(run->err, "put -ltestlog before -lcriterion\n");
}

Test(e2e_all, records_tests_of_shared_objects)
{
    const char *log = "testlog-runs/latest/tests/main/ends.passes/recording";

    cr_assert_eq(link_in("-shared -fPIC -lcriterion")->code, 0);
    cr_assert_eq(e2e_run("cc " SANITIZE_FLAGS
                         " -Wl,-u,test_log_all,--no-as-needed -o main "
                         "./whole_test -L '%s' -ltestlog -lcriterion "
                         "-lpcre2-8 -Wl,-rpath,.",
                         BUILD_DIR)
                     ->code,
                 0);
    e2e_expect_closing(e2e_run("./main --filter ends/passes"),
                       "1 passed, 0 failed, 0 skipped");
    cr_expect(e2e_exists("%s", log));
}

Test(e2e_all, survives_optimizations_that_discard_code)
{
    static const char *const flags[] = {"-O2 -flto", "-fvisibility=hidden",
                                        "-no-pie -fno-pie", "-static-libgcc"};

    if (e2e_sanitized())
        cr_skip_test("sanitizers link in their own way");
    for (size_t i = 0; i < sizeof(flags) / sizeof(*flags); i++) {
        char all[256];

        snprintf(all, sizeof(all),
                 "%s -Wl,-u,test_log_all -ltestlog -lcriterion -lpcre2-8",
                 flags[i]);
        cr_assert_eq(link_in(all)->code, 0, "%s", all);
        e2e_expect_closing(e2e_run("rm -rf testlog-runs; ./whole_test "
                                   "--filter 'ends/passes'"),
                           "1 passed, 0 failed, 0 skipped");
        cr_expect(e2e_exists("testlog-runs/latest/tests/whole_test/"
                             "ends.passes/recording"),
                  "%s", all);
    }
}

/* The leak checker would replace the test's exit code with its own. */
Test(e2e_all, leaks_nothing_that_changes_an_exit_code)
{
    const char *folder = "testlog-runs/latest/tests/whole_test", *output;
    const struct e2e *run;

    if (link_in("-fsanitize=address -Wl,-u,test_log_all -ltestlog -lcriterion "
                "-lpcre2-8")
            ->code)
        cr_skip_test("this compiler has no leak checker");
    run = e2e_run("ASAN_OPTIONS=detect_leaks=1 ./whole_test --filter "
                  "ends/exits_as_expected --filter ends/passes");
    output = e2e_read("%s/ends.passes/output.txt", folder);
    if (strstr(output, "LeakSanitizer has encountered a fatal error"))
        cr_skip_test("the leak checker has no permission to trace");
    e2e_expect_code(run, 0);
    e2e_expect_closing(run, "2 passed, 0 failed, 0 skipped");
    e2e_expect_is(output, "");
    e2e_expect_is(e2e_read("%s/ends.exits_as_expected/output.txt", folder), "");
}

/* harness_prepare_test.c: a run before its first test, and before a retry. */
#include "harness/criterion/plan/plan.h"
#include "harness/criterion/watch/jobs.h"
#include "harness/criterion/watch/supervisor.h"
#include "harness/machine/notice.h"
#include "harness/options/options.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/internal/ordered-set.h>

#include "tests/support/support.h"

enum { TESTS = 2 };

static struct test_log_options options;
static struct test_log_run run;
static struct criterion_test_set set;
static struct criterion_test_extra_data data[TESTS], suite_data;
static char long_names[TESTS][300];
static const char *names[TESTS] = {"one", "two"};
static struct test_log_runner *const runner = &test_log_runner;

static int compare_suites(void *one, void *other)
{
    const struct criterion_suite_set *a = one, *b = other;

    return strcmp(a->suite.name, b->suite.name);
}

static int compare_tests(void *one, void *other)
{
    const struct criterion_test *a = one, *b = other;

    return strcmp(a->name, b->name);
}

/* Makes the set as Criterion does: one suite, "s". */
static void make_set(void)
{
    struct criterion_suite_set suite = {
        .suite = {.name = "s", .data = &suite_data},
        .tests = new_ordered_set(compare_tests, NULL)};

    set.suites = new_ordered_set(compare_suites, NULL);
    insert_ordered_set(set.suites, &suite, sizeof(suite));
    for (size_t i = 0; i < TESTS; i++) {
        struct criterion_test test = {
            .name = names[i], .category = "s", .data = &data[i]};

        data[i].file_ = "file.c";
        data[i].line_ = 10 + (int)i;
        insert_ordered_set(suite.tests, &test, sizeof(test));
    }
    set.tests = TESTS;
}

static void begin(void)
{
    test_folder();
    test_log_out = fopen(test_path("said"), "w");
    cr_assert_not_null(test_log_out);
    options.show = (struct test_log_setting){"info", "default"};
    options.record = (struct test_log_setting){"trace", "default"};
    options.dir = strdup(test_path("runs"));
    options.dir_given = true;
    options.all_tests = true;
    run.executable = "/bin/some_test";
    run.start = trace_anchor_now();
    *runner = (struct test_log_runner){.options = &options, .run = &run};
}

static void end(void)
{
    fclose(test_log_out);
    test_log_status_close();
}

TestSuite(harness_prepare, .init = begin, .fini = end);

static void prepare(void)
{
    make_set();
    test_log_supervisor_enter();
    test_log_prepare_run(runner, &set);
    test_log_supervisor_leave();
}

/* How often testlog has printed a text. */
static size_t times_said(const char *text)
{
    char *said = test_load(test_path("said"), NULL);
    size_t count = 0;

    for (const char *at = said; (at = strstr(at, text)); at++)
        count++;
    return count;
}

static bool has_folder(const struct test_log_result *result)
{
    char path[4096];

    return !test_log_file(&run, result, "", path) && !access(path, F_OK);
}

/* ---- Results and jobs ---- */

Test(harness_prepare, makes_a_result_and_a_job_for_each_test)
{
    prepare();
    cr_assert_eq(run.count, TESTS);
    cr_assert_eq(runner->job_count, TESTS);
    cr_expect_eq(runner->matched, TESTS);
    for (size_t i = 0; i < TESTS; i++) {
        const struct test_log_result *result = &run.results[i];

        cr_expect_eq(runner->jobs[i].result, result);
        cr_expect_str_eq(runner->jobs[i].test->name, names[i]);
        cr_expect_str_eq(result->program, "some_test");
        cr_expect_str_eq(result->suite, "s");
        cr_expect_str_eq(result->test, names[i]);
        cr_expect_str_eq(result->file, "file.c");
        cr_expect_eq(result->line, 10 + i);
        cr_expect_eq(result->outcome, TEST_LOG_OUTCOME_NONE);
    }
}

Test(harness_prepare, makes_a_folder_for_each_recorded_test)
{
    data[1].disabled = true;
    prepare();
    cr_expect_str_eq(run.results[0].folder, "tests/some_test/s.one");
    cr_expect(has_folder(&run.results[0]));
    cr_expect_null(run.results[1].folder, "it is disabled");
}

Test(harness_prepare, makes_no_folder_for_tests_that_are_not_annotated)
{
    options.all_tests = false;
    prepare();
    cr_expect_null(run.results[0].folder);
    cr_expect_null(run.results[1].folder);
}

Test(harness_prepare, makes_no_folder_if_no_test_matches)
{
    char *patterns[] = {(char *)"s/three"};

    options.patterns = patterns;
    options.pattern_count = 1;
    prepare();
    cr_expect_eq(runner->matched, 0);
    cr_expect_eq(set.tests, 0);
    cr_expect_null(run.path);
    cr_expect_neq(access(options.dir, F_OK), 0);
}

Test(harness_prepare, leaves_out_tests_that_no_filter_matches)
{
    char *patterns[] = {(char *)"s/two"};

    options.patterns = patterns;
    options.pattern_count = 1;
    prepare();
    cr_expect_eq(runner->matched, 1);
    cr_assert_eq(run.count, 1);
    cr_expect_str_eq(run.results[0].test, "two");
}

Test(harness_prepare, repeats_each_test)
{
    options.repeat = 3;
    prepare();
    cr_assert_eq(run.count, TESTS * 3);
    cr_expect_str_eq(run.results[0].test, "one#1");
}

Test(harness_prepare, prints_once_that_tests_have_no_folder)
{
    for (size_t i = 0; i < TESTS; i++) {
        memset(long_names[i], 'a' + (int)i, sizeof(long_names[i]) - 1);
        names[i] = long_names[i];
    }
    prepare();
    cr_assert_eq(run.count, TESTS);
    cr_expect_null(run.results[0].folder);
    cr_expect_null(run.results[1].folder);
    cr_expect_eq(times_said("File name too long"), 1);
}

Test(harness_prepare, runs_tests_without_a_folder_for_the_run)
{
    test_save(test_path("runs"), "", 0);
    setenv("TMPDIR", test_path("missing"), 1);
    prepare();
    cr_expect_null(run.path);
    cr_expect_eq(set.tests, TESTS);
    cr_expect_eq(runner->job_count, TESTS);
    cr_expect_null(run.results[0].folder);
}

/* Without a place for its result, a test would pass whatever it does. */
Test(harness_prepare, runs_no_test_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    make_set();
    test_log_supervisor_enter();
    test_fail_memory(1, false);
    test_log_prepare_run(runner, &set);
    test_fail_memory(0, false);
    test_log_supervisor_leave();
    cr_expect(run.refused);
    cr_expect_eq(set.tests, 0);
    cr_expect_eq(times_said("out of memory: no test runs"), 1);
}

Test(harness_prepare, begins_no_test_after_a_stop)
{
    runner->stopped = "enough";
    prepare();
    for (size_t i = 0; i < TESTS; i++) {
        cr_expect(runner->jobs[i].left_out);
        cr_expect(data[i].disabled);
    }
}

/* ---- Timeouts ---- */

static void expect_limits(uint64_t first, uint64_t second)
{
    cr_expect_eq(runner->jobs[0].limit, first);
    cr_expect_eq(runner->jobs[1].limit, second);
}

#define SECOND UINT64_C(1000000000)

Test(harness_prepare, own_timeout_overrides_that_of_the_suite)
{
    suite_data.timeout = 7;
    data[0].timeout = 2.5;
    prepare();
    expect_limits(5 * SECOND / 2, 7 * SECOND);
}

Test(harness_prepare, option_lowers_timeouts_and_raises_none)
{
    data[0].timeout = 2;
    options.timeout = 5;
    prepare();
    expect_limits(2 * SECOND, 5 * SECOND);
}

Test(harness_prepare, criterion_enforces_timeouts_without_a_supervisor)
{
    data[0].timeout = 8;
    options.timeout = 5;
    prepare();
    cr_expect_eq(data[0].timeout, 5);
    cr_expect_eq(data[1].timeout, 5);
}

Test(harness_prepare, criterion_enforces_no_timeout_beside_a_supervisor)
{
    suite_data.timeout = 3600;
    data[0].timeout = 1800;
    test_log_supervisor_begin(runner);
    prepare();
    expect_limits(1800 * SECOND, 3600 * SECOND);
    cr_expect_eq(data[0].timeout, 0);
    cr_expect_eq(data[1].timeout, 0);
    cr_expect_eq(suite_data.timeout, 0);
    test_log_supervisor_end();
}

/* ---- What workers get ---- */

static const struct test_log_session *worker_session(void)
{
    test_log_session_forget();
    return test_log_session();
}

Test(harness_prepare, gives_workers_a_session)
{
    const struct test_log_session *session;
    char number[16];

    snprintf(number, sizeof(number), "%d", (int)getpid());
    setenv("TESTLOG_RUN", "/somewhere", 1);
    options.jobs = 2;
    prepare();
    cr_expect_null(getenv("TESTLOG_RUN"));
    session = worker_session();
    cr_expect(test_log_session_is_worker(session));
    cr_expect_str_eq(session->show, "info");
    cr_expect_str_eq(session->record, "trace");
    cr_expect_str_eq(session->nested, "1");
    cr_expect_str_eq(session->runner, number);
    cr_expect_str_eq(session->attempt, "");
    cr_expect_str_eq(session->prefix, "1");
    cr_expect_eq(session->folder[0], '/');
    cr_expect_eq(access(session->folder, F_OK), 0, "%s", session->folder);
}

Test(harness_prepare, lines_need_no_prefix_if_one_test_runs_at_once)
{
    options.jobs = 1;
    prepare();
    cr_expect_str_eq(worker_session()->prefix, "0");
}

/* Criterion's spawner clears a byte for each. */
Test(harness_prepare, lowers_the_limit_on_descriptors)
{
    struct rlimit limit;

    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    if (limit.rlim_max <= 65536)
        cr_skip_test("the limit is low already");
    limit.rlim_cur = 65537;
    cr_assert_eq(setrlimit(RLIMIT_NOFILE, &limit), 0);
    prepare();
    cr_assert_eq(getrlimit(RLIMIT_NOFILE, &limit), 0);
    cr_expect_eq(limit.rlim_cur, 65536);
}

/* ---- Retries ---- */

static void prepare_retries(void)
{
    options.retries = 1;
    prepare();
}

static size_t retry(enum test_log_outcome first, enum test_log_outcome second)
{
    prepare_retries();
    run.results[0].outcome = first;
    run.results[1].outcome = second;
    return test_log_prepare_retry(runner, &set, 2);
}

Test(harness_prepare, retries_failed_tests_in_new_folders)
{
    cr_expect_eq(retry(TEST_LOG_OUTCOME_PASSED, TEST_LOG_OUTCOME_FAILED), 1);
    cr_expect_eq(set.tests, 1);
    cr_expect_eq(run.results[0].outcome, TEST_LOG_OUTCOME_PASSED);
    cr_expect_eq(run.results[1].outcome, TEST_LOG_OUTCOME_NONE);
    cr_assert_eq(run.results[1].earlier_count, 1);
    cr_expect_str_eq(run.results[1].earlier[0].folder, "tests/some_test/s.two");
    cr_expect_str_eq(run.results[1].folder, "tests/some_test/s.two.try2");
    cr_expect(has_folder(&run.results[1]));
    cr_expect_str_eq(worker_session()->attempt, ".try2");
}

/* The memory of a try has a note for each of its tests only. */
Test(harness_prepare, forgets_the_notes_of_the_last_try)
{
    prepare_retries();
    for (size_t i = 0; i < TESTS; i++) {
        runner->jobs[i].note = i + 1;
        runner->jobs[i].serial = true;
    }
    run.results[0].outcome = TEST_LOG_OUTCOME_FAILED;
    run.results[1].outcome = TEST_LOG_OUTCOME_PASSED;
    cr_assert_eq(test_log_prepare_retry(runner, &set, 2), 1);
    for (size_t i = 0; i < TESTS; i++) {
        cr_expect_eq(runner->jobs[i].note, 0, "job %zu", i);
        cr_expect_null(test_log_status_crash_of(&runner->jobs[i]));
        cr_expect(runner->jobs[i].serial, "job %zu", i);
    }
}

Test(harness_prepare, retries_nothing_if_all_tests_passed)
{
    cr_expect_eq(retry(TEST_LOG_OUTCOME_PASSED, TEST_LOG_OUTCOME_SKIPPED), 0);
    cr_expect_eq(run.results[0].earlier_count, 0);
}

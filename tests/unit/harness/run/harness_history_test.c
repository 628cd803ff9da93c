/* harness_history_test.c: what is remembered of tests between runs. */
#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/run/past/durations.h"
#include "harness/run/past/history.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct test_log_run run;
static struct test_log_history history;
static char dir[PATH_MAX];

static void begin(void)
{
    test_folder();
    snprintf(dir, sizeof(dir), "%s/runs", test_path(""));
    test_log_make_folders(dir);
}

static void end(void)
{
    test_log_run_free(&run);
    test_log_history_free(&history);
}

TestSuite(harness_history, .init = begin, .fini = end);

static void add(const char *program, const char *name,
                enum test_log_outcome outcome, uint64_t duration)
{
    struct test_log_result *result = test_log_run_add(&run);
    const char *slash = strchr(name, '/');

    cr_assert_not_null(result);
    result->program = strdup(program);
    result->suite = slash ? strndup(name, (size_t)(slash - name)) : NULL;
    result->test = strdup(slash ? slash + 1 : name);
    result->outcome = outcome;
    result->duration = duration;
}

static void update(bool whole, bool failed)
{
    char path[PATH_MAX + 8];

    snprintf(path, sizeof(path), "%s/run", dir);
    run.path = strdup(path);
    test_log_history_update(&run, dir, whole, failed);
    test_log_run_free(&run);
    test_log_history_free(&history);
    test_log_history_open(&history, dir, NULL, NULL);
    test_log_history_read(&history, "p");
}

static enum test_log_outcome outcome_of(const char *name)
{
    const struct test_log_past *past = test_log_history_of(&history, "p", name);

    return past ? past->outcome : TEST_LOG_OUTCOME_NONE;
}

/* ---- Failures ---- */

Test(harness_history, remembers_a_failure_until_that_test_passes)
{
    add("p", "s/bad", TEST_LOG_OUTCOME_CRASHED, 6000000000);
    add("p", "s/good", TEST_LOG_OUTCOME_PASSED, 5);
    update(true, false);
    add("p", "s/good", TEST_LOG_OUTCOME_PASSED, 5);
    update(false, false);
    add("q", "s/bad", TEST_LOG_OUTCOME_PASSED, 5);
    update(true, false);
    add("p", "s/bad", TEST_LOG_OUTCOME_SKIPPED, 0);
    update(true, false);
    cr_expect_eq(outcome_of("s/bad"), TEST_LOG_OUTCOME_CRASHED);
    cr_expect_eq(test_log_history_of(&history, "p", "s/bad")->duration,
                 6000000000);
    cr_expect(test_log_history_failed(&history, "p"));
    add("p", "s/bad", TEST_LOG_OUTCOME_PASSED, 1);
    update(false, true);
    cr_expect_eq(outcome_of("s/bad"), TEST_LOG_OUTCOME_PASSED);
    cr_expect_not(test_log_history_failed(&history, "p"));
}

Test(harness_history, repetitions_are_one_test_that_passes_if_all_do)
{
    add("p", "s/bad#1", TEST_LOG_OUTCOME_FAILED, 1);
    add("p", "s/bad#2", TEST_LOG_OUTCOME_PASSED, 1);
    add("p", "s/good#1", TEST_LOG_OUTCOME_PASSED, 1);
    add("p", "s/good#2", TEST_LOG_OUTCOME_PASSED, 1);
    update(true, false);
    cr_expect_eq(history.count, 2);
    cr_expect_eq(outcome_of("s/bad"), TEST_LOG_OUTCOME_FAILED);
    cr_expect_eq(outcome_of("s/good"), TEST_LOG_OUTCOME_PASSED);
}

/* ---- Tests that are gone ---- */

static void add_old(void)
{
    add("p", "s/gone", TEST_LOG_OUTCOME_FAILED, 1);
    add("p", "s/kept", TEST_LOG_OUTCOME_PASSED, 1);
    update(true, false);
    add("p", "s/kept", TEST_LOG_OUTCOME_PASSED, 1);
}

Test(harness_history, forgets_tests_that_a_whole_run_lacks)
{
    add_old();
    update(true, false);
    cr_expect_eq(outcome_of("s/gone"), TEST_LOG_OUTCOME_NONE);
    cr_expect_eq(outcome_of("s/kept"), TEST_LOG_OUTCOME_PASSED);
}

Test(harness_history, keeps_tests_that_a_selection_leaves_out)
{
    add_old();
    update(false, false);
    cr_expect_eq(outcome_of("s/gone"), TEST_LOG_OUTCOME_FAILED);
}

Test(harness_history, keeps_tests_that_failed_leaves_out)
{
    add("p", "s/gone", TEST_LOG_OUTCOME_FAILED, 1);
    add("p", "s/bad", TEST_LOG_OUTCOME_FAILED, 1);
    update(true, false);
    add("p", "s/bad", TEST_LOG_OUTCOME_PASSED, 1);
    update(true, true);
    cr_expect_eq(outcome_of("s/gone"), TEST_LOG_OUTCOME_FAILED);
}

/* Its tests are gone, so --failed ran all. */
Test(harness_history, forgets_tests_if_failed_had_to_run_all)
{
    add_old();
    update(true, true);
    cr_expect_eq(outcome_of("s/gone"), TEST_LOG_OUTCOME_NONE);
}

Test(harness_history, keeps_tests_of_a_program_that_left_no_results)
{
    add_old();
    add("p", "p", TEST_LOG_OUTCOME_CRASHED, 1);
    update(true, false);
    cr_expect_eq(outcome_of("s/gone"), TEST_LOG_OUTCOME_FAILED);
    cr_expect_eq(outcome_of("p"), TEST_LOG_OUTCOME_CRASHED);
    add("p", "s/kept", TEST_LOG_OUTCOME_PASSED, 1);
    update(true, false);
    cr_expect_eq(outcome_of("p"), TEST_LOG_OUTCOME_NONE);
}

/* ---- Durations ---- */

Test(harness_history, keeps_the_last_five_times_that_a_test_passed)
{
    const struct test_log_past *past;

    for (uint64_t i = 1; i <= 7; i++) {
        add("p", "s/test", TEST_LOG_OUTCOME_PASSED, i);
        add("p", "s/other", TEST_LOG_OUTCOME_PASSED, 9);
        update(true, false);
    }
    add("p", "s/test", TEST_LOG_OUTCOME_TIMEOUT, 100);
    update(false, false);
    past = test_log_history_of(&history, "p", "s/test");
    cr_assert_not_null(past);
    cr_expect_eq(past->duration, 100);
    for (size_t i = 0; i < TEST_LOG_PAST_TIMES; i++)
        cr_expect_eq(past->times[i], 7 - i, "%zu", i);
}

/* ---- Files ---- */

Test(harness_history, skips_malformed_lines)
{
    static const char text[] =
        "passed\nfailed\t1\tp\n\t\t\t\n\t\t\ts/a\nfailed\tx\t,,y\ts/t";
    char path[PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/.history", dir);
    test_log_make_folders(path);
    snprintf(path, sizeof(path), "%s/.history/p.tsv", dir);
    test_save(path, text, strlen(text));
    test_log_history_open(&history, dir, NULL, NULL);
    test_log_history_read(&history, "p");
    cr_assert_eq(history.count, 2);
    cr_expect_eq(history.tests[0].outcome, TEST_LOG_OUTCOME_NONE);
    cr_expect_str_eq(history.tests[1].name, "s/t");
    cr_expect_eq(history.tests[1].times[0], 0);
}

Test(harness_history, follows_no_link)
{
    char path[PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/.history", dir);
    test_log_make_folders(path);
    snprintf(path, sizeof(path), "%s/.history/p.tsv", dir);
    cr_assert_eq(symlink(test_path("elsewhere"), path), 0);
    add("p", "s/test", TEST_LOG_OUTCOME_FAILED, 1);
    test_log_out = fopen("/dev/null", "w");
    update(true, false);
    cr_expect_neq(access(test_path("elsewhere"), F_OK), 0);
    cr_expect_eq(history.count, 0);
}

Test(harness_history, keeps_the_tests_of_runs_that_end_together)
{
    for (int i = 0; i < 8; i++)
        if (!fork()) {
            char name[16];

            snprintf(name, sizeof(name), "s/t%d", i);
            add("p", name, TEST_LOG_OUTCOME_FAILED, 1);
            update(false, false);
            _exit(0);
        }
    while (wait(NULL) > 0)
        ;
    test_log_history_open(&history, dir, NULL, NULL);
    test_log_history_read(&history, "p");
    cr_expect_eq(history.count, 8);
}

/* ---- Workers ---- */

Test(harness_history, remembers_the_times_of_workers)
{
    struct test_log_durations durations = {.count = 0};

    for (uint64_t i = 1; i <= 3; i++) {
        add("p", "s/a", TEST_LOG_OUTCOME_PASSED, i);
        run.results[0].occupied = 100 * i;
        update(true, false);
    }
    cr_expect_eq(history.tests[0].times[0], 3);
    cr_expect_eq(history.tests[0].occupied[0], 300);
    cr_expect_eq(history.tests[0].occupied[2], 100);
    cr_assert_eq(test_log_durations_recall(&durations, &history), 0);
    cr_expect_eq(test_log_durations_of(&durations, "p", "s/a"), 200);
    test_log_durations_free(&durations);
}

/* As earlier versions wrote it. */
Test(harness_history, reads_lines_without_workers)
{
    static const char line[] = "passed\t7\t7,5\ts/a\n";
    char path[PATH_MAX + 32];

    snprintf(path, sizeof(path), "%s/.history", dir);
    cr_assert_eq(test_log_make_folders(path), 0);
    snprintf(path, sizeof(path), "%s/.history/p.tsv", dir);
    test_save(path, line, strlen(line));
    test_log_history_open(&history, dir, NULL, NULL);
    test_log_history_read(&history, "p");
    cr_assert_eq(history.count, 1);
    cr_expect_eq(history.tests[0].times[1], 5);
    cr_expect_eq(history.tests[0].occupied[0], 0);
    cr_expect_str_eq(history.tests[0].name, "s/a");
    cr_expect_eq(test_log_history_occupied(&history.tests[0]), 7);
}

/* runners_changes_test.c: which tests differ between two runs. */
#include "runners/diff/changes.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/results/history/history.h"

#include "tests/support/support.h"

#define SECOND UINT64_C(1000000000)

static struct test_log_run before, after;
static struct test_log_history history;
static struct changes changes;

static void end(void)
{
    runners_changes_free(&changes);
    test_log_run_free(&before);
    test_log_run_free(&after);
    test_log_history_free(&history);
}

TestSuite(runners_changes, .fini = end);

static void add(struct test_log_run *run, const char *program, const char *name,
                enum test_log_outcome outcome, uint64_t time)
{
    struct test_log_result *result = test_log_run_add(run);

    cr_assert_not_null(result);
    result->program = strdup(program);
    result->suite = strdup("suite");
    result->test = strdup(name);
    result->outcome = outcome;
    result->duration = time;
}

/* Returns the only change. */
static const struct change *only(void)
{
    runners_changes_free(&changes);
    cr_assert_eq(runners_changes_find(&changes, &before, &after, &history), 0);
    cr_assert_eq(changes.count, 1);
    cr_assert_eq(changes.counts[changes.all[0].kind], 1);
    return &changes.all[0];
}

/* Compares one test, NONE: it did not run. */
static enum change_kind kind_of(enum test_log_outcome old,
                                enum test_log_outcome new)
{
    enum change_kind kind;

    if (old)
        add(&before, "program", "test", old, 0);
    if (new)
        add(&after, "program", "test", new, 0);
    kind = only()->kind;
    end();
    return kind;
}

Test(runners_changes, tells_outcomes_apart)
{
    enum test_log_outcome none = TEST_LOG_OUTCOME_NONE,
                          passed = TEST_LOG_OUTCOME_PASSED,
                          failed = TEST_LOG_OUTCOME_FAILED,
                          crashed = TEST_LOG_OUTCOME_CRASHED,
                          skipped = TEST_LOG_OUTCOME_SKIPPED;

    cr_expect_eq(kind_of(passed, failed), CHANGE_NEWLY_FAILING);
    cr_expect_eq(kind_of(skipped, TEST_LOG_OUTCOME_TIMEOUT),
                 CHANGE_NEWLY_FAILING);
    cr_expect_eq(kind_of(none, crashed), CHANGE_NEWLY_FAILING, "a new test");
    cr_expect_eq(kind_of(failed, passed), CHANGE_NEWLY_PASSING);
    cr_expect_eq(kind_of(failed, crashed), CHANGE_OTHER_OUTCOME);
    cr_expect_eq(kind_of(failed, skipped), CHANGE_OTHER_OUTCOME);
    cr_expect_eq(kind_of(passed, skipped), CHANGE_OTHER_OUTCOME);
    cr_expect_eq(kind_of(none, passed), CHANGE_ADDED);
    cr_expect_eq(kind_of(none, skipped), CHANGE_ADDED);
    cr_expect_eq(kind_of(passed, none), CHANGE_GONE);
    cr_expect_eq(kind_of(failed, none), CHANGE_GONE);
    cr_expect_eq(kind_of(passed, passed), CHANGE_UNCHANGED);
    cr_expect_eq(kind_of(crashed, crashed), CHANGE_UNCHANGED);
}

Test(runners_changes, compares_tests_of_the_same_program)
{
    add(&before, "one", "test", TEST_LOG_OUTCOME_PASSED, 0);
    add(&before, "two", "test", TEST_LOG_OUTCOME_FAILED, 0);
    add(&after, "two", "test", TEST_LOG_OUTCOME_FAILED, 0);
    add(&after, "one", "test", TEST_LOG_OUTCOME_PASSED, 0);
    cr_assert_eq(runners_changes_find(&changes, &before, &after, &history), 0);
    cr_expect_eq(changes.counts[CHANGE_UNCHANGED], 2);
}

Test(runners_changes, takes_repetitions_for_one_test)
{
    add(&before, "program", "test", TEST_LOG_OUTCOME_PASSED, 0);
    add(&after, "program", "test#1", TEST_LOG_OUTCOME_PASSED, 0);
    add(&after, "program", "test#2", TEST_LOG_OUTCOME_FAILED, 0);
    add(&after, "program", "test#3", TEST_LOG_OUTCOME_PASSED, 0);
    cr_expect_eq(only()->kind, CHANGE_NEWLY_FAILING);
    cr_expect_str_eq(only()->after->test, "test#2");
}

Test(runners_changes, keeps_the_tests_that_are_selected)
{
    char goes[] = "suite/goes", stay[] = "sta",
         *patterns[] = {goes, stay, NULL};

    add(&before, "one", "goes", TEST_LOG_OUTCOME_PASSED, 0);
    add(&before, "one", "stays", TEST_LOG_OUTCOME_PASSED, 0);
    add(&after, "one", "comes", TEST_LOG_OUTCOME_PASSED, 0);
    add(&after, "one", "stays", TEST_LOG_OUTCOME_PASSED, 0);
    cr_assert_eq(runners_changes_find(&changes, &before, &after, &history), 0);
    cr_expect_eq(changes.count, 3);
    cr_assert_eq(runners_changes_select(&changes, patterns), 0);
    cr_assert_eq(changes.count, 2);
    cr_expect_eq(changes.counts[CHANGE_ADDED], 0);
    cr_expect_eq(changes.counts[CHANGE_GONE], 1);
    cr_expect_str_eq(changes.all[0].after->test, "stays");
}

/* ---- Durations ---- */

static const struct change *timed(uint64_t old, uint64_t new)
{
    end();
    add(&before, "program", "test", TEST_LOG_OUTCOME_PASSED, old);
    add(&after, "program", "test", TEST_LOG_OUTCOME_PASSED, new);
    return only();
}

Test(runners_changes, compares_times_with_those_of_the_old_run)
{
    cr_expect_eq(timed(SECOND, 2 * SECOND)->kind, CHANGE_SLOWER);
    cr_expect_eq(only()->bound, SECOND);
    cr_expect_eq(timed(2 * SECOND, SECOND)->kind, CHANGE_FASTER);
    cr_expect_eq(only()->bound, 2 * SECOND);
    cr_expect_eq(timed(SECOND, SECOND * 3 / 2)->kind, CHANGE_UNCHANGED);
    cr_expect_eq(timed(SECOND * 3 / 2, SECOND)->kind, CHANGE_UNCHANGED);
    cr_expect_eq(timed(SECOND / 1000, SECOND / 20)->kind, CHANGE_UNCHANGED,
                 "less than a tenth of a second");
    cr_expect_eq(timed(0, 0)->kind, CHANGE_UNCHANGED);
    cr_expect_eq(timed(UINT64_MAX / 2, UINT64_MAX)->kind, CHANGE_SLOWER);
}

Test(runners_changes, ignores_times_of_tests_that_do_not_pass)
{
    add(&before, "program", "test", TEST_LOG_OUTCOME_FAILED, 1);
    add(&after, "program", "test", TEST_LOG_OUTCOME_FAILED, 9 * SECOND);
    cr_expect_eq(only()->kind, CHANGE_UNCHANGED);
}

/* `line` as in the file of a history. */
static const struct change *timed_after(const char *line, uint64_t old,
                                        uint64_t new)
{
    char copy[256];

    end();
    strcpy(copy, line);
    test_log_history_parse(&history, "program", copy);
    add(&before, "program", "test", TEST_LOG_OUTCOME_PASSED, old);
    add(&after, "program", "test", TEST_LOG_OUTCOME_PASSED, new);
    return only();
}

Test(runners_changes, compares_times_with_earlier_passes_in_the_history)
{
    /* The new run is the first. */
    const char *line = "passed\t1\t2000000000,1000000000,1800000000,400000000"
                       "\tsuite/test";
    /* It is the second, so only 400 ms is earlier. */
    const char *later = "passed\t1\t1800000000,2000000000,400000000"
                        "\tsuite/test";

    cr_expect_eq(timed_after(line, SECOND, 2 * SECOND)->kind, CHANGE_UNCHANGED);
    cr_expect_eq(timed_after(later, SECOND, 2 * SECOND)->kind, CHANGE_SLOWER);
    cr_expect_eq(only()->bound, SECOND);
    /* The history does not have the new run, so none is known to be earlier. */
    cr_expect_eq(timed_after(line, SECOND, 3 * SECOND)->kind, CHANGE_SLOWER);
    cr_expect_eq(timed_after("passed\t1\t100000000,400000000\tsuite/test",
                             2 * SECOND, SECOND / 10)
                     ->kind,
                 CHANGE_FASTER);
    cr_expect_eq(only()->bound, 4 * SECOND / 10);
    cr_expect_eq(timed_after("passed\t1\t100000000,150000000\tsuite/test",
                             2 * SECOND, SECOND / 10)
                     ->kind,
                 CHANGE_UNCHANGED);
}

/* runners_changes_test.c: which tests differ between two runs. */
#include "runners/diff/changes.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "harness/run/model/model.h"

#include "tests/support/runs.h"
#include "tests/support/support.h"

#define SECOND UINT64_C(1000000000)

static struct test_log_run before, after;
static struct pass_times times;
static struct changes changes;

static void end(void)
{
    runners_changes_free(&changes);
    test_log_run_free(&before);
    test_log_run_free(&after);
    runners_pass_times_free(&times);
}

TestSuite(runners_changes, .fini = end);

static void add(struct test_log_run *run, const char *program, const char *name,
                enum test_log_outcome outcome, uint64_t time)
{
    struct test_log_result *result =
        runs_add_result(run, program, name, outcome, NULL);

    result->duration = time;
}

/* Returns the only change. */
static const struct change *only(void)
{
    runners_changes_free(&changes);
    cr_assert_eq(runners_changes_find(&changes, &before, &after, &times, 0.05),
                 0);
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
    cr_assert_eq(runners_changes_find(&changes, &before, &after, &times, 0.05),
                 0);
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
    cr_assert_eq(runners_changes_find(&changes, &before, &after, &times, 0.05),
                 0);
    cr_expect_eq(changes.count, 3);
    cr_assert_eq(runners_changes_select(&changes, patterns), 0);
    cr_assert_eq(changes.count, 2);
    cr_expect_eq(changes.counts[CHANGE_ADDED], 0);
    cr_expect_eq(changes.counts[CHANGE_GONE], 1);
    cr_expect_str_eq(changes.all[0].after->test, "stays");
}

/* ---- Durations ---- */

/* Compares a test that takes `old`, then `new` ns, after `earlier` passes that
 * take the same as `old`, and 2 % more or less. */
static const struct change *timed(uint64_t old, uint64_t new, int earlier)
{
    uint64_t key = runners_test_key("program", "suite/test");

    end();
    add(&before, "program", "test", TEST_LOG_OUTCOME_PASSED, old);
    add(&after, "program", "test", TEST_LOG_OUTCOME_PASSED, new);
    for (int i = 0; i < earlier; i++)
        cr_assert_eq(runners_pass_times_add(&times, 0, 100 + (size_t)i, key,
                                            old + old / 50 * (uint64_t)(i % 3) -
                                                old / 50),
                     0);
    cr_assert_eq(runners_pass_times_add_run(&times, 0, &before, 0), 0);
    cr_assert_eq(runners_pass_times_add_run(&times, 1, &after, 0), 0);
    return only();
}

Test(runners_changes, compares_times_with_those_of_earlier_passes)
{
    cr_expect_eq(timed(SECOND, 2 * SECOND, 9)->kind, CHANGE_SLOWER);
    cr_expect_eq(only()->bound, SECOND + SECOND / 50);
    cr_expect_eq(only()->judgement.verdict, VERDICT_SLOWER);
    cr_expect_eq(timed(2 * SECOND, SECOND, 9)->kind, CHANGE_FASTER);
    cr_expect_eq(only()->bound, 2 * SECOND - SECOND / 25);
    cr_expect_eq(only()->judgement.verdict, VERDICT_NOT_SLOWER);
    cr_expect_eq(timed(SECOND, SECOND, 9)->kind, CHANGE_UNCHANGED);
    cr_expect_eq(timed(SECOND / 10000, SECOND / 2000, 9)->kind,
                 CHANGE_UNCHANGED, "less than a millisecond");
    cr_expect_eq(only()->judgement.verdict, VERDICT_NOT_SLOWER);
    cr_expect_eq(timed(0, 0, 9)->kind, CHANGE_UNCHANGED);
    cr_expect_eq(timed(UINT64_MAX / 2, UINT64_MAX, 9)->kind, CHANGE_SLOWER);
}

Test(runners_changes, one_run_a_side_is_too_noisy_to_tell)
{
    cr_expect_eq(timed(SECOND, 9 * SECOND, 0)->kind, CHANGE_UNCHANGED);
    cr_expect(only()->judged);
    cr_expect_eq(only()->judgement.verdict, VERDICT_TOO_NOISY);
    cr_expect_eq(changes.verdicts[VERDICT_TOO_NOISY], 1);
}

Test(runners_changes, ignores_times_of_tests_that_do_not_pass)
{
    add(&before, "program", "test", TEST_LOG_OUTCOME_FAILED, 1);
    add(&after, "program", "test", TEST_LOG_OUTCOME_FAILED, 9 * SECOND);
    cr_expect_eq(only()->kind, CHANGE_UNCHANGED);
    cr_expect_not(only()->judged);
}

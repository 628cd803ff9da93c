/* runners_view_changes_test.c: finds when a test began to fail or to take
 * another time. */
#include "runners/view/view_changes.h"

#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

#define MS UINT64_C(1000000) /* ns */

enum { RUNS_MOST = 1000 };

static struct view_past past[RUNS_MOST];
static size_t count;
static struct view_change *changes;

static void end(void)
{
    free(changes);
}

TestSuite(runners_view_changes, .fini = end);

static void add(enum test_log_outcome outcome, uint64_t duration)
{
    past[count++] = (struct view_past){outcome, duration};
}

static void add_passes(size_t number, uint64_t duration)
{
    while (number--)
        add(TEST_LOG_OUTCOME_PASSED, duration);
}

static size_t find(void)
{
    free(changes);
    return view_find_changes(past, count, &changes);
}

static void expect_change(size_t number, size_t at, uint64_t before,
                          uint64_t after)
{
    cr_expect_eq(changes[number].at, at, "%zu", changes[number].at);
    cr_expect_eq(changes[number].before, before);
    cr_expect_eq(changes[number].after, after);
}

/* ---- Outcomes ---- */

Test(runners_view_changes, finds_where_a_test_began_to_fail_and_to_pass)
{
    static const enum test_log_outcome outcomes[] = {
        TEST_LOG_OUTCOME_PASSED,  TEST_LOG_OUTCOME_SKIPPED,
        TEST_LOG_OUTCOME_FAILED,  TEST_LOG_OUTCOME_CRASHED,
        TEST_LOG_OUTCOME_NONE,    TEST_LOG_OUTCOME_TIMEOUT,
        TEST_LOG_OUTCOME_SKIPPED, TEST_LOG_OUTCOME_PASSED};

    for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++)
        add(outcomes[i], MS);
    cr_assert_eq(find(), 2);
    expect_change(0, 2, 0, 0);
    expect_change(1, 7, 0, 0);
}

Test(runners_view_changes, has_none_in_a_test_that_always_failed)
{
    cr_expect_eq(find(), 0);
    for (int i = 0; i < 10; i++)
        add(TEST_LOG_OUTCOME_FAILED, (uint64_t)(i % 5 + 1) * 100 * MS);
    cr_expect_eq(find(), 0);
}

/* ---- Durations ---- */

Test(runners_view_changes, finds_where_a_test_became_slower_and_faster)
{
    add_passes(8, 12 * MS);
    add_passes(3, 31 * MS);
    add_passes(8, 12 * MS);
    cr_assert_eq(find(), 2);
    expect_change(0, 8, 12 * MS, 31 * MS);
    expect_change(1, 11, 31 * MS, 12 * MS);
}

Test(runners_view_changes, ignores_single_runs_and_failures)
{
    add_passes(6, 12 * MS);
    add_passes(2, 900 * MS);
    add_passes(6, 12 * MS);
    add(TEST_LOG_OUTCOME_TIMEOUT, 5000 * MS);
    add(TEST_LOG_OUTCOME_SKIPPED, 0);
    add_passes(6, 12 * MS);
    cr_assert_eq(find(), 2); /* the timeout */
    expect_change(0, 14, 0, 0);
    expect_change(1, 16, 0, 0);
}

Test(runners_view_changes, finds_a_change_among_outliers)
{
    for (size_t i = 0; i < 40; i++)
        add_passes(1, i % 9 == 4 ? 400 * MS : i < 20 ? 10 * MS : 20 * MS);
    cr_assert_eq(find(), 1);
    expect_change(0, 20, 10 * MS, 20 * MS);
}

Test(runners_view_changes, needs_a_clear_difference)
{
    add_passes(10, 10 * MS);
    add_passes(10, 14 * MS); /* under 1.5 times */
    cr_expect_eq(find(), 0);
    count = 0;
    add_passes(10, MS / 10);
    add_passes(10, MS); /* under 1 ms longer */
    cr_expect_eq(find(), 0);
    count = 0;
    for (size_t i = 0; i < 20; i++) /* a third of each part is elsewhere */
        add_passes(1, (i % 3 == 0) == (i < 10) ? 10 * MS : 30 * MS);
    cr_expect_eq(find(), 0);
}

/* Noise of a third in each direction is no change, whatever its order. */
Test(runners_view_changes, finds_nothing_in_noise)
{
    test_seed(28);
    for (int round = 0; round < 200; round++) {
        for (count = 0; count < 100;)
            add_passes(1, (20 + test_below(20)) * MS);
        cr_assert_eq(find(), 0, "round %d: at %zu", round, changes[0].at);
    }
}

/* The number of changes is small, and they are in order, whatever durations a
 * file has. */
Test(runners_view_changes, accepts_any_durations)
{
    test_seed(29);
    for (int round = 0; round < 300; round++) {
        size_t found, last = 0;

        for (count = 0; count < 1 + (size_t)round % 60;)
            add((enum test_log_outcome)test_below(6),
                test_below(4) ? test_random() : UINT64_MAX - test_below(9));
        found = find();
        for (size_t i = 0; i < found; i++) {
            cr_assert_lt(changes[i].at, count);
            if (changes[i].after && i && changes[i - 1].after)
                cr_assert_gt(changes[i].at, last);
            last = changes[i].at;
        }
    }
}

/* outcomes.c: a test for every way in which a test can end. */
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(outcomes, passes)
{
    log_info("all is well");
}

Test(outcomes, passes_without_annotation)
{
}

TEST_LOG(outcomes, fails_an_assertion)
{
    cr_assert_eq(6 * 9, 42, "no answer");
}

Test(outcomes, fails_without_annotation)
{
    cr_assert_eq(6 * 9, 42, "no answer either");
}

TEST_LOG(outcomes, fails_two_expectations)
{
    cr_expect(false, "the first");
    cr_expect(false, "the second");
}

static int *volatile nowhere;

TEST_LOG(outcomes, segfaults)
{
    *nowhere = 1;
}

TEST_LOG(outcomes, aborts)
{
    abort();
}

TEST_LOG(outcomes, is_killed)
{
    raise(SIGKILL);
}

TEST_LOG(outcomes, is_terminated)
{
    raise(SIGTERM);
}

static void hang(void)
{
    for (;;)
        pause();
}

TEST_LOG(outcomes, hangs, .timeout = 1)
{
    hang();
}

TEST_LOG(outcomes, hangs_in_init, .timeout = 1, .init = hang)
{
}

TEST_LOG(outcomes, hangs_in_fini, .timeout = 1, .fini = hang)
{
}

TEST_LOG(outcomes, exits_with_3)
{
    exit(3);
}

TEST_LOG(outcomes, exits_at_once_with_4)
{
    _exit(4);
}

TEST_LOG(outcomes, exits_with_0)
{
    exit(0);
}

TEST_LOG(outcomes, exits_as_expected, .exit_code = 3)
{
    exit(3);
}

TEST_LOG(outcomes, does_not_exit_as_expected, .exit_code = 3)
{
}

TEST_LOG(outcomes, raises_as_expected, .signal = SIGTERM)
{
    raise(SIGTERM);
}

TEST_LOG(outcomes, does_not_raise_as_expected, .signal = SIGTERM)
{
}

TEST_LOG(outcomes, crashes_in_init, .init = abort)
{
}

TEST_LOG(outcomes, crashes_in_fini, .fini = abort)
{
}

static void fail(void)
{
    cr_assert(false, "in a fixture");
}

TEST_LOG(outcomes, fails_in_init, .init = fail)
{
}

static void leave(void)
{
    exit(5);
}

TEST_LOG(outcomes, exits_in_init, .init = leave)
{
}

TEST_LOG(outcomes, exits_in_fini, .fini = leave)
{
}

TEST_LOG(outcomes, fails_and_crashes_in_fini, .fini = abort)
{
    cr_assert(false, "before the fixture");
}

TEST_LOG(outcomes, crashes_at_exit)
{
    atexit(abort);
}

TEST_LOG(outcomes, is_skipped)
{
    cr_skip_test("no time today");
}

TEST_LOG(outcomes, is_skipped_silently)
{
    cr_skip_test();
}

TEST_LOG(outcomes, is_disabled, .disabled = true)
{
    abort();
}

TestSuite(unwanted, .disabled = true);

TEST_LOG(unwanted, is_disabled_with_its_suite)
{
    abort();
}

TEST_LOG(outcomes, warns)
{
    cr_log_warn("a warning alone fails nothing");
}

TheoryDataPoints(outcomes, holds) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 3, 4),
};

THEORY_LOG((int a, int b), outcomes, holds)
{
    cr_assert_neq(a, b);
}

TheoryDataPoints(outcomes, does_not_hold) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 1, 3),
};

THEORY_LOG((int a, int b), outcomes, does_not_hold)
{
    cr_assert_neq(a, b, "%d and %d", a, b);
}

ParameterizedTestParameters(outcomes, instance)
{
    static int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    return cr_make_param_array(int, numbers, 11);
}

PARAMETERIZED_TEST_LOG(int *number, outcomes, instance)
{
    log_info("trying %d", *number);
    cr_assert_neq(*number, 7, "instance %d", *number);
}

ParameterizedTestParameters(outcomes, no_instance)
{
    return cr_make_param_array(int, NULL, 0);
}

PARAMETERIZED_TEST_LOG(int *number, outcomes, no_instance)
{
    cr_assert_null(number);
}

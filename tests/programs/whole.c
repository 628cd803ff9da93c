/* whole.c: tests as Criterion's users write them. Only the tested code is
 * annotated. */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <criterion/theories.h>

#include <testlog/log.h>

static int twice(int number)
{
    trace_function(INFO, (number));
    log_info("twice");
    return number * 2;
}

/* ---- Fixtures ---- */

static void suite_init(void)
{
    puts("suite's init");
    log_info("suite's init");
}

static void suite_fini(void)
{
    log_info("suite's fini");
    puts("suite's fini");
}

static void test_init(void)
{
    puts("test's init");
}

static void test_fini(void)
{
    puts("test's fini");
}

TestSuite(fixtures, .init = suite_init, .fini = suite_fini);

Test(fixtures, of_suite_and_test, .init = test_init, .fini = test_fini)
{
    fprintf(stderr, "body\n");
    cr_expect_eq(twice(2), 4);
}

Test(fixtures, after_a_failure, .init = test_init, .fini = test_fini)
{
    trace_span(INFO, "left by an assertion");
    cr_assert_eq(twice(2), 5, "no five");
}

/* ---- Ends ---- */

Test(ends, passes)
{
}

Test(ends, reads_what_it_printed, .init = cr_redirect_stdout)
{
    printf("redirected");
    fflush(stdout);
    cr_assert_stdout_eq_str("redirected");
}

Test(ends, fails)
{
    cr_assert(0, "no luck");
}

static void fail(void)
{
    cr_assert(0, "in a fixture");
}

Test(ends, fails_in_init, .init = fail)
{
}

Test(ends, fails_in_fini, .fini = fail)
{
}

Test(ends, aborts)
{
    trace_span(INFO, "its last");
    printf("before it aborts"); /* no newline, no flush */
    abort();
}

static void hang(void)
{
    for (;;)
        pause();
}

Test(ends, hangs, .timeout = 1)
{
    hang();
}

Test(ends, hangs_in_init, .init = hang, .timeout = 1)
{
}

Test(ends, hangs_in_fini, .fini = hang, .timeout = 1)
{
}

Test(ends, raises_as_expected, .signal = SIGTERM)
{
    raise(SIGTERM);
}

Test(ends, does_not_raise, .signal = SIGTERM)
{
}

Test(ends, exits_as_expected, .exit_code = 3)
{
    exit(3);
}

Test(ends, exits_otherwise)
{
    exit(3);
}

static void leave(void)
{
    exit(4);
}

Test(ends, exits_in_init, .init = leave)
{
}

Test(ends, exits_in_fini, .fini = leave)
{
}

Test(ends, exits_with_0)
{
    exit(0);
}

Test(ends, aborts_in_init, .init = abort)
{
}

Test(ends, aborts_in_fini, .fini = abort)
{
}

Test(ends, aborts_at_exit)
{
    atexit(abort);
}

Test(ends, is_skipped)
{
    puts("before the skip");
    cr_skip_test("not today");
}

Test(ends, is_disabled, .disabled = true)
{
}

TestSuite(unwanted, .disabled = true);

Test(unwanted, is_disabled_with_its_suite)
{
}

/* ---- Parameters and theories ---- */

ParameterizedTestParameters(several, parameters)
{
    static int numbers[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10};

    return cr_make_param_array(int, numbers, 11);
}

ParameterizedTest(int *number, several, parameters)
{
    printf("number %d\n", *number);
    cr_assert_neq(twice(*number), 14, "instance %d", *number);
}

TheoryDataPoints(several, points) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 1, 3),
};

Theory((int a, int b), several, points)
{
    twice(a);
    cr_assert_neq(a, b, "%d and %d", a, b);
}

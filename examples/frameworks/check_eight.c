/* check_eight.c: eight tests of Check. */
#include "check_adapter.h"

#include <stdlib.h>

#include "eight.h"

START_TEST(passes)
{
    ck_assert_int_eq(eight_add(1, 2), 3);
}
END_TEST

START_TEST(fails)
{
    ck_assert_int_eq(eight_add(1, 2), 4);
}
END_TEST

START_TEST(skips)
{
    test_log_end(TEST_LOG_SKIPPED, "no device");
}
END_TEST

START_TEST(exits)
{
    eight_add(1, 2);
    exit(9);
}
END_TEST

START_TEST(crashes)
{
    eight_crash();
}
END_TEST

START_TEST(hangs)
{
    eight_hang();
}
END_TEST

START_TEST(forks)
{
    ck_assert_int_eq(eight_fork(), 0);
}
END_TEST

START_TEST(logs_from_a_thread)
{
    ck_assert_int_eq(eight_thread(), 0);
}
END_TEST

int main(void)
{
    const TTest *tests[] = {passes,  fails, skips, exits,
                            crashes, hangs, forks, logs_from_a_thread};
    Suite *suite = suite_create("eight");
    TCase *tests_of_suite = tcase_create("eight");
    SRunner *runner;
    int failed;

    test_log_prepare();
    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++)
        tcase_add_test(tests_of_suite, tests[i]);
    tcase_set_timeout(tests_of_suite, 1);
    suite_add_tcase(suite, tests_of_suite);
    runner = srunner_create(suite);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? 1 : 0;
}

/* check_plain.c: tests of Check without an adapter. */
#include <check.h>
#include <signal.h>
#include <stdlib.h>

START_TEST(passes)
{
}
END_TEST

START_TEST(fails)
{
    ck_assert_int_eq(1 + 1, 3);
}
END_TEST

START_TEST(crashes)
{
    raise(SIGSEGV);
}
END_TEST

int main(void)
{
    Suite *suite = suite_create("store");
    TCase *group = tcase_create("group");
    SRunner *runner = srunner_create(suite);
    int failed;

    tcase_add_test(group, passes);
    tcase_add_test(group, fails);
    tcase_add_test(group, crashes);
    suite_add_tcase(suite, group);
    srunner_run_all(runner, CK_NORMAL);
    failed = srunner_ntests_failed(runner);
    srunner_free(runner);
    return failed ? EXIT_FAILURE : EXIT_SUCCESS;
}

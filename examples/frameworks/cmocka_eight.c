/* cmocka_eight.c: eight tests of cmocka. Those that end or hold up the process
 * run if the argument names them; cmocka itself takes crashes for failures. */
#include "cmocka_adapter.h"

#include <stdlib.h>

#include "eight.h"

/* The state of all tests. */
static int set_up(void **state)
{
    static int three = 3;

    *state = &three;
    return 0;
}

TRACED_TEST(passes)
{
    assert_int_equal(eight_add(1, 2), *(int *)*state);
}

TRACED_TEST(fails)
{
    (void)state;
    assert_int_equal(eight_add(1, 2), 4);
}

TRACED_TEST(skips)
{
    (void)state;
    cmocka_why = "no device";
    skip();
}

TRACED_TEST(exits)
{
    (void)state;
    eight_add(1, 2);
    exit(9);
}

TRACED_TEST(crashes)
{
    (void)state;
    eight_crash();
}

TRACED_TEST(hangs)
{
    (void)state;
    eight_hang();
}

TRACED_TEST(forks)
{
    (void)state;
    assert_int_equal(eight_fork(), 0);
}

TRACED_TEST(logs_from_a_thread)
{
    (void)state;
    assert_int_equal(eight_thread(), 0);
}

int main(int argc, char **argv)
{
    const struct CMUnitTest returning[] = {
        traced_unit_test(passes), traced_unit_test(fails),
        traced_unit_test(skips),  traced_unit_test(crashes),
        traced_unit_test(forks),  traced_unit_test(logs_from_a_thread),
    };
    const struct CMUnitTest others[] = {
        traced_unit_test(exits),
        traced_unit_test(hangs),
    };

    if (argc == 1)
        return cmocka_run_group_tests_name("eight", returning, set_up, NULL);
    cmocka_set_test_filter(argv[1]);
    return cmocka_run_group_tests_name("eight", others, NULL, NULL);
}

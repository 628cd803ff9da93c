/* cmocka_plain.c: tests of cmocka without an adapter. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static void passes(void **state)
{
    (void)state;
}

static void fails(void **state)
{
    (void)state;
    assert_int_equal(1 + 1, 3);
}

static void skips(void **state)
{
    (void)state;
    skip();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(passes),
        cmocka_unit_test(fails),
        cmocka_unit_test(skips),
    };

    const struct CMUnitTest more[] = {cmocka_unit_test(passes)};

    return cmocka_run_group_tests_name("store", tests, NULL, NULL) +
           cmocka_run_group_tests_name("more", more, NULL, NULL);
}

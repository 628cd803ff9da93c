/* cmocka_groups.c: groups of one name, names of tests that XML does not allow,
 * and cmocka's older functions. WAY says what goes wrong; main drops it. */
#define CMOCKA_NO_DEPRECATION_WARNINGS
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

static int is(const char *way)
{
    const char *given = getenv("WAY");

    return given && !strcmp(given, way);
}

static void passes(void **state)
{
    (void)state;
}

static void may_fail(void **state)
{
    int i[] = {0}, a[] = {is("fails") ? 0 : 2};

    (void)state;
    assert_true(a[i[0]] > 1);
    if (is("exits"))
        _exit(0);
}

static int set_up(void **state)
{
    (void)state;
    if (is("group fails"))
        fail_msg("no server");
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {{"a < \"b\"", passes, NULL, NULL, NULL}};
    const struct CMUnitTest more[] = {cmocka_unit_test(may_fail)};
    const UnitTest older[] = {unit_test(passes), unit_test(may_fail)};

    if (getenv("OLDER"))
        return run_tests(older);
    cmocka_run_group_tests_name("tests", tests, NULL, NULL);
    cmocka_run_group_tests_name("tests", more, set_up, NULL);
    cmocka_run_group_tests_name("net/io", tests, NULL, NULL);
    return 0;
}

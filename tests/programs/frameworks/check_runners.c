/* check_runners.c: two runners of Check. OWN names the reports that the program
 * writes itself, WAY what goes wrong; main drops it. */
#include <check.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static int is(const char *variable, const char *part)
{
    const char *given = getenv(variable);

    return given && strstr(given, part);
}

START_TEST(passes)
{
}
END_TEST

START_TEST(may_fail)
{
    ck_assert_int_eq(is("WAY", "fails"), 0);
    if (is("WAY", "exits"))
        _exit(0);
}
END_TEST

static SRunner *make_runner(const char *name)
{
    Suite *suite = suite_create(name);
    TCase *group = tcase_create("group");
    SRunner *runner = srunner_create(suite);

    tcase_add_test(group, passes);
    if (!strcmp(name, "first"))
        tcase_add_test(group, may_fail);
    suite_add_tcase(suite, group);
    srunner_set_fork_status(runner, is("WAY", "exits") ? CK_NOFORK : CK_FORK);
    if (is("OWN", "xml"))
        srunner_set_xml(runner, "own.xml");
    if (is("OWN", "tap"))
        srunner_set_tap(runner, "own.tap");
    return runner;
}

int main(void)
{
    SRunner *first = make_runner("first"), *second = make_runner("second");

    srunner_run_all(first, CK_NORMAL);
    srunner_run_all(second, CK_NORMAL);
    srunner_free(first);
    srunner_free(second);
    return EXIT_SUCCESS;
}

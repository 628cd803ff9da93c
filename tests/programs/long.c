/* long.c: failures with very long messages. */
#include <stdlib.h>
#include <string.h>

#include <testlog/test_log.h>

#include <criterion/parameterized.h>
#include <criterion/redirect.h>
#include <criterion/theories.h>

enum { DEFAULT_SIZE = 3 << 20 };

/* Returns "begin", many letters and "end"; LONG_SIZE bytes in all. */
static char *text_of(char letter)
{
    const char *asked = getenv("LONG_SIZE");
    size_t size = asked ? strtoul(asked, NULL, 10) : DEFAULT_SIZE;
    char *text = malloc(size + 1);

    memset(text, letter, size);
    memcpy(text, "begin", 5);
    memcpy(text + size - 3, "end", 4);
    return text;
}

TEST_LOG(long, message)
{
    cr_assert(0, "%s", text_of('x'));
}

TEST_LOG(long, expectations)
{
    for (int i = 0; i < 3; i++)
        cr_expect(0, "%d %s", i, text_of('x'));
}

TEST_LOG(long, strings)
{
    cr_assert_str_eq(text_of('x'), text_of('y'));
}

TEST_LOG(long, skip)
{
    cr_skip_test("%s", text_of('x'));
}

TEST_LOG(long, log)
{
    cr_log_info("%s", text_of('x'));
}

TEST_LOG(long, redirected)
{
    cr_redirect_stderr();
    cr_assert(0, "%s", text_of('x'));
}

static void fail(void)
{
    cr_assert(0, "%s", text_of('x'));
}

TEST_LOG(long, in_setup, .init = fail)
{
}

TEST_LOG(long, in_teardown, .fini = fail)
{
}

ParameterizedTestParameters(long, parameter)
{
    static int numbers[] = {1, 2};

    return cr_make_param_array(int, numbers, 2);
}

PARAMETERIZED_TEST_LOG(int *number, long, parameter)
{
    cr_assert(*number == 3, "%s", text_of('x'));
}

TheoryDataPoints(long, theory) = {DataPoints(int, 1, 2)};

THEORY_LOG((int number), long, theory)
{
    cr_assert(number == 3, "%s", text_of('x'));
}

Test(long, not_annotated)
{
    cr_assert(0, "%s", text_of('x'));
}

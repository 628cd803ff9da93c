/* linked.c: a few tests, to be linked in many ways. LINKED_LIBRARY: only the
 * tested code; LINKED_TESTS: only the tests. */
#include <testlog/test_log.h>

int linked_work(int number);

#ifndef LINKED_TESTS
int linked_work(int number)
{
    trace_function(INFO, (number));
    log_info("works on %d", number);
    log_trace("at every level");
    return number * 2;
}
#endif

#ifndef LINKED_LIBRARY
TEST_LOG(linked, passes)
{
    cr_assert_eq(linked_work(21), 42);
}

TEST_LOG(linked, fails)
{
    trace_span(INFO, "outer");
    cr_assert_eq(linked_work(3), 7, "3 is no half of 7");
}

Test(linked, is_not_annotated)
{
    cr_assert_eq(linked_work(4), 8);
}

ParameterizedTestParameters(linked, instance)
{
    static int numbers[] = {1, 2};

    return cr_make_param_array(int, numbers, 2);
}

PARAMETERIZED_TEST_LOG(int *number, linked, instance)
{
    cr_assert_eq(linked_work(*number), 2 * *number);
}
#endif

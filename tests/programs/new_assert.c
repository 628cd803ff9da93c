/* new_assert.c: assertions in Criterion's newer style. */
#include <testlog/test_log.h>

#include <criterion/new/assert.h>

TEST_LOG(new_assert, fails)
{
    int legs = 6;

    trace_span(INFO, "spider", (legs));
    cr_assert(eq(int, legs, 8));
}

TEST_LOG(new_assert, fails_in_a_text)
{
    cr_assert(eq(str, "one\ntwo\n", "one\n2\n"));
}

TEST_LOG(new_assert, passes)
{
    cr_assert(eq(int, 8, 8));
}

/* new_assert.c: assertions in Criterion's newer style. */
#include <testlog/test_log.h>

#include <criterion/new/assert.h>
#include <criterion/theories.h>

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

TEST_LOG(new_assert, fails_twice)
{
    for (int legs = 6; legs < 8; legs++)
        cr_expect(eq(int, legs, 8), "not a spider");
}

TheoryDataPoints(new_assert, does_not_hold) = {
    DataPoints(int, 1, 2),
    DataPoints(int, 3, 4),
};

THEORY_LOG((int one, int other), new_assert, does_not_hold)
{
    cr_assert(lt(int, one, 2));
    cr_assert(other < 4, "too large");
}

/* failures_new_test.c: a failing assertion in Criterion's newer style.
 *
 * <criterion/new/assert.h> redefines cr_assert, so it is included after
 * test_log.h, in a separate file.
 */
#include <testlog/test_log.h>

#include <criterion/new/assert.h>

TEST_LOG(failures_new, assert_shows_the_difference)
{
    int legs = 6, expected = 8;

    trace_span(INFO, "spider", (legs));
    cr_assert(eq(int, legs, expected));
}

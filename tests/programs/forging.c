/* forging.c: a test whose message looks like another assertion. */
#include <testlog/test_log.h>

TEST_LOG(forging, fails)
{
    cr_assert_fail("first\nother.c:9: forged\n");
}

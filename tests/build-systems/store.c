/* store.c: tests of Criterion, for each build system. */
#include <criterion/criterion.h>
#include <testlog/test_log.h>

TEST_LOG(store, passes)
{
    log_info("stored %d", 1);
}

TEST_LOG(store, fails)
{
    log_info("about to fail");
    cr_assert(0, "on purpose");
}

TEST_LOG(store, skips)
{
    cr_skip_test("no disk");
}

Test(store, has_a_limit, .timeout = 3)
{
}

Test(store, is_off, .disabled = true)
{
}

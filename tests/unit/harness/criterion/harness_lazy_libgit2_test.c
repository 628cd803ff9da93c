/* harness_lazy_libgit2_test.c: Criterion's libgit2 starts late, a test's own
 * immediately.
 */
#include "harness/session.h"

#include "harness/criterion/logger.h"

#include <criterion/criterion.h>

/* libgit2's own functions, which ours replace. */
static int (*started)(void), (*stopped)(void);

int git_libgit2_shutdown(void);

static void find(void)
{
    test_log_next_function("git_libgit2_init", &started);
    test_log_next_function("git_libgit2_shutdown", &stopped);
}

TestSuite(harness_lazy_libgit2, .init = find);

Test(harness_lazy_libgit2, starts_nothing_without_a_diff)
{
    cr_expect_eq(started(), 1);
    cr_expect_eq(stopped(), 0);
}

Test(harness_lazy_libgit2, counts_criterions_start_for_a_test)
{
    cr_expect_eq(git_libgit2_init(), 2);
    cr_expect_eq(started(), 3);
    cr_expect_eq(stopped(), 2);
    cr_expect_eq(git_libgit2_shutdown(), 1);
}

Test(harness_lazy_libgit2, does_not_stop_before_a_start)
{
    cr_expect_eq(git_libgit2_shutdown(), 0);
    cr_expect_eq(started(), 1);
}

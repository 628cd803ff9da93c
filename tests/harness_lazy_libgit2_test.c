/* harness_lazy_libgit2_test.c: Criterion's libgit2 starts late, a test's own at
 * once.
 */
#include "harness/runner/runner.h"
#include "harness/session.h"

#include <criterion/criterion.h>

/* libgit2's own, behind ours. */
static int (*started)(void), (*stopped)(void);

int git_libgit2_shutdown(void);

static void find(void)
{
    test_log_next_function("git_libgit2_init", &started);
    test_log_next_function("git_libgit2_shutdown", &stopped);
}

TestSuite(harness_lazy_libgit2, .init = find);

Test(harness_lazy_libgit2, a_test_without_a_diff_starts_nothing)
{
    cr_expect_eq(started(), 1);
    cr_expect_eq(stopped(), 0);
}

Test(harness_lazy_libgit2, a_test_that_uses_libgit2_is_told_of_criterions_start)
{
    cr_expect_eq(git_libgit2_init(), 2);
    cr_expect_eq(started(), 3);
    cr_expect_eq(stopped(), 2);
    cr_expect_eq(git_libgit2_shutdown(), 1);
}

Test(harness_lazy_libgit2, what_was_not_started_is_not_stopped)
{
    cr_expect_eq(git_libgit2_shutdown(), 0);
    cr_expect_eq(started(), 1);
}

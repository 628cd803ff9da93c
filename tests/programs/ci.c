/* ci.c: tests with names, reasons and output that are hard to parse.
 * e2e_results_test.c expects their line numbers. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <testlog/test_log.h>

static const char forged[] = "\n::error file=x.c,line=1::forged\n"
                             "##[error]forged too\n"
                             "::add-mask::forged\n";

TEST_LOG(ci, passes)
{
    printf("all is well\n");
}

TEST_LOG(ci, fails_and_forges)
{
    printf("%s", forged);
    log_error("%s", forged);
    cr_assert(false, "50%% of a, b: c # d \\ e%s", forged);
}

TEST_LOG(ci, prints_any_bytes)
{
    for (int i = 1; i < 256; i++)
        putchar(i);
    cr_assert(false, "\033[1m\377 ]]> <&>\" '");
}

TEST_LOG(ci, is_skipped)
{
    cr_skip_test("issue #7 \\ later\nok 9 - forged");
}

TEST_LOG(ci, crashes)
{
    abort();
}

TEST_LOG(ci, hangs, .timeout = 0.2)
{
    for (;;)
        ;
}

/* With CI_WAIT, waits until it is killed. */
TEST_LOG(ci, waits)
{
    while (getenv("CI_WAIT"))
        pause();
}

/* Not annotated: its output is not captured. */
Test(ci_plain, forges)
{
    printf("%s", forged);
    fprintf(stderr, "%s an open line", forged);
    fflush(NULL);
}

Test(ci_plain, is_disabled, .disabled = true)
{
}

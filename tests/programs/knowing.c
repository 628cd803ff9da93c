/* knowing.c: tests for settings of known failures. */
#include <stdlib.h>
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(knowing, passes)
{
    cr_expect(1);
}

TEST_LOG(knowing, fails)
{
    cr_expect(0, "as always");
}

TEST_LOG(knowing, crashes)
{
    abort();
}

TEST_LOG(knowing, hangs, .timeout = 0.3)
{
    for (;;)
        pause();
}

TEST_LOG(knowing, declares)
{
    test_log_known_failure("issue 7");
    cr_expect(0);
}

TEST_LOG(knowing, declares_and_crashes)
{
    test_log_known_failure("issue 8");
    abort();
}

TEST_LOG(knowing, declares_and_passes)
{
    test_log_known_failure("issue 9");
}

Test(knowing, declares_without_annotation)
{
    test_log_known_failure("issue 10");
    cr_expect(0);
}

/* Too late. */
TEST_LOG(knowing, fails_first)
{
    cr_assert(0);
    test_log_known_failure("never said");
}

/* alone.c: a program that must run alone, and leaves a file. */
#include <stdlib.h>

#include <testlog/test_log.h>

TEST_LOG_SERIAL;

TEST_LOG(alone, runs_alone)
{
    cr_assert_eq(system("touch ran"), 0);
}

/* alone.c: a program that must run alone. */
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG_SERIAL;

TEST_LOG(alone, runs_alone)
{
    cr_assert(access("running", F_OK), "another program is running");
}

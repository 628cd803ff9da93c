/* times.c: a test that takes a second. */
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(times, sleeps)
{
    sleep(1);
}

/* slow.c: a test that waits between two lines: for the file SLOW_UNTIL, a
 * minute at most, if that is set. */
#include <stdlib.h>
#include <unistd.h>

#include <testlog/test_log.h>

static void wait_between(const char *file)
{
    if (!file)
        usleep(700000);
    for (int i = 0; file && i < 6000 && access(file, F_OK); i++)
        usleep(10000);
}

TEST_LOG(slow, logs_and_waits)
{
    trace_span(INFO, "waiting", ("n", 1));

    trace_counter("depth", 3);
    trace_signpost("phase", "%s", "begins");
    log_info("one");
    wait_between(getenv("SLOW_UNTIL"));
    log_info("two");
}

/* slow.c: a test that waits between two lines. */
#include <unistd.h>

#include <testlog/test_log.h>

TEST_LOG(slow, logs_and_waits)
{
    trace_span(INFO, "waiting", ("n", 1));

    trace_counter("depth", 3);
    trace_signpost("phase", "%s", "begins");
    log_info("one");
    usleep(700000);
    log_info("two");
}

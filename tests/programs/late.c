/* late.c: spans whose values change after they began. */
#include <testlog/test_log.h>

static void request(int id, int status)
{
    trace_span(INFO, "request", (id), ("status", trace_empty()));

    log_debug("asked");
    trace_record(trace_span_current(), ("status", 100));
    trace_record(trace_span_current(), (status));
    log_debug("answered");
}

TEST_LOG(late, answers)
{
    request(1, 200);
    request(2, 500);
}

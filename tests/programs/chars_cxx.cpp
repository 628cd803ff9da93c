// chars_cxx.cpp: characters as values.
#include <testlog/test_log.h>

TEST_LOG(chars, are_shown)
{
    signed char small = -3;
    unsigned char byte = 7;

    trace_span(INFO, "late", ("c", trace_empty()));

    trace_event(INFO, "literal", ("c", 'x'));
    trace_event(INFO, "odd", ("quote", '"'), ("end", '\0'));
    trace_event(INFO, "bytes", (small), (byte));
    trace_record(trace_span_current(), ("c", 'z'));
    log_info("recorded");
}

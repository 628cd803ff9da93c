/* faulty.c: tests with different outcomes, which no fault must change. */
#include <stdlib.h>

#include <testlog/test_log.h>

TEST_LOG(faulty, passes)
{
    char name[] = "a name";

    trace_span(INFO, "outer", (name), ("late", trace_empty()));
    for (int i = 0; i < 40; i++)
        trace_span_begin(DEBUG, "deep", ("i", i));
    for (int i = 0; i < 500; i++)
        log_info("line %d of %s", i, name);
    trace_record(trace_span_current(), ("late", 1));
    log_info("%ls", L"formatted at once");
}

TEST_LOG_DEFAULT("debug", faulty, fails)
{
    log_error("bad");
    cr_assert_eq(1, 2, "one is not two");
}

TEST_LOG(faulty, crashes)
{
    log_warn("soon");
    abort();
}

TEST_LOG(faulty, expects)
{
    log_info("seen");
    log_expect_count(1, "seen");
}

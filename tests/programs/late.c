/* late.c: spans that change after they began: their values, their threads. */
#include <pthread.h>

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

static void *work(void *context)
{
    struct trace_span_ref *span = context;

    trace_span_enter(*span);
    log_debug("on another thread");
    return NULL;
}

TEST_LOG(late, hands_over)
{
    struct trace_span_ref span = trace_span_begin(INFO, "handed over");
    pthread_t thread;

    cr_assert_eq(pthread_create(&thread, NULL, work, &span), 0);
    cr_assert_eq(pthread_join(thread, NULL), 0);
    trace_span_end(span);
}

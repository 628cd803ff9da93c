/* nesting.c: spans that are entered again or overlap, and calls of a driver
 * within others. */
#include <pthread.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "../../trace/device.h"

static void put_call(unsigned kind, uint64_t begin, uint64_t ticks,
                     const char *name)
{
    const struct trace_activity activity = {
        .at = {.begin = begin,
               .thread = (uint32_t)getpid(),
               .kind = (uint16_t)kind},
        .end = begin + ticks,
        .name = name,
    };

    trace_device_put(&activity);
}

TEST_LOG(nesting, calls_a_driver)
{
    trace_span(INFO, "launch");
    uint64_t begin = trace_device_host()->now();

    usleep(2000);
    put_call(TRACE_ACTIVITY_RUNTIME, begin, 90000, "cudaLaunchKernel");
    put_call(TRACE_ACTIVITY_DRIVER, begin + 10000, 60000, "cuLaunchKernel");
    put_call(TRACE_ACTIVITY_DRIVER, begin + 20000, 10000, "cuCtxGetCurrent");
}

static void *work(void *span)
{
    trace_span_enter(*(struct trace_span_ref *)span);
    trace_span(DEBUG, "work");

    usleep(1000);
    return NULL;
}

TEST_LOG(nesting, enters_spans_again)
{
    struct trace_span_ref span = trace_span_new(INFO, "request", ("id", 7));
    pthread_t thread;

    for (int i = 0; i < 3; i++) {
        trace_span_enter(span);
        trace_span(DEBUG, "step", (i));
        {
            trace_span_enter(span);
            trace_span(DEBUG, "deeper");
            usleep(300);
        }
    }
    cr_assert_eq(pthread_create(&thread, NULL, work, &span), 0);
    pthread_join(thread, NULL);
    trace_span_end(span);
}

TEST_LOG(nesting, overlaps)
{
    struct trace_span_ref first = trace_span_begin(INFO, "first"), second;

    usleep(500);
    second = trace_span_begin(INFO, "second");
    usleep(500);
    trace_span_end(first);
    usleep(500);
    trace_span_end(second);
}

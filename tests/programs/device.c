/* device.c: a test with a back end that makes up GPU activities, some of which
 * are reported late. */
#include <stdlib.h>
#include <unistd.h>

#include <testlog/test_log.h>

#include "../../trace/device.h"

static uint64_t duration = 1000; /* ticks */

static void put(unsigned kind, uint64_t begin, uint32_t span, unsigned level,
                const char *name)
{
    static const char *const names[] = {"device"};
    struct trace_value values[] = {trace_text_("(4, 64, 1)"), trace_u64_(7),
                                   trace_text_(name), trace_u64_(0)};
    struct trace_activity activity = {
        .at = {.begin = begin,
               .thread = (uint32_t)getpid(),
               .context = 1,
               .stream = 7,
               .correlation = 1,
               .kind = (uint16_t)kind,
               .on_device = kind == TRACE_ACTIVITY_KERNEL,
               .launched = kind != TRACE_ACTIVITY_RUNTIME},
        .end = begin + duration,
        .span = span,
        .level = level,
        .name = name,
        .fields = names,
        .field_count = 1,
        .values = values + (kind == TRACE_ACTIVITY_RUNTIME ? 3 : 0),
    };

    values[0].type = values[2].type = TRACE_TYPE_DISPLAY;
    trace_device_put(&activity);
}

static uint64_t call;
static uint32_t step_span;

/* The kernel is reported at a flush or at the end of the test. */
static void flush(bool last)
{
    (void)last;
    if (step_span)
        put(TRACE_ACTIVITY_KERNEL, call + 20000, step_span, 0, "identity_f16");
    step_span = 0;
}

static const struct trace_backend backend = {.flush = flush};

static void launch(void)
{
    trace_span(INFO, "step", ("i", 3));
    trace_device_host()->attach(&backend);
    trace_device_note("gpu.state", "on");
    trace_device_note("gpu.device.0", "NVIDIA H200");
    step_span = trace_device_host()->current();
    log_info("launching");
    call = trace_device_host()->now();
    put(TRACE_ACTIVITY_RUNTIME, call, step_span, 0, "cudaLaunchKernel");
    put(TRACE_ACTIVITY_COMPILE, call + 100, step_span, 0, "identity_f16");
}

TEST_LOG(device, launches)
{
    launch();
    usleep(400000);
    log_info("waited");
    usleep(400000); /* until a follower has seen it */
}

TEST_LOG(device, fails)
{
    launch();
    put(TRACE_ACTIVITY_COMPILE, call + 200, step_span, TRACE_LEVEL_ERROR,
        "broken");
    cr_assert(0, "it does not work");
}

TEST_LOG(device, expects)
{
    launch();
    log_expect_event("gpu::launch", "{kernel.name=identity_f16}");
    log_expect_count(1, "Executing kernel");
    log_expect_contains("step{i=3}:launch{count=(4, 64, 1) stream=7 ");
}

static void flush_slowly(bool last)
{
    if (last)
        sleep(4);
}

static const struct trace_backend slow = {.flush = flush_slowly};

/* The body has ended long before the limit, the device has not. */
TEST_LOG(device, is_slow, .timeout = 3)
{
    trace_device_host()->attach(&slow);
}

TEST_LOG(device, is_slow_at_exit, .timeout = 3)
{
    trace_device_host()->attach(&slow);
    exit(0);
}

TEST_LOG(device, waits)
{
    trace_span(INFO, "step");
    uint64_t begin = trace_device_host()->now();

    trace_device_host()->attach(&backend);
    duration = 10000000;
    for (uint64_t i = 0; i < 20; i++)
        put(TRACE_ACTIVITY_RUNTIME, begin + i * duration,
            trace_device_host()->current(), 0, "cudaMalloc");
}

/* The error of a kernel comes back from a later call. */
TEST_LOG(device, faults)
{
    static const char *const names[] = {"result", "error"};
    struct trace_value values[] = {trace_i64_(700),
                                   trace_text_("cudaErrorIllegalAddress")};
    struct trace_activity failed = {
        .at = {.thread = (uint32_t)getpid(), .kind = TRACE_ACTIVITY_RUNTIME},
        .level = TRACE_LEVEL_WARN,
        .name = "cudaDeviceSynchronize",
        .fields = names,
        .field_count = 2,
        .values = values,
    };

    launch();
    step_span = 0; /* the kernel has no record */
    values[1].type = TRACE_TYPE_DISPLAY;
    failed.at.begin = failed.end = call + 50000;
    trace_device_put(&failed);
    cr_assert(0, "wrong sum");
}

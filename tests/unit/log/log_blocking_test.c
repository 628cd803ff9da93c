/* log_blocking_test.c: finds what made the host wait for devices. */
#include <criterion/criterion.h>
#include <string.h>

#include "tests/support/support.h"

#include "log/devices/blocking.h"
#include "trace/base/clock.h"
#include "trace/read/reader_parts.h"

enum { THREAD = 5 };
#define MS UINT64_C(1000000)

static uint64_t now; /* of the next activity */

/* The clock counts nanoseconds. */
static void begin(void)
{
    test_folder();
    trace_clock_choose();
    trace_clock_chosen = TRACE_CLOCK_MONOTONIC;
    test_record();
    now = trace_device_host()->now();
}

TestSuite(log_blocking, .init = begin, .timeout = 60);

static void put_call(unsigned kind, const char *name, uint64_t ns)
{
    const struct trace_activity call = {
        .at = {.begin = now, .thread = THREAD, .kind = (uint16_t)kind},
        .end = now + ns,
        .span = trace_device_host()->current(),
        .name = name,
    };

    trace_device_put(&call);
    now += ns;
}

static void call(const char *name, uint64_t ns)
{
    put_call(TRACE_ACTIVITY_RUNTIME, name, ns);
}

static void copy(const char *memory, uint64_t ns)
{
    static const char *const fields[] = {"bytes", "memory"};
    const struct trace_value values[] = {trace_u64_(4096), trace_text_(memory)};
    const struct trace_activity activity = {
        .at = {.begin = now, .kind = TRACE_ACTIVITY_MEMCPY, .on_device = 1},
        .end = now + ns,
        .name = "Memcpy HtoD",
        .fields = fields,
        .field_count = 2,
        .values = values,
    };

    trace_device_put(&activity);
    now += ns;
}

/* Ends the recording, and expects these sentences, a line each. */
static void expect(const char *sentences)
{
    struct trace_reader *reader = test_read();
    struct log_blockings found;
    struct trace_text text = {0};

    cr_assert_eq(log_blocking_find(&found, reader), 0);
    for (size_t i = 0; i < found.count; i++) {
        const struct log_blocking *one = &found.all[i];
        struct trace_entry entry;

        trace_text_printf(&text, "%s\n", one->text.data);
        cr_expect_gt(one->to, one->from);
        cr_assert(trace_reader_entry(reader, one->place,
                                     trace_reader_thread(reader, 0), &entry));
        cr_expect(entry.time == one->from || entry.time == one->to);
    }
    cr_expect_str_eq(text.data ? text.data : "", sentences, "%s", text.data);
    trace_text_free(&text);
    log_blockings_free(&found);
}

Test(log_blocking, finds_copies_of_pageable_memory)
{
    copy("pageable", 40 * MS);
    copy("pinned", 500 * MS);
    copy("pageable", 60 * MS);
    expect("2 copies of pageable memory, 100ms in all: pinned memory "
           "(cudaMallocHost) need not block the host\n");
}

Test(log_blocking, finds_calls_that_wait_for_their_copy)
{
    call("cudaMemcpy", 50 * MS);
    call("cudaMemcpyAsync", 50 * MS);
    call("cudaMemset", 20 * MS);
    expect("cudaMemcpy was called 1 time, 50.0ms in all: the host waits for "
           "each; cudaMemcpyAsync need not\n"
           "cudaMemset was called 1 time, 20.0ms in all: the host waits for "
           "each; cudaMemsetAsync need not\n");
}

/* The runtime calls the driver. */
Test(log_blocking, counts_nested_calls_once)
{
    call("cudaMemcpy", 50 * MS);
    now -= 40 * MS;
    put_call(TRACE_ACTIVITY_DRIVER, "cuMemcpyHtoD", 30 * MS);
    now += 10 * MS;
    expect("cudaMemcpy was called 1 time, 50.0ms in all: the host waits for "
           "each; cudaMemcpyAsync need not\n");
}

Test(log_blocking, finds_what_a_span_repeats)
{
    static const struct trace_site site =
        TEST_SITE(SPAN, INFO, "step", "m", NULL, 0);
    static struct trace_site outer, inner;
    struct trace_span_ref span;

    outer = inner = site;
    inner.name = "once";
    span = trace_span_begin_(&outer, 0, NULL);
    for (int i = 0; i < 20; i++) {
        call("cudaMalloc", 2 * MS);
        call("cudaStreamSynchronize", 3 * MS);
        call("cudaFree", 1 * MS);
        call("cudaLaunchKernel", 1 * MS);
    }
    trace_span_end(span);
    span = trace_span_begin_(&inner, 0, NULL);
    call("cudaDeviceSynchronize", 100 * MS);
    trace_span_end(span);
    expect("cudaStreamSynchronize was called 20 times in step, 60.0ms in all: "
           "wait once, after the loop\n"
           "cudaMalloc was called 20 times in step, 40.0ms in all: allocate "
           "before the loop, or with cudaMallocAsync\n"
           "cudaFree was called 20 times in step, 20.0ms in all: release after "
           "the loop, or with cudaFreeAsync\n");
}

Test(log_blocking, leaves_out_what_takes_no_time)
{
    call("cudaLaunchKernel", 5000 * MS);
    copy("pageable", 1 * MS);
    call("cudaMemcpy", 1 * MS);
    expect("");
}

/* A loop may repeat a span that repeats its calls. */
Test(log_blocking, finds_few_things_among_many)
{
    static struct trace_site sites[50];
    struct log_blockings found;

    for (size_t i = 0; i < sizeof(sites) / sizeof(*sites); i++) {
        struct trace_span_ref span;

        sites[i] =
            (struct trace_site)TEST_SITE(SPAN, INFO, "step", "m", NULL, 0);
        span = trace_span_begin_(&sites[i], 0, NULL);
        for (int k = 0; k < 10; k++)
            call("cudaMalloc", (i + 1) * MS);
        trace_span_end(span);
    }
    cr_assert_eq(log_blocking_find(&found, test_read()), 0);
    cr_expect_eq(found.count, 16);
    cr_expect_eq(found.all[0].time / MS, 500);
    log_blockings_free(&found);
}

static void work(uint32_t device, uint64_t at, uint64_t ns)
{
    const struct trace_activity kernel = {
        .at = {.begin = now + at,
               .kind = TRACE_ACTIVITY_KERNEL,
               .device = device,
               .on_device = 1},
        .end = now + at + ns,
        .name = "kernel",
    };

    trace_device_put(&kernel);
}

Test(log_blocking, finds_devices_that_are_idle)
{
    work(0, 0, 1 * MS);
    work(0, 500000, 1 * MS);
    work(0, 3 * MS, 1 * MS);
    work(0, 9 * MS, 1 * MS);
    work(1, 0, 5 * MS);
    work(1, 9 * MS, 1 * MS);
    expect("GPU 0 was idle for 65.0 % of the time between its first and last "
           "work\n");
}

Test(log_blocking, finds_nothing_without_devices)
{
    expect("");
}

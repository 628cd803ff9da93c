/* cupti_resources_test.c: what there is of devices, and how fast ticks are. */
#include <criterion/criterion.h>
#include <time.h>

#include "devices.h"

TestSuite(cupti_resources, .init = devices_init);

Test(cupti_resources, devices_contexts_and_streams_are_noted)
{
    struct trace_reader *reader;

    devices_play("plain");
    devices_begin();
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "device.0"), "NVIDIA H200");
    cr_expect_str_eq(devices_meta(reader, "device.0.compute_capability"),
                     "9.0");
    cr_expect_str_eq(devices_meta(reader, "device.0.memory"), "161061273600");
    cr_expect_str_eq(devices_meta(reader, "device.0.l2"), "52428800");
    cr_expect_str_eq(devices_meta(reader, "device.0.clock_khz"), "1980000");
    cr_expect_str_eq(devices_meta(reader, "device.0.multiprocessors"), "132");
    cr_expect_str_eq(devices_meta(reader, "context.1"), "device 0");
    cr_expect_str_eq(devices_meta(reader, "stream.1.7"), "priority 0");
    trace_reader_close(reader);
}

/* ---- Time ---- */

static uint64_t ticks = 5000;

static uint64_t now(void)
{
    return ticks;
}

static const struct trace_device_host host = {.now = now};

/* Ticks are not always ns. */
Test(cupti_resources, the_pace_of_ticks_is_measured)
{
    struct timespec time = {0, 20000000};

    cupti.host = &host;
    cr_expect_eq(cupti_ns(1000), 1000, "before it is known");
    cupti_pace();
    nanosleep(&time, NULL);
    ticks += 1000000; /* in 20 ms or a little more */
    cupti_pace();
    cr_expect_geq(cupti_ns(1000000), 20000000);
}

Test(cupti_resources, a_clock_of_ns_is_not_measured)
{
    struct timespec moment;

    clock_gettime(CLOCK_MONOTONIC, &moment);
    ticks = (uint64_t)moment.tv_sec * 1000000000 + (uint64_t)moment.tv_nsec;
    cupti.host = &host;
    cupti_pace();
    ticks += 1;
    cupti_pace();
    cr_expect_eq(cupti_ns(12345678), 12345678);
}

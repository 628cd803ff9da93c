/* cupti_resources_test.c: notes devices, contexts and streams as metadata. */
#include <criterion/criterion.h>

#include "devices.h"

TestSuite(cupti_resources, .init = devices_init);

Test(cupti_resources, notes_devices_contexts_and_streams)
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

/* devices_activity_test.c: what was recorded of a device becomes what an
 * independent reader makes of it. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "devices.h"

TestSuite(devices_activity, .init = devices_init);

static char *expected(const char *fixture)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/playback/%s.expect", TESTS_DIR, fixture);
    return test_load(path, NULL);
}

/* Plays a fixture; `reader` is open afterwards. */
static char *played(const char *fixture, struct trace_reader **reader)
{
    devices_play(fixture);
    devices_begin();
    *reader = test_read();
    return devices_lines(*reader);
}

static void expect_as_the_oracle(const char *fixture)
{
    struct trace_reader *reader;
    char *lines = played(fixture, &reader);
    char *right = expected(fixture);

    cr_expect_str_eq(lines, right);
    cr_expect_str_eq(devices_meta(reader, "lost"), "0");
    cr_expect_str_eq(devices_meta(reader, "orphans"), "0");
    cr_expect_str_eq(devices_meta(reader, "undecoded"), "0");
    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), 0,
                 "nothing is missing");
    free(right);
    free(lines);
    trace_reader_close(reader);
}

Test(devices_activity, plain)
{
    expect_as_the_oracle("plain");
}

Test(devices_activity, graph)
{
    expect_as_the_oracle("graph");
}

Test(devices_activity, jit)
{
    expect_as_the_oracle("jit");
}

/* Device's records come before their calls. */
Test(devices_activity, the_order_of_buffers_matters_not)
{
    devices_set("REVERSE", "1");
    expect_as_the_oracle("plain");
}

Test(devices_activity, what_comes_in_an_earlier_round_waits)
{
    struct trace_reader *reader;
    char *lines, *right = expected("jit");

    devices_set("REVERSE", "1");
    devices_set("LATE", "1");
    devices_play("jit");
    devices_begin();
    trace_device_flush(false);
    reader = test_read();
    lines = devices_lines(reader);
    cr_expect_str_eq(lines, right);
    free(lines);
    free(right);
    trace_reader_close(reader);
}

Test(devices_activity, buffers_may_be_completed_on_another_thread)
{
    devices_set("THREAD", "1");
    expect_as_the_oracle("jit");
}

/* cupti_clock_test.c: converts CUPTI's times to the recording's ticks, and
 * recognizes times of other clocks.
 */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

#include "trace/base/clock.h"

/* Compares the clocks at two moments. */
static void compare(struct trace_anchor first, struct trace_anchor last)
{
    cupti_clock_compare(&cupti.decoder.clock, first);
    cupti_clock_compare(&cupti.decoder.clock, last);
}

/* Three ticks in each nanosecond. */
Test(cupti_clock, converts_times_to_ticks)
{
    compare((struct trace_anchor){500, 1000000, 0},
            (struct trace_anchor){3000500, 2000000, 0});
    cr_expect_eq(cupti_ticks(&cupti.decoder.clock, 1000000), 500);
    cr_expect_eq(cupti_ticks(&cupti.decoder.clock, 1000001), 503);
    cr_expect_eq(cupti_ticks(&cupti.decoder.clock, 2000000), 3000500);
    cr_expect_eq(cupti_ns(&cupti.decoder.clock, 300), 100);
}

/* Also of a machine that has been up for a year. */
Test(cupti_clock, leaves_equal_clocks_alone)
{
    const uint64_t year = UINT64_C(31556952000000000);

    compare((struct trace_anchor){year, year, 0},
            (struct trace_anchor){year + 7000001, year + 7000001, 0});
    cr_expect_eq(cupti_ticks(&cupti.decoder.clock, year + 12345), year + 12345);
    cr_expect_eq(cupti_ns(&cupti.decoder.clock, 12345678), 12345678);
}

Test(cupti_clock, converts_before_time_has_passed)
{
    compare((struct trace_anchor){500, 1000, 0},
            (struct trace_anchor){500, 1000, 0});
    cr_expect_eq(cupti_ticks(&cupti.decoder.clock, 1000), 500);
    cr_expect_eq(cupti_ticks(&cupti.decoder.clock, 1007), 507);
    cr_expect_eq(cupti_ns(&cupti.decoder.clock, 7), 7);
}

Test(cupti_clock, recognizes_times_of_other_clocks)
{
    const uint64_t second = 1000000000, begin = 100 * second;

    compare((struct trace_anchor){1, begin, 0},
            (struct trace_anchor){2, begin + second, 0});
    cr_expect(cupti_is_time(&cupti.decoder.clock, begin));
    cr_expect(cupti_is_time(&cupti.decoder.clock, begin + second));
    cr_expect(cupti_is_time(&cupti.decoder.clock, begin - 10000),
              "interpolation errs a little");
    cr_expect(cupti_is_time(&cupti.decoder.clock, begin + second + 10000));
    cr_expect_not(cupti_is_time(&cupti.decoder.clock, 0));
    cr_expect_not(cupti_is_time(&cupti.decoder.clock, begin - second));
    cr_expect_not(cupti_is_time(&cupti.decoder.clock, begin + 2 * second));
    cr_expect_not(cupti_is_time(&cupti.decoder.clock, UINT64_MAX));
}

/* ---- Records ---- */

static struct trace_reader *reader_of_a_launch(void)
{
    devices_init();
    if (trace_clock_choose() != TRACE_CLOCK_COUNTER)
        cr_skip("no invariant counter");
    test_record();
    trace_device_publish();
    cr_assert_eq(InitializeInjection(), 1);
    devices_launch(1);
    return test_read();
}

/* Playback's kernels take 100 ns. */
Test(cupti_clock, gives_cupti_nanoseconds)
{
    struct trace_reader *reader = reader_of_a_launch();
    struct trace_entry kernel, call;

    cr_assert(test_find(reader, TRACE_ENTRY_DEVICE, "launched()", &kernel));
    cr_expect(kernel.end - kernel.time >= 98 && kernel.end - kernel.time <= 102,
              "%d ns", (int)(kernel.end - kernel.time));
    cr_assert(test_find(reader, TRACE_ENTRY_DEVICE, "cudaLaunchKernel", &call));
    cr_expect_lt(call.time, kernel.time);
    cr_expect_lt(kernel.time, trace_reader_summary(reader).end + 1000000);
}

static void play(void)
{
    devices_begin();
    trace_close();
}

/* Plays a fixture in which kinds of records have times of another clock. */
static struct trace_reader *reader_of(const char *off)
{
    devices_init();
    devices_play("graph");
    devices_set("OFF", off);
    cr_assert_eq(test_child(play), 0);
    return test_open();
}

static void expect_short(struct trace_reader *reader, const char *off)
{
    const uint64_t hour = UINT64_C(3600000000000);
    struct trace_entry entry;

    cr_assert_eq(trace_reader_rewind(reader), 0);
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_DEVICE)
            cr_expect(entry.time < hour && entry.end < hour,
                      "OFF=%s: %s stretches the trace", off, entry.site->name);
}

/* Kernels and calls of a clock that is days, years or decades off. */
static const struct {
    const char *off, *bad;
} clocks[] = {
    {"10:-86400", "6"},     {"10:86400", "6"},     {"10:693792000", "6"},
    {"10:1760000000", "6"}, {"5:1760000000", "2"}, {"5:-60,10:60", "8"},
};

Test(cupti_clock, does_not_stretch_a_trace_to_stray_times)
{
    for (size_t i = 0; i < sizeof(clocks) / sizeof(*clocks); i++) {
        struct trace_reader *reader = reader_of(clocks[i].off);

        expect_short(reader, clocks[i].off);
        cr_expect_str_eq(devices_meta(reader, "bad_times"), clocks[i].bad, "%s",
                         clocks[i].off);
        cr_expect_str_eq(devices_meta(reader, "launched"), "2");
    }
}

static bool has(const char *line, const char *part)
{
    return strstr(line, part) != NULL;
}

Test(cupti_clock, places_a_stray_kernel_at_its_call)
{
    char *lines = devices_lines(reader_of("10:1760000000"));
    const char *line = e2e_line(lines, "KERNEL node0 corr=100");

    cr_expect(has(line, " ts=1900 dur=0 "), "%s", line);
    cr_expect(has(line, " ts_estimated=true"), "%s", line);
    cr_expect_not(has(line, "queue_delay"), "%s", line);
    cr_expect_not(has(line, "clock_skew"), "%s", line);
}

/* The kernels of a stray call keep their times. */
Test(cupti_clock, places_a_stray_call_at_the_arrival_of_its_record)
{
    struct trace_reader *reader = reader_of("5:1760000000");
    struct trace_entry call, kernel;
    char *lines = devices_lines(reader);

    cr_assert(test_find(reader, TRACE_ENTRY_DEVICE, "cudaGraphLaunch", &call));
    cr_assert(test_find(reader, TRACE_ENTRY_DEVICE, "node0", &kernel));
    cr_expect_eq(call.time, call.end);
    cr_expect_gt(call.time, kernel.end);
    cr_expect_eq(e2e_count(lines, "dur=800 "), 6);
    cr_expect_eq(e2e_count(lines, "ts_estimated"), 2);
}

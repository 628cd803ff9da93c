/* harness_profiler_options_test.c: the options of profilers. */
#include "harness/options/options.h"

#include <string.h>

#include <criterion/criterion.h>
#include <criterion/redirect.h>

TestSuite(harness_profiler_options, .init = cr_redirect_stderr);

static struct trace_profiler profiler;

static int parse(const char *text)
{
    profiler = trace_profiler_default;
    return test_log_profiler_read(&profiler, "TRACE_OPTIONS", text);
}

Test(harness_profiler_options, has_these_defaults)
{
    cr_expect_eq(trace_profiler_default.device_tracer_level, 1);
    cr_expect_eq(trace_profiler_default.compress, 1);
    cr_expect_not(trace_profiler_default.asks_gpu);
}

static const struct {
    const char *text;
    unsigned level;
} taken[] = {
    {"device_tracer_level=0", 0},
    {"device_tracer_level=1", 1},
    {" device_tracer_level = 0 ", 0},
    {"device_tracer_level=0,device_tracer_level=1", 1},
    {"device_tracer_level=00", 0},
};

Test(harness_profiler_options, parses_keys_and_values)
{
    for (size_t i = 0; i < sizeof(taken) / sizeof(*taken); i++) {
        cr_expect_eq(parse(taken[i].text), 0, "%s", taken[i].text);
        cr_expect_eq(profiler.device_tracer_level, taken[i].level, "%s",
                     taken[i].text);
        cr_expect(profiler.asks_gpu);
    }
}

/* Only GPU options ask for a notice about GPUs. */
Test(harness_profiler_options, asks_for_gpus_only_by_gpu_options)
{
    cr_expect_eq(parse("compress=0"), 0);
    cr_expect_eq(profiler.compress, 0);
    cr_expect_not(profiler.asks_gpu);
    cr_expect_eq(parse("compress=1,device_tracer_level=1"), 0);
    cr_expect(profiler.asks_gpu);
}

Test(harness_profiler_options, adds_a_second_text_to_the_first)
{
    parse("device_tracer_level=0");
    cr_expect_eq(test_log_profiler_read(&profiler, "--trace-options",
                                        "device_tracer_level=1"),
                 0);
    cr_expect_eq(profiler.device_tracer_level, 1);
}

static const char *const refused[] = {
    "",
    ",",
    "=",
    "device_tracer_level",
    "device_tracer_level=",
    "device_tracer_level=2",
    "device_tracer_level=-1",
    "device_tracer_level=+1",
    "device_tracer_level=1x",
    "device_tracer_level=4294967296",
    "device_tracer_level=99999999999999999999",
    "device_tracer_level=1,",
    "device_tracer_level=1,pc=1",
    "DEVICE_TRACER_LEVEL=1",
    "device tracer level=1"};

Test(harness_profiler_options, refuses_unknown_options_and_values)
{
    for (size_t i = 0; i < sizeof(refused) / sizeof(*refused); i++)
        cr_expect_eq(parse(refused[i]), -1, "%s", refused[i]);
}

Test(harness_profiler_options, suggests_valid_options)
{
    parse("device_tracr_level=1");
    parse("pc=1");
    parse("limit=1M");
    parse("tpu_trace_mode=1");
    parse("device_tracer_level=9");
    parse("python_tracer_level=1");
    fflush(stderr);
    cr_assert_stderr_eq_str(
        "testlog: TRACE_OPTIONS: unknown option \"device_tracr_level\"; did "
        "you mean device_tracer_level?\n"
        "testlog: TRACE_OPTIONS: unknown option \"pc\"; "
        "testlog-flags(7) lists all\n"
        "testlog: TRACE_OPTIONS: unknown option \"limit\"; "
        "testlog-flags(7) lists all\n"
        "testlog: TRACE_OPTIONS: tpu_trace_mode is not supported: testlog "
        "traces no TPU; leave it out\n"
        "testlog: TRACE_OPTIONS: device_tracer_level: unknown value \"9\"; "
        "write 0 or 1\n"
        "testlog: TRACE_OPTIONS: python_tracer_level=1 is not supported: there "
        "is no Python in a C test; leave it out\n");
}

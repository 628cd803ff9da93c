/* cupti_limits_test.c: what the profiler options leave out of a recording. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(cupti_limits, .init = devices_init);

static struct trace_reader *reader;
static char *lines;

static void play(const char *fixture, const char *options)
{
    devices_play(fixture);
    devices_options(options);
    devices_begin();
    reader = test_read();
    lines = devices_lines(reader);
}

static size_t calls(void)
{
    return e2e_count(lines, " RUNTIME ") + e2e_count(lines, " DRIVER ");
}

static size_t all(void)
{
    return e2e_count(lines, "\n");
}

static void expect_meta(const char *name, const char *value)
{
    cr_expect_str_eq(devices_meta(reader, name), value, "gpu.%s", name);
}

/* The fixture "plain" has 22 calls and 16 other activities. */
enum { CALLS = 22, OTHERS = 16 };

static void expect_warning(const char *text)
{
    char *all = test_plain(reader);

    cr_expect_eq(test_count(reader, TRACE_ENTRY_EVENT, NULL), text ? 1 : 0);
    cr_expect(!text || strstr(all, text), "%s", all);
}

/* ---- Numbers of records ---- */

Test(cupti_limits, records_all_by_default)
{
    play("plain", NULL);
    cr_expect_eq(calls(), CALLS);
    cr_expect_eq(all(), CALLS + OTHERS);
    expect_meta("dropped_callback_events", "0");
    expect_meta("dropped_activity_events", "0");
    expect_meta("dropped_annotations", "0");
    expect_warning(NULL);
}

/* Launches are judged as if all had been recorded. */
Test(cupti_limits, counts_the_activities_over_a_limit)
{
    play("plain",
         "gpu_max_callback_api_events=5,gpu_max_activity_api_events=3");
    cr_expect_eq(calls(), 5);
    cr_expect_eq(all(), 5 + 3);
    expect_meta("dropped_callback_events", "17");
    expect_meta("dropped_activity_events", "13");
    expect_meta("launches", "9");
    expect_meta("launched", "9");
    expect_meta("lost", "0");
    expect_warning("limits dropped records: gpu_max_callback_api_events 17, "
                   "gpu_max_activity_api_events 13, "
                   "gpu_max_annotation_strings 0");
}

/* The earliest are kept. */
Test(cupti_limits, keeps_what_fits)
{
    play("plain", "gpu_max_activity_api_events=1");
    cr_expect_eq(all(), CALLS + 1);
    cr_expect(strstr(lines, " ALLOCATE Allocate corr=1 "));
}

Test(cupti_limits, can_drop_everything)
{
    play("plain",
         "gpu_max_callback_api_events=0,gpu_max_activity_api_events=0");
    cr_expect_eq(all(), 0);
    expect_meta("dropped_callback_events", "22");
    expect_meta("dropped_activity_events", "16");
}

Test(cupti_limits, drops_nothing_at_the_limit)
{
    play("plain",
         "gpu_max_callback_api_events=22,gpu_max_activity_api_events=16,"
         "gpu_max_annotation_strings=2");
    cr_expect_eq(all(), CALLS + OTHERS);
    expect_warning(NULL);
}

/* ---- Spans ---- */

/* Calls in span 2 are recorded without it. */
Test(cupti_limits, joins_activity_to_a_limited_number_of_spans)
{
    play("plain", "gpu_max_annotation_strings=1");
    cr_expect_eq(all(), CALLS + OTHERS);
    cr_expect_gt(e2e_count(lines, " span=1 "), 0);
    cr_expect_eq(e2e_count(lines, " span=2"), 0);
    expect_meta("dropped_annotations", "12");
}

/* ---- Devices ---- */

static const struct {
    const char *options;
    size_t first, second; /* kernels of the devices */
    const char *warning;
} devices[] = {
    {NULL, 2, 2, NULL},
    {"gpu_num_chips_to_profile_per_task=0", 2, 2, NULL},
    {"gpu_num_chips_to_profile_per_task=1", 2, 0, NULL},
    {"gpu_num_chips_to_profile_per_task=2", 2, 2, NULL},
    {"gpu_num_chips_to_profile_per_task=3", 2, 2,
     "gpu_num_chips_to_profile_per_task=3: there are 2 GPUs; all are "
     "recorded"},
};

TestSuite(cupti_limits_devices, .init = devices_init);

static void expect_devices(size_t i)
{
    play("two_devices", devices[i].options);
    cr_expect_eq(e2e_count(lines, " device=0/1/7 "), devices[i].first);
    cr_expect_eq(e2e_count(lines, " device=1/1/7 "), devices[i].second);
    cr_expect_eq(calls(), 4);
    expect_meta("lost", "0");
    expect_meta("dropped_activity_events", "0");
    expect_warning(devices[i].warning);
}

Test(cupti_limits_devices, records_all_by_default)
{
    expect_devices(0);
}

Test(cupti_limits_devices, records_all_with_zero)
{
    expect_devices(1);
}

Test(cupti_limits_devices, records_the_first_device)
{
    expect_devices(2);
}

Test(cupti_limits_devices, records_as_many_as_there_are)
{
    expect_devices(3);
}

Test(cupti_limits_devices, warns_if_more_are_asked_for_than_there_are)
{
    expect_devices(4);
}

/* ---- Graphs ---- */

TestSuite(cupti_limits_graphs, .init = devices_init);

#define GRAPHS "gpu_enable_cupti_activity_graph_trace=true"

static char *expected(const char *fixture)
{
    char path[512];

    snprintf(path, sizeof(path), "%s/playback/%s.expect", TESTS_DIR, fixture);
    return test_load(path, NULL);
}

Test(cupti_limits_graphs, records_launches_of_graphs_on_demand)
{
    char *right = expected("graph_trace");

    play("graph_trace", GRAPHS);
    cr_expect_str_eq(lines, right);
    expect_meta("graph_level", "true");
    expect_meta("launches", "3");
    expect_meta("launched", "3");
    expect_warning(NULL);
    cr_expect(strstr(devices_meta(reader, "kinds"), ",graph"));
}

/* Otherwise CUPTI would suppress the records of the nodes. */
Test(cupti_limits_graphs, records_nodes_by_default)
{
    char *right = expected("graph"), *called;

    play("graph", NULL);
    cr_expect_str_eq(lines, right);
    expect_meta("graph_level", "");
    called = devices_calls();
    cr_expect_not(strstr(called, "ActivityEnable 51"), "%s", called);
}

Test(cupti_limits_graphs, says_if_CUPTI_has_no_records_of_graphs)
{
    devices_set("REFUSE", "51:27");
    play("graph", GRAPHS);
    expect_meta("graph_level", "");
    expect_meta("refused", "graph: 27 CUPTI_ERROR_NOT_SUPPORTED");
    cr_expect_eq(e2e_count(lines, " KERNEL node"), 6);
}

/* ---- trace_start ---- */

TestSuite(cupti_limits_start, .init = devices_init);

/* Records the fixture "plain" as a program without tests does. */
static void start(const char *options)
{
    char own[PATH_MAX];

    devices_play("plain");
    cr_assert(realpath("/proc/self/exe", own));
    setenv("CUDA_INJECTION64_PATH", own, 1);
    cr_assert_eq(trace_start(test_path("out"), options), 0);
    cr_assert_eq(InitializeInjection(), 1);
    cr_assert_eq(trace_stop(), 0);
    reader = trace_reader_open(test_path("out/recording"));
    cr_assert(reader);
    lines = devices_lines(reader);
}

Test(cupti_limits_start, applies_the_options_of_trace_start)
{
    start("gpu_max_activity_api_events=3,host_tracer_level=0");
    cr_expect_eq(calls(), CALLS);
    cr_expect_eq(all(), CALLS + 3);
    expect_meta("dropped_activity_events", "13");
}

Test(cupti_limits_start, records_no_GPU_without_its_tracer)
{
    start("device_tracer_level=0");
    cr_expect_str_eq(lines, "");
    expect_meta("state", "");
}

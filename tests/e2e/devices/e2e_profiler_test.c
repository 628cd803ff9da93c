/* e2e_profiler_test.c: the profiler options, as users see them. */
#include "tests/support/e2e.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

E2E_FOLDER

TestSuite(e2e_profiler, .init = e2e_begin, .timeout = 300);

/* ---- host_tracer_level ---- */

static const struct {
    const char *settings;
    const char *recorded; /* of error, warn, info, debug, trace */
} levels[] = {
    {"TRACE_OPTIONS=host_tracer_level=0", ""},
    {"TRACE_OPTIONS=host_tracer_level=1", "an error;a warning;an info;"},
    {"TRACE_OPTIONS=host_tracer_level=2",
     "an error;a warning;an info;a debug;"},
    {"TRACE_OPTIONS=host_tracer_level=3",
     "an error;a warning;an info;a debug;a trace;span of trace;"},
    {"LOG=warn TRACE_OPTIONS=host_tracer_level=0", "an error;a warning;"},
};

static const char *recorded(void)
{
    static const char *const all[] = {"an error", "a warning", "an info",
                                      "a debug",  "a trace",   "span of trace"};
    const char *trace =
        e2e_read("testlog-runs/latest/tests/traced_test/traced.logs_all_levels/"
                 "trace.json");
    static char found[128];
    size_t size = 0;

    found[0] = '\0';
    for (size_t i = 0; i < sizeof(all) / sizeof(*all); i++)
        if (strstr(trace, all[i]))
            size += (size_t)snprintf(found + size, sizeof(found) - size, "%s;",
                                     all[i]);
    return found;
}

Test(e2e_profiler, records_up_to_the_host_s_level)
{
    for (size_t i = 0; i < sizeof(levels) / sizeof(*levels); i++) {
        e2e_exits(0, "%s %s --filter traced/logs_all_levels",
                  levels[i].settings, e2e_program("traced", E2E_TRACED));
        e2e_expect_is(recorded(), levels[i].recorded);
    }
}

/* ---- GPUs, played back ---- */

#define LIBRARY  BUILD_DIR "/libtestlog-gpu.so"
#define PLAYBACK BUILD_DIR "/tests/playback.so"

/* Runs a command under a fixture; every GPU program plays it. */
static const struct e2e *play(const char *fixture, const char *options,
                              const char *command)
{
    return e2e_run("TESTLOG_GPU_LIBRARY='" LIBRARY "' TRACE_CUPTI='" PLAYBACK
                   "' PLAYBACK_FIXTURE='" TESTS_DIR "/playback/%s.fixture' "
                   "TRACE_OPTIONS=%s %s",
                   fixture, options, command);
}

static const struct e2e *test(const char *fixture, const char *options)
{
    char command[PATH_MAX];

    snprintf(command, sizeof(command), "%s --filter gpu/uses_it",
             e2e_program("gpu", E2E_TRACED));
    return play(fixture, options, command);
}

static double counted(const char *name)
{
    const cJSON *run = e2e_run_json();

    return e2e_number(cJSON_GetObjectItemCaseSensitive(run, "gpu"), name);
}

static bool is_graph_level(void)
{
    const cJSON *run = e2e_run_json();

    return cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(
        cJSON_GetObjectItemCaseSensitive(run, "gpu"), "graph_level"));
}

static const char *trace(void)
{
    return e2e_read("testlog-runs/latest/tests/gpu_test/gpu.uses_it/"
                    "trace.json");
}

Test(e2e_profiler, reports_what_a_limit_drops)
{
    const struct e2e *result = test("plain", "gpu_max_activity_api_events=3,"
                                             "gpu_max_callback_api_events=20");

    e2e_expect_code(result, 0);
    e2e_expect_has(
        result->err,
        "testlog: gpu/uses_it: gpu_max_callback_api_events dropped 2 "
        "records, gpu_max_activity_api_events 13, and "
        "gpu_max_annotation_strings 0\n");
    cr_expect_eq(counted("dropped_activity_events"), 13);
    cr_expect_eq(counted("dropped_callback_events"), 2);
    cr_expect_eq(counted("launches"), counted("launched"));
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/gpu_test/gpu.uses_it/"
                            "log.txt"),
                   "WARN gpu: limits dropped records: ");
}

Test(e2e_profiler, drops_nothing_by_default)
{
    const struct e2e *result = test("plain", "compress=1");

    e2e_expect_code(result, 0);
    e2e_expect_lacks(result->err, "dropped");
    cr_expect_eq(counted("dropped_activity_events"), 0);
}

Test(e2e_profiler, records_only_the_first_devices)
{
    test("two_devices", "gpu_num_chips_to_profile_per_task=1");
    e2e_expect_has(trace(), "\"device\":0");
    e2e_expect_lacks(trace(), "\"device\":1");
    test("two_devices", "gpu_num_chips_to_profile_per_task=0");
    e2e_expect_has(trace(), "\"device\":1");
}

Test(e2e_profiler, records_launches_of_graphs)
{
    test("graph_trace", "gpu_enable_cupti_activity_graph_trace=True");
    e2e_expect_has(trace(), "\"CudaGraphExec:9\"", "\"cuda_graph\"");
    cr_expect(is_graph_level());
    cr_expect_eq(counted("lost"), 0);
    test("graph", "gpu_enable_cupti_activity_graph_trace=False");
    e2e_expect_has(trace(), "\"node2\"");
    cr_expect_not(is_graph_level());
}

Test(e2e_profiler, records_GPUs_without_the_host)
{
    test("plain", "host_tracer_level=0");
    e2e_expect_has(trace(), "\"identity_f16\"");
    e2e_expect_lacks(trace(), "\"step\"");
    test("plain", "host_tracer_level=1");
    e2e_expect_has(trace(), "\"step\"");
}

Test(e2e_profiler, passes_options_to_programs_without_testlog)
{
    char command[PATH_MAX];

    snprintf(command, sizeof(command), BUILD_DIR "/testlog record -- %s init",
             e2e_any("gpu_any"));
    e2e_expect_code(play("plain", "gpu_max_activity_api_events=3", command), 0);
    cr_expect_eq(counted("dropped_activity_events"), 13);
}

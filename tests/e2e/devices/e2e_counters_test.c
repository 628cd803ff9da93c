/* e2e_counters_test.c: hardware counters of GPUs, as users see them. A played
 * back device has a counter I of 10 * I in one sample, and 5 more in the next.
 */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

TestSuite(e2e_counters, .init = e2e_begin, .timeout = 300);

static const struct e2e *sample(const char *options, const char *tests)
{
    return e2e_run("DRIVER=" BUILD_DIR "/tests/driver/libcuda.so.1 "
                   "TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "
                   "TRACE_CUPTI=" BUILD_DIR "/tests/playback.so "
                   "TRACE_OPTIONS='%s' %s --filter 'sampled/%s'",
                   options, e2e_program("gpu_sampled", E2E_TRACED), tests);
}

static const cJSON *counter_of_run(int number)
{
    const cJSON *run = e2e_run_json();
    const cJSON *summary = cJSON_GetObjectItemCaseSensitive(run, "gpu_summary");

    return cJSON_GetArrayItem(
        cJSON_GetObjectItemCaseSensitive(summary, "counters"), number);
}

Test(e2e_counters, are_in_the_summary_of_a_failed_test)
{
    const struct e2e *run = sample("gpu_pm_sample_counters=default", "fails");

    e2e_expect_code(run, 1);
    e2e_expect_has(run->err, "  counters  GPU active 2.5 %, at most 5.0 %\n",
                   "            PCIe write 7");
}

Test(e2e_counters, are_in_run_json)
{
    const cJSON *one;

    e2e_expect_code(sample("gpu_pm_sample_counters=default", "passes"), 0);
    one = counter_of_run(1);
    e2e_expect_is(e2e_text(one, "name"), "SM active %");
    cr_expect_float_eq(e2e_number(one, "mean"), 12.5, 0.1);
    cr_expect_eq(e2e_number(one, "most"), 15);
    cr_expect_gt(e2e_number(one, "samples"), 100);
    cr_expect_float_eq(e2e_number(one, "time_ns") / e2e_number(one, "samples"),
                       500000, 1000);
}

Test(e2e_counters, are_tracks_of_the_trace)
{
    const char *trace;

    sample("gpu_pm_sample_counters=sm__cycles_active.avg", "passes");
    trace = e2e_read("testlog-runs/latest/tests/gpu_sampled_test/"
                     "sampled.passes/trace.json");
    e2e_expect_has(trace, "\"name\":\"GPU 0 sm__cycles_active.avg\",\"args\":"
                          "{\"GPU 0 sm__cycles_active.avg\":5}}");
    e2e_expect_lacks(trace, "\"cat\":\"gpu_counters\"");
}

Test(e2e_counters, are_summed_up_by_stat)
{
    const cJSON *json;

    sample("gpu_pm_sample_counters=default", "*");
    e2e_run(TESTLOG " stat --by=counter");
    e2e_expect_has(e2e_run(TESTLOG " stat --by=counter")->out, "GPU active");
    e2e_run(TESTLOG " stat --by=counter --json >counters.json");
    json = cJSON_GetObjectItemCaseSensitive(e2e_json("counters.json"), "rows");
    e2e_expect_is(e2e_text(cJSON_GetArrayItem(json, 0), "counter"),
                  "GPU active %");
    cr_expect_float_eq(e2e_number(cJSON_GetArrayItem(json, 0), "mean"), 2.5,
                       0.1);
    e2e_expect_has(e2e_run(TESTLOG " stat --by=counter --from=3600s")->err,
                   "has no counters of GPUs at that time; run the tests with "
                   "--trace-options=gpu_pm_sample_counters=default");
}

Test(e2e_counters, keep_diff_from_comparing_times)
{
    sample("", "passes");
    e2e_run("mv $(readlink -f testlog-runs/latest) before");
    sample("gpu_pm_sample_counters=default", "passes");
    e2e_expect_has(e2e_run(TESTLOG " diff before testlog-runs/latest")->err,
                   "diff: only results are compared, because counters of GPUs "
                   "were sampled in the run after, which locks their clocks");
}

/* The commas within quotes separate names. */
Test(e2e_counters, can_be_named)
{
    e2e_expect_code(sample("gpu_pm_sample_counters=\"a__b.sum,default\","
                           "gpu_pm_sample_interval_us=1000",
                           "passes"),
                    0);
    e2e_expect_is(e2e_text(counter_of_run(0), "name"), "a__b.sum");
    e2e_expect_has(sample("gpu_pm_sample_counters=a b", "passes")->err,
                   "gpu_pm_sample_counters: unknown value \"a b\"; write "
                   "default or NAME+NAME");
}

Test(e2e_counters, stay_when_runs_are_merged)
{
    const cJSON *one;

    sample("gpu_pm_sample_counters=default", "passes");
    e2e_run("mv $(readlink -f testlog-runs/latest) first");
    sample("gpu_pm_sample_counters=default", "fails");
    e2e_run(TESTLOG " merge first $(readlink -f testlog-runs/latest)");
    one = counter_of_run(1);
    e2e_expect_is(e2e_text(one, "name"), "SM active %");
    cr_expect_float_eq(e2e_number(one, "mean"), 12.5, 0.1);
    cr_expect_gt(e2e_number(one, "samples"), 400);
}

/* e2e_device_test.c: GPU activities as users see them. */
#include "tests/support/e2e.h"

E2E_FOLDER

TestSuite(e2e_device, .init = e2e_begin, .timeout = 300);

#define TESTLOG "'" BUILD_DIR "/testlog' "

#define LAUNCH "step{i=3}:launch{count=(4, 64, 1) stream=7 kernel.name="
#define COMPILING                                                              \
    "TRACE " LAUNCH "identity_f16}: gpu::compile: Compiling kernel device=0\n"
#define EXECUTING                                                              \
    "TRACE " LAUNCH "identity_f16}: gpu::launch: Executing kernel device=0\n"
#define STEP(message) " INFO step{i=3}: programs::device: " message "\n"
#define WAITED        " INFO programs::device: waited\n"

static const char *program(void)
{
    return e2e_program("device", E2E_TRACED);
}

Test(e2e_device, shows_activities_of_a_failed_test)
{
    const struct e2e *result =
        e2e_exits(1,
                  "'%s' --filter device/fails --log=info,gpu=trace "
                  "--log-time=none --report=junit:junit.xml",
                  program());

    e2e_expect_has(result->err, STEP("launching") COMPILING
                   "ERROR " LAUNCH
                   "broken}: gpu::compile: Compilation failed device=0\n");
    e2e_expect_has(e2e_read("junit.xml"), "kernel.name=identity_f16");
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/device_test/"
                            "device.fails/log.txt"),
                   EXECUTING);
}

Test(e2e_device, counts_no_wait_for_a_device_against_the_limit)
{
    const struct e2e *result =
        e2e_run("'%s' --filter 'device/is_slow*'", program());

    e2e_expect_lacks(result->err, "timed out");
    e2e_expect_closing(result, "1 passed, 1 failed, 0 skipped"); /* it exits */
}

/* Live lines are printed in the order of the records, not of time. */
Test(e2e_device, prints_activities_live)
{
    const struct e2e *result =
        e2e_exits(0,
                  "'%s' --filter device/launches --log=info,gpu=trace "
                  "--log-time=none --nocapture",
                  program());

    e2e_expect_has(result->err, STEP("launching") COMPILING WAITED EXECUTING);
}

Test(e2e_device, log_sorts_activities_by_time)
{
    const struct e2e *result;

    e2e_run("'%s' --filter device/launches", program());
    result = e2e_run(TESTLOG "log --filter info,gpu=trace --time none");
    e2e_expect_is(result->out, "---- device_test device/launches ----\n" STEP(
                                   "launching") COMPILING EXECUTING WAITED);
    result = e2e_run(TESTLOG "log --filter gpu=trace");
    e2e_expect_has(result->out, "device=0 duration=");
}

/* An activity that precedes lines already printed comes late, but once. */
Test(e2e_device, follow_prints_each_activity_once)
{
    const struct e2e *result =
        e2e_exits(0,
                  "'%s' --filter device/launches >/dev/null 2>&1 & until [ -e "
                  "testlog-runs/latest/tests ]; do sleep 0.01; done; " TESTLOG
                  "log --follow --time none --filter info,gpu=trace",
                  program());

    cr_expect_eq(e2e_count(result->out, "\n"), 4, "%s", result->out);
    cr_expect_eq(e2e_count(result->out, EXECUTING), 1, "%s", result->out);
    cr_expect_eq(e2e_count(result->out, COMPILING), 1, "%s", result->out);
    cr_expect_eq(e2e_count(result->out, "launching"), 1, "%s", result->out);
    cr_expect_eq(e2e_count(result->out, "waited"), 1, "%s", result->out);
}

Test(e2e_device, expectations_wait_for_the_gpu)
{
    e2e_exits(0, "'%s' --filter device/expects", program());
}

Test(e2e_device, traces_contain_tracks_of_gpus)
{
    const cJSON *other, *event;
    const char *trace;
    size_t named = 0;

    e2e_run("'%s' --filter 'device/*'", program());
    other = cJSON_GetObjectItem(
        e2e_json("testlog-runs/latest/tests/device_test/device.launches/"
                 "trace.json"),
        "otherData");
    cr_expect_str_eq(e2e_text(other, "gpu.state"), "on");
    cr_expect_str_eq(e2e_text(other, "gpu.device.0"), "NVIDIA H200");
    cr_expect_str_eq(e2e_text(other, "test"), "device/launches");
    trace = e2e_read("testlog-runs/latest/trace.json");
    cr_expect_eq(e2e_count(trace, "\"ph\":\"s\""), 3);
    cr_expect_eq(e2e_count(trace, "\"ph\":\"f\""), 3);
    cJSON_ArrayForEach(
        event, cJSON_GetObjectItem(e2e_json("testlog-runs/latest/trace.json"),
                                   "traceEvents"))
    {
        const char *name = e2e_text(cJSON_GetObjectItem(event, "args"), "name");

        named +=
            !strncmp(name, "GPU 0: NVIDIA H200 of device_test device/", 41);
    }
    cr_expect_eq(named, 3);
}

Test(e2e_device, does_not_call_gpu_directives_unmatched)
{
    const struct e2e *result =
        e2e_run("'%s' --log='gpu::launch=trace,gpu=debug,gpux=debug,info'",
                e2e_program("small", E2E_TRACED));

    e2e_expect_has(result->err, "gpux=debug");
    e2e_expect_lacks(result->err, "gpu::launch=trace is");
    result = e2e_run(TESTLOG "filter gpu::launch=trace,gpux '%s'",
                     e2e_program("small", E2E_TRACED));
    e2e_expect_has(result->out, "gpux matches none of these call sites");
    e2e_expect_lacks(result->out, "gpu::launch=trace is about none");
}

Test(e2e_device, stat_finds_what_made_the_host_wait)
{
    static const char finding[] = "cudaMalloc was called 20 times in step, ";
    const struct e2e *run;

    e2e_run("'%s' --filter device/waits", program());
    run = e2e_exits(0, TESTLOG "stat --by=finding");
    e2e_expect_has(run->out, finding, "device/waits");
    run = e2e_exits(0, TESTLOG "stat --by=finding --json > f.json");
    e2e_expect_is(e2e_text(e2e_json("f.json"), "by"), "finding");
    e2e_expect_has(e2e_read("f.json"), finding);
    run = e2e_exits(2, TESTLOG "stat --by=finding --from=1ms");
    e2e_expect_has(run->err, "--by=finding looks at the whole test; leave out");
    e2e_run("'%s' --filter device/launches", program());
    run = e2e_exits(0, TESTLOG "stat --by=finding");
    e2e_expect_has(run->err, "made the host wait for a GPU\n");
}

Test(e2e_device, names_the_launch_before_an_asynchronous_error)
{
    const struct e2e *run =
        e2e_exits(1, "'%s' --filter device/faults", program());
    const cJSON *summary = cJSON_GetObjectItemCaseSensitive(
        e2e_latest("device/faults"), "gpu_summary");
    const cJSON *fault = cJSON_GetObjectItemCaseSensitive(summary, "fault");

    e2e_expect_has(
        run->err,
        "\n  error     cudaErrorIllegalAddress, returned by "
        "cudaDeviceSynchronize; 1 launch before it has no record, the first "
        "one in step{i=3}; compute-sanitizer finds the place, and so does "
        "CUDA_LAUNCH_BLOCKING=1\n");
    cr_expect_eq(e2e_number(fault, "launches"), 1);
    e2e_expect_is(e2e_text(fault, "call"), "cudaDeviceSynchronize");
    e2e_expect_is(e2e_text(fault, "spans"), "step{i=3}");
}

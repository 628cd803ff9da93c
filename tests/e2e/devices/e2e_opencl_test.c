/* e2e_opencl_test.c: what is recorded and printed of a real OpenCL device. */
#include "tests/support/chrome.h"
#include "tests/support/e2e.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TESTLOG BUILD_DIR "/testlog"
#define LAYER   BUILD_DIR "/libtestlog-gpu.so"
#define FOLDER  "testlog-runs/latest/tests/opencl_test/opencl."

/* The first compilation of a kernel takes seconds, so all tests share what PoCL
 * has compiled. */
#define POCL  "mkdir -p ../pocl; export POCL_CACHE_DIR=$PWD/../pocl; "
#define FOUND POCL "TESTLOG_GPU_LIBRARY=" LAYER " "

enum { NO_DEVICE = 77 };

E2E_FOLDER

static const char *answers(void)
{
    return e2e_any("opencl_answers");
}

static const char *program(void)
{
    return e2e_program("opencl", E2E_TRACED);
}

static void begin(void)
{
    const struct e2e *bare;

    e2e_begin();
    bare = e2e_once("bare", POCL "%s", answers());
    if (bare->code == NO_DEVICE)
        cr_skip_test("no OpenCL device (make deps-opencl)");
    e2e_expect_code(bare, 0);
}

TestSuite(e2e_opencl, .init = begin, .timeout = 300);

/* Runs the program's tests once. */
static void run(void)
{
    const struct e2e *result =
        e2e_once("run", FOUND "%s --log=gpu=debug", program());

    e2e_expect_code(result, 1);
    cr_assert_eq(chdir(result->folder), 0);
}

static const cJSON *item(const cJSON *object, const char *name)
{
    const cJSON *found = cJSON_GetObjectItemCaseSensitive(object, name);

    cr_assert_not_null(found, "no %s", name);
    return found;
}

static double count_of(const char *name)
{
    return e2e_number(item(e2e_run_json(), "opencl"), name);
}

static const char *lines_of(const char *test)
{
    return e2e_run(TESTLOG " log 'opencl/%s' --filter=trace", test)->out;
}

static const cJSON *trace_of(const char *test)
{
    return e2e_json(FOLDER "%s/trace.json", test);
}

/* ---- The program ---- */

/* With a folder of its own for what PoCL compiles, because its answers may
 * differ while another process writes there. */
Test(e2e_opencl, answers_as_without_the_layer)
{
    const struct e2e *result = e2e_exits(
        0,
        "mkdir pocl; export POCL_CACHE_DIR=$PWD/pocl; %s >bare && "
        "OPENCL_LAYERS=" LAYER " %s >off && " TESTLOG
        " record -- %s >on; code=$?; diff bare off; diff bare on; exit $code",
        answers(), answers(), answers());

    e2e_expect_is(result->out, "");
    cr_expect_gt(count_of("launches"), 800);
    cr_expect_eq(count_of("launches"), count_of("launched"));
    cr_expect_eq(count_of("bad_times"), 0);
    cr_expect_eq(count_of("pending"), 0);
}

/* ---- State ---- */

Test(e2e_opencl, writes_its_state_into_run_json)
{
    run();
    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"), "on");
    e2e_expect_is(e2e_text(e2e_latest("opencl/launches"), "opencl"), "on");
    e2e_expect_is(e2e_text(item(e2e_run_json(), "gpu"), "state"), "no-driver");
    cr_expect_eq(count_of("launches"), 5010);
    cr_expect_eq(count_of("launched"), 5009);
    cr_expect_eq(count_of("unfinished"), 1, "the one that waits for ever");
    cr_expect_eq(count_of("lost"), 0);
    cr_expect_eq(count_of("pending"), 1);
    cr_expect_eq(count_of("bad_times"), 0);
}

/* PoCL's clock. */
Test(e2e_opencl, says_how_exact_its_times_are)
{
    char clock[64];
    double error;

    run();
    cr_assert_eq(sscanf(e2e_text(item(e2e_run_json(), "opencl"), "clock"),
                        "%63[A-Z_], error %lf ns", clock, &error),
                 2);
    e2e_expect_is(clock, "CLOCK_MONOTONIC_RAW");
    cr_expect_lt(error, 1e6);
}

Test(e2e_opencl, is_unused_by_other_tests)
{
    e2e_run("%s", e2e_program("small", E2E_TRACED));
    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"), "unused");
}

Test(e2e_opencl, records_nothing_if_devices_are_off)
{
    e2e_exits(
        0,
        FOUND
        "%s --filter opencl/launches --trace-options=device_tracer_level=0",
        program());
    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"), "unused");
}

/* The program of the test has a layer of its own, which does not exist. */
Test(e2e_opencl, keeps_the_users_layers)
{
    e2e_exits(0, FOUND "OPENCL_LAYERS=/none.so %s --filter opencl/launches",
              program());
    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"), "on");
}

/* A loader passes over a layer that is no library, as one without layers does.
 */
Test(e2e_opencl, reports_a_layer_that_is_not_loaded)
{
    const struct e2e *result = e2e_exits(
        0,
        POCL
        "echo >libtestlog-gpu.so; TESTLOG_GPU_LIBRARY=$PWD/libtestlog-gpu.so "
        "%s --filter 'opencl/@(launches|forks)'",
        program());

    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"),
                  "not-loaded");
    cr_expect_eq(e2e_count(result->err,
                           "testlog: OpenCL trace off: the loader did not "
                           "load a layer of OPENCL_LAYERS: "),
                 1, "%s", result->err);
    e2e_expect_has(result->err, "/libtestlog-gpu.so (ocl-icd 2.3.0 and later");
}

/* ---- Lines ---- */

Test(e2e_opencl, shows_lines_with_the_spans_that_caused_them)
{
    const char *lines, *first;

    run();
    lines = lines_of("launches");
    e2e_expect_has(e2e_line(lines, "gpu::compile"),
                   "outer{number=7}: gpu::compile: Compiling kernel "
                   "name=OpenCL build stage=opencl_build options=\"-DN=1\" "
                   "source_bytes=163 kernel.names=add;spin binary_bytes=");
    first = e2e_line(lines, "gpu::launch");
    e2e_expect_has(first, "outer{number=7}:inner:launch{count=(4, 1, 1) "
                          "stream=1 kernel.name=add}: gpu::launch: Executing "
                          "kernel device=opencl:0 context=1 block=(16, 1, 1) "
                          "first=1 queue_delay=");
    cr_expect_eq(e2e_count(lines, "gpu::launch"), 2);
    cr_expect_eq(e2e_count(lines, " first=1 "), 1);
    e2e_expect_has(
        e2e_line(lines, "Memcpy DtoH"),
        "outer{number=7}: gpu::memcpy: Copying memory "
        "name=Memcpy DtoH device=opencl:0 context=1 stream=1 bytes=256 ");
    e2e_expect_has(e2e_line(lines, "gpu::sync"),
                   "gpu::sync: Synchronizing name=Wait duration=");
    e2e_expect_has(lines, "gpu::memory: Allocating memory",
                   "gpu::memory: Releasing memory");
}

Test(e2e_opencl, shows_the_log_of_a_failed_build)
{
    run();
    e2e_expect_has(e2e_line(lines_of("fails_to_build"), "gpu::compile"),
                   "ERROR step: gpu::compile: Compilation failed name=OpenCL "
                   "build stage=opencl_build result=CL_BUILD_PROGRAM_FAILURE "
                   "options=\"-DN=1\" source_bytes=14 log_bytes=",
                   "expected parameter declarator");
}

Test(e2e_opencl, records_shared_memory_and_images)
{
    run();
    e2e_expect_has(lines_of("shares_memory"), "memory=managed",
                   "Setting memory name=Memset device=opencl:0 context=1 "
                   "stream=1 bytes=256",
                   "name=Map SVM ", "name=Unmap SVM ");
    e2e_expect_has(
        lines_of("writes_an_image"),
        "name=Memcpy HtoA device=opencl:0 context=1 stream=1 bytes=64 ");
}

Test(e2e_opencl, counts_the_bytes_of_boxes_and_of_maps)
{
    const char *lines;

    run();
    lines = lines_of("copies_boxes");
    e2e_expect_has(
        lines, "name=Memcpy HtoD device=opencl:0 context=1 stream=1 bytes=64 ",
        "name=Memcpy DtoD device=opencl:0 context=1 stream=1 bytes=64 ",
        "name=Memcpy DtoH device=opencl:0 context=1 stream=1 bytes=64 ");
    lines = lines_of("maps_an_image");
    e2e_expect_has(lines, "name=Map device=opencl:0 context=1 stream=1 "
                          "bytes=60 ");
    e2e_expect_lacks(lines, "name=Map device=opencl:0 context=1 stream=1 "
                            "bytes=12 ");
}

/* ---- Judgements ---- */

Test(e2e_opencl, warns_of_memory_that_a_test_leaks)
{
    const struct e2e *result;

    run();
    result = e2e_once("run", "none");
    e2e_expect_has(result->err,
                   "testlog: opencl/leaks: warning: leaked GPU memory: 5.0 KiB "
                   "in 2 allocations; the largest 4.0 KiB of device memory in "
                   "step\n");
    cr_expect_eq(e2e_count(result->err, "leaked GPU memory"), 1, "%s",
                 result->err);
    e2e_expect_has(result->err,
                   "opencl/never_opens_its_gate: 1 of 1 launches had not "
                   "ended; testlog waits for them up to 2 s",
                   " WARN gpu: 1 command has not ended\n");
}

Test(e2e_opencl, waits_for_no_command_that_failed)
{
    run();
    e2e_expect_lacks(lines_of("fails_behind_its_gate"), "has not ended");
}

Test(e2e_opencl, waits_for_kernels_that_nobody_waits_for)
{
    run();
    e2e_expect_has(lines_of("ends_before_its_kernel"), "kernel.name=spin");
}

Test(e2e_opencl, keeps_what_a_killed_test_did)
{
    run();
    e2e_expect_has(lines_of("is_killed"), "kernel.name=add");
    cr_expect_eq(e2e_count(lines_of("forks"), "gpu::launch"), 2);
}

/* ---- The trace ---- */

static size_t named(const cJSON *events, const char *text)
{
    const cJSON *event;
    size_t count = 0;

    cJSON_ArrayForEach(event, events)
    {
        const cJSON *args = cJSON_GetObjectItemCaseSensitive(event, "args");

        count += !strncmp(chrome_text(args, "name"), text, strlen(text));
    }
    return count;
}

Test(e2e_opencl, draws_a_device_with_its_queues)
{
    const cJSON *trace, *events;

    run();
    trace = trace_of("uses_two_queues");
    events = item(trace, "traceEvents");
    cr_expect_eq(named(events, "OpenCL 0: "), 1);
    cr_expect_eq(named(events, "queue 1"), 1);
    cr_expect_eq(named(events, "queue 2"), 1);
    cr_expect_eq(chrome_count(trace, "X", "add"), 2);
    cr_expect_eq(chrome_count(trace, "X", "clEnqueueNDRangeKernel"), 2);
    cr_expect_eq(chrome_count(trace, "X", "clFinish"), 2);
    cr_expect_eq(chrome_check_arrows(trace, "ac2g"), 3, "kernels and a write");
    chrome_check_nesting(events);
    chrome_check_keys(trace);
    e2e_expect_is(
        chrome_text(chrome_event(trace, "X", "clEnqueueNDRangeKernel"), "cat"),
        "opencl_runtime");
    e2e_expect_is(chrome_text(chrome_event(trace, "X", "clFinish"), "cat"),
                  "opencl_sync");
}

/* A kernel lies behind the begin of its call, up to the error of the clocks. */
Test(e2e_opencl, places_kernels_behind_their_calls)
{
    const cJSON *trace, *call, *kernel;

    run();
    trace = trace_of("ends_before_its_kernel");
    call = chrome_event(trace, "X", "clEnqueueNDRangeKernel");
    kernel = chrome_event(trace, "X", "spin");
    cr_expect_gt(chrome_number(kernel, "ts"), chrome_number(call, "ts"));
    cr_expect_gt(chrome_number(kernel, "dur"), 0);
}

/* ---- Any program ---- */

/* The driver's threads must not use what exit has destroyed. */
Test(e2e_opencl, records_kernels_that_end_after_main)
{
    e2e_exits(5,
              "mkdir cache; POCL_CACHE_DIR=$PWD/cache " TESTLOG
              " record -- %s leave",
              answers());

    cr_expect_eq(count_of("launches"), 50);
    cr_expect_eq(count_of("launched"), 50);
    cr_expect_eq(count_of("pending"), 0);
}

static const struct e2e *record_one(const char *how)
{
    const struct e2e *result =
        e2e_exits(5, POCL TESTLOG " record -- %s %s", answers(), how);

    return result;
}

/* Nothing waits for them. */
Test(e2e_opencl, counts_launches_before__exit)
{
    record_one("quit");
    cr_expect_eq(count_of("launches"), 50);
    cr_expect_eq(count_of("launched") + count_of("lost"), 50);
}

Test(e2e_opencl, counts_launches_of_exit_handlers_as_lost)
{
    record_one("late");
    cr_expect_eq(count_of("launched"), 50);
    e2e_expect_has(e2e_read("testlog-runs/latest/run.json"),
                   "\"lost\":{\"end\":1}");
}

Test(e2e_opencl, says_that_a_program_took_its_layer_away)
{
    const struct e2e *result = record_one("hide");

    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"),
                  "not-loaded");
    e2e_expect_has(result->err,
                   "testlog: OpenCL trace off: the program replaced "
                   "OPENCL_LAYERS, which named testlog's layer; append to ");
}

Test(e2e_opencl, records_any_program)
{
    const struct e2e *result =
        e2e_exits(0, POCL TESTLOG " record -- %s", answers());

    e2e_expect_is(e2e_text(item(e2e_run_json(), "opencl"), "state"), "on");
    e2e_expect_has(result->err, "testlog: GPU: kernels ");
    e2e_expect_lacks(result->err, "NVIDIA", "nothing was recorded");
}

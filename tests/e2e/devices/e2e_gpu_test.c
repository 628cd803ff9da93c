/* e2e_gpu_test.c: what a run prints and records about GPUs, with a stub instead
 * of one. */
#include "tests/support/e2e.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/read/reader.h"

#define TESTLOG BUILD_DIR "/testlog"

E2E_FOLDER

/* `root` looks like a machine with a driver, `bare` like one without. */
static void begin(void)
{
    e2e_begin_gpu();
    cr_assert_eq(mkdir("bare", 0777), 0);
}

TestSuite(e2e_gpu, .init = begin, .timeout = 300);

#define NOTICE    "GPU trace off: the stub says so"
#define WITH_STUB "TESTLOG_GPU_LIBRARY=%s TESTLOG_GPU_ROOT=$PWD/root "
#define ON_NOTES                                                               \
    "gpu.state=on;gpu.library=/stub.so;gpu.api=27;"                            \
    "gpu.kinds=kernel,memcpy;gpu.device.0=Stub 100;"                           \
    "gpu.device.0.sms=132;gpu.device.2=Stub \"200\";"                          \
    "gpu.launches=3;gpu.launched=2;gpu.lost=1;"                                \
    "gpu.refused=jit: 27 CUPTI_ERROR_NOT_SUPPORTED"

static const char *program(void)
{
    return e2e_program("gpu", E2E_TRACED);
}

static const cJSON *gpu_of(const cJSON *run)
{
    const cJSON *gpu = cJSON_GetObjectItemCaseSensitive(run, "gpu");

    cr_assert(cJSON_IsObject(gpu), "run.json has no gpu");
    return gpu;
}

static const char *state_of(const char *test)
{
    return e2e_text(e2e_latest(test), "gpu");
}

/* ---- States ---- */

static const struct {
    const char *variables, *state, *console;
} runners[] = {
    {"TESTLOG_GPU_ROOT=$PWD/root TESTLOG_GPU_LIBRARY=STUB", "unused", NULL},
    {"TESTLOG_GPU_ROOT=$PWD/bare TESTLOG_GPU_LIBRARY=STUB", "no-driver",
     "testlog: GPU trace off: no NVIDIA driver found "
     "(/proc/driver/nvidia/version, /dev/nvidiactl)"},
    {"TESTLOG_GPU_LIBRARY=/nowhere", "no-libcupti",
     "testlog: GPU trace off: libtestlog-gpu.so not found "
     "(set TESTLOG_GPU_LIBRARY)"},
    {"CUDA_INJECTION64_PATH=none TESTLOG_GPU_LIBRARY=STUB", "busy",
     "testlog: GPU trace off: CUDA_INJECTION64_PATH belongs to another tool: "
     "none"},
    {"NSYS_PROFILING_SESSION_ID=1 TESTLOG_GPU_LIBRARY=STUB", "busy",
     "testlog: GPU trace off: Nsight Systems is profiling this program "
     "(NSYS_PROFILING_SESSION_ID)"},
    {"TRACE_CUPTI=off TESTLOG_GPU_LIBRARY=STUB", "off", NULL},
    {"TRACE_OPTIONS=device_tracer_level=0 TESTLOG_GPU_LIBRARY=STUB", "off",
     NULL},
};

/* Replaces STUB in the variables with the stub's path. */
static const char *with_stub(const char *variables)
{
    static char text[PATH_MAX];
    const char *at = strstr(variables, "STUB");

    snprintf(text, sizeof(text), "%.*s%s",
             (int)(at ? (size_t)(at - variables) : strlen(variables)),
             variables, at ? e2e_stub() : "");
    return text;
}

Test(e2e_gpu, reports_why_the_gpu_trace_is_off)
{
    for (size_t i = 0; i < sizeof(runners) / sizeof(*runners); i++) {
        const struct e2e *result =
            e2e_exits(0, "LOG=gpu=trace %s %s --filter gpu/leaves_it_alone",
                      with_stub(runners[i].variables), program());

        e2e_expect_is(e2e_text(gpu_of(e2e_run_json()), "state"),
                      runners[i].state);
        e2e_expect_is(state_of("gpu/leaves_it_alone"), runners[i].state);
        e2e_expect_is(e2e_line(result->err, "testlog: GPU trace"),
                      runners[i].console ? runners[i].console : "");
        if (runners[i].console)
            e2e_expect_is(e2e_text(gpu_of(e2e_run_json()), "notice"),
                          runners[i].console + strlen("testlog: "));
    }
}

static const char *const states[] = {"unused",    "no-libcupti", "too-old",
                                     "no-driver", "busy",        "denied",
                                     "on",        "playback"};

Test(e2e_gpu, reports_the_state_that_a_test_recorded)
{
    for (size_t i = 0; i < sizeof(states) / sizeof(*states); i++) {
        const struct e2e *result = e2e_exits(
            0,
            WITH_STUB "STUB_NOTES='gpu.state=%s;gpu.notice=" NOTICE
                      "' %s --filter 'gpu/@(uses_it|leaves_it_alone)'",
            e2e_stub(), states[i], program());

        e2e_expect_is(state_of("gpu/uses_it"), states[i]);
        e2e_expect_is(state_of("gpu/leaves_it_alone"), "unused");
        e2e_expect_is(e2e_text(gpu_of(e2e_run_json()), "state"), states[i]);
        cr_expect_eq(e2e_count(result->err, NOTICE),
                     strcmp(states[i], "unused") ? 1 : 0, "%s: %s", states[i],
                     result->err);
    }
}

Test(e2e_gpu, ignores_an_unknown_state)
{
    e2e_run(WITH_STUB "STUB_NOTES='gpu.state=broken;gpu.lost=7' %s "
                      "--filter gpu/uses_it",
            e2e_stub(), program());
    e2e_expect_is(state_of("gpu/uses_it"), "unused");
    e2e_expect_is(e2e_text(gpu_of(e2e_run_json()), "state"), "unused");
}

Test(e2e_gpu, reports_that_records_are_played_back)
{
    const struct e2e *result =
        e2e_run(WITH_STUB "STUB_NOTES='gpu.state=playback;"
                          "gpu.source=playback' %s --filter 'gpu/uses*'",
                e2e_stub(), program());

    cr_expect_eq(e2e_count(result->err, "GPU trace: played back"), 1, "%s",
                 result->err);
    e2e_expect_is(e2e_text(gpu_of(e2e_run_json()), "source"), "playback");
}

/* ---- Activities of a test ---- */

Test(e2e_gpu, writes_devices_into_the_traces_metadata)
{
    const char *trace;

    e2e_exits(0, WITH_STUB "STUB_NOTES='" ON_NOTES "' %s --filter gpu/uses_it",
              e2e_stub(), program());
    trace = e2e_read("testlog-runs/latest/tests/gpu_test/gpu.uses_it/"
                     "trace.json");
    e2e_expect_has(trace, "\"gpu.state\":\"on\"",
                   "\"gpu.device.0\":\"Stub 100\"");
    cr_expect_eq(e2e_count(trace, "\"gpu.state\""), 1);
    e2e_json("testlog-runs/latest/tests/gpu_test/gpu.uses_it/trace.json");
}

Test(e2e_gpu, writes_the_missing_library_into_the_trace)
{
    e2e_run("TESTLOG_GPU_LIBRARY=/nowhere %s --filter gpu/leaves_it_alone",
            program());
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/gpu_test/"
                            "gpu.leaves_it_alone/trace.json"),
                   "\"gpu.state\":\"no-libcupti\"");
}

/* The span of the activity with that name, by its position. */
static uint32_t span_of(const char *recording, const char *name)
{
    struct trace_reader *reader = trace_reader_open(recording);
    struct trace_entry entry;
    uint32_t span = UINT32_MAX;

    cr_assert_not_null(reader, "%s", recording);
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_DEVICE && !strcmp(entry.site->name, name))
            span = entry.span;
    cr_assert_neq(span, UINT32_MAX, "no activity %s", name);
    trace_reader_close(reader);
    return span;
}

Test(e2e_gpu, flushes_the_back_end_before_spans_are_unwound)
{
    static const char path[] =
        "testlog-runs/latest/tests/gpu_test/gpu.fails/recording";

    e2e_exits(1, WITH_STUB "%s --filter gpu/fails", e2e_stub(), program());
    cr_expect_neq(span_of(path, "begun"), 0);
    cr_expect_eq(span_of(path, "flushed"), span_of(path, "begun"));
    cr_expect_eq(span_of(path, "last"), 0);
}

Test(e2e_gpu, writes_libraries_devices_and_counts_to_run_json)
{
    const cJSON *gpu, *kinds, *devices;
    const struct e2e *result = e2e_exits(
        0, WITH_STUB "STUB_NOTES='" ON_NOTES "' %s --filter 'gpu/uses*'",
        e2e_stub(), program());

    gpu = gpu_of(e2e_run_json());
    e2e_expect_is(e2e_text(gpu, "state"), "on");
    e2e_expect_is(e2e_text(gpu, "library"), "/stub.so");
    e2e_expect_is(e2e_text(gpu, "api"), "27");
    e2e_expect_is(e2e_text(gpu, "refused"),
                  "jit: 27 CUPTI_ERROR_NOT_SUPPORTED");
    cr_expect_eq(e2e_number(gpu, "launches"), 6);
    cr_expect_eq(e2e_number(gpu, "launched"), 4);
    cr_expect_eq(e2e_number(gpu, "lost"), 2);
    cr_expect_eq(e2e_number(gpu, "orphans"), 0);
    cr_expect_null(cJSON_GetObjectItemCaseSensitive(gpu, "source"));
    kinds = cJSON_GetObjectItemCaseSensitive(gpu, "kinds");
    cr_assert_eq(cJSON_GetArraySize(kinds), 2);
    e2e_expect_is(cJSON_GetArrayItem(kinds, 1)->valuestring, "memcpy");
    devices = cJSON_GetObjectItemCaseSensitive(gpu, "devices");
    cr_assert_eq(cJSON_GetArraySize(devices), 2);
    cr_expect_eq(e2e_number(cJSON_GetArrayItem(devices, 1), "ordinal"), 2);
    e2e_expect_is(e2e_text(cJSON_GetArrayItem(devices, 1), "name"),
                  "Stub \"200\"");
    cr_expect_eq(e2e_number(e2e_latest("gpu/uses_it"), "gpu_lost"), 1);
    e2e_expect_has(result->err, "testlog: gpu/uses_it: 1 of 3 launches have no "
                                "device record; see its log\n");
}

/* ---- Notices ---- */

Test(e2e_gpu, prints_no_notice_without_cuda)
{
    const struct e2e *result =
        e2e_run("TESTLOG_GPU_LIBRARY=/nowhere LOG=trace %s --filter "
                "gpu/leaves_it_alone",
                program());

    e2e_expect_lacks(result->err, "GPU");
    e2e_expect_has(e2e_text(gpu_of(e2e_run_json()), "notice"), "GPU trace off");
}

static const char *const asked[] = {
    "LOG=info,gpu::launch=trace PROGRAM", "TRACE_FILTER=trace,!gpu PROGRAM",
    "TRACE_OPTIONS=device_tracer_level=1 PROGRAM",
    "PROGRAM --trace-options=device_tracer_level=1",
    "PROGRAM --log='~gpu*=debug'"};

Test(e2e_gpu, prints_a_notice_if_a_flag_asks_for_the_gpu)
{
    for (size_t i = 0; i < sizeof(asked) / sizeof(*asked); i++) {
        const char *at = strstr(asked[i], "PROGRAM");
        const struct e2e *result = e2e_exits(
            0,
            "TESTLOG_GPU_LIBRARY=/nowhere %.*s%s%s --filter "
            "gpu/leaves_it_alone",
            (int)(at - asked[i]), asked[i], program(), at + strlen("PROGRAM"));

        cr_expect_eq(e2e_count(result->err, "GPU trace off"), 1, "%s: %s",
                     asked[i], result->err);
    }
}

Test(e2e_gpu, prints_a_notice_to_programs_linked_with_cuda)
{
    const char *path = e2e_program("gpu", E2E_TRACED);
    e2e_exits(0, "mkdir lib; echo 'int cuda;' | ${CC:-cc} -shared -fPIC -xc - "
                 "-o lib/libcudart.so.13 -Wl,-soname,libcudart.so.13");

    if (e2e_sanitized())
        cr_skip_test("sanitizers must be loaded first");
    cr_expect_eq(e2e_count(e2e_run("LD_PRELOAD=lib/libcudart.so.13 "
                                   "TESTLOG_GPU_LIBRARY=/nowhere %s --filter "
                                   "gpu/uses_it",
                                   path)
                               ->err,
                           "GPU trace off"),
                 1);
}

Test(e2e_gpu, prints_one_notice_for_several_programs)
{
    const cJSON *run, *gpu;
    const struct e2e *result = e2e_exits(
        0,
        WITH_STUB "STUB_NOTES='" ON_NOTES ";gpu.notice=" NOTICE "' " TESTLOG
                  " run %s %s %s -- --filter '*/@(passes|uses*)'",
        e2e_stub(), program(), e2e_program("small", E2E_TRACED), program());

    run = e2e_run_json();
    gpu = gpu_of(run);
    cr_expect_eq(e2e_count(result->err, NOTICE), 1, "%s", result->err);
    e2e_expect_is(e2e_text(gpu, "state"), "on");
    e2e_expect_is(e2e_text(gpu, "notice"), NOTICE);
    cr_expect_eq(e2e_number(gpu, "launches"), 12);
    cr_expect_eq(
        cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(gpu, "kinds")), 2);
    cr_expect_eq(
        cJSON_GetArraySize(cJSON_GetObjectItemCaseSensitive(gpu, "devices")),
        2);
    cr_expect(cJSON_IsTrue(cJSON_GetObjectItemCaseSensitive(gpu, "cuda")));
    e2e_expect_is(e2e_text(e2e_result(run, "small/passes"), "gpu"), "unused");
    e2e_expect_is(e2e_text(e2e_result(run, "gpu/uses_it"), "gpu"), "on");
    cr_expect_eq(e2e_number(e2e_result(run, "gpu/uses_it"), "gpu_lost"), 1);
}

Test(e2e_gpu, reports_a_missing_driver_once_for_all_programs)
{
    const struct e2e *result = e2e_exits(
        0,
        "TESTLOG_GPU_LIBRARY=%s TESTLOG_GPU_ROOT=$PWD/bare LOG=gpu " TESTLOG
        " run %s %s -- --filter '*/passes'",
        e2e_stub(), e2e_program("small", E2E_TRACED),
        e2e_program("small", E2E_TRACED));

    cr_expect_eq(e2e_count(result->err, "no NVIDIA driver"), 1, "%s",
                 result->err);
    e2e_expect_is(e2e_text(gpu_of(e2e_run_json()), "state"), "no-driver");
}

/* ---- Cost and side effects ---- */

Test(e2e_gpu, loads_no_library_if_a_test_uses_no_gpu)
{
    e2e_exits(0, WITH_STUB "%s --filter gpu/leaves_it_alone", e2e_stub(),
              program());
    e2e_expect_has(e2e_read("testlog-runs/latest/tests/gpu_test/"
                            "gpu.leaves_it_alone/log.txt"),
                   "/libtestlog-gpu.so; audited: (null)");
}

Test(e2e_gpu, restores_LD_AUDIT_in_tests)
{
    static const char *const lists[][2] = {
        {"/x/libtestlog-audit.so", "(null)"},
        {"/a.so:/x/libtestlog-audit.so", "/a.so"},
        {"/a.so:/b.so", "/a.so:/b.so"}};

    for (size_t i = 0; i < sizeof(lists) / sizeof(*lists); i++) {
        char audited[64];

        e2e_run("LD_AUDIT=%s %s --filter gpu/leaves_it_alone", lists[i][0],
                program());
        snprintf(audited, sizeof(audited), "audited: %s\n", lists[i][1]);
        e2e_expect_has(e2e_read("testlog-runs/latest/tests/gpu_test/"
                                "gpu.leaves_it_alone/log.txt"),
                       audited);
    }
}

Test(e2e_gpu, records_nothing_of_a_tests_child)
{
    e2e_exits(
        0, WITH_STUB "GPU_CHILD='%s init child' %s --filter gpu/child_uses_it",
        e2e_stub(), e2e_any("gpu_any"), program());
    e2e_expect_is(state_of("gpu/child_uses_it"), "unused");
    e2e_expect_lacks(e2e_read("testlog-runs/latest/tests/gpu_test/"
                              "gpu.child_uses_it/trace.json"),
                     "begun");
}

Test(e2e_gpu, sets_no_variable_if_nothing_is_traced)
{
    e2e_run(WITH_STUB "%s --filter gpu/uses_it", e2e_stub(),
            e2e_program("gpu", E2E_PLAIN));
    e2e_expect_is(state_of("gpu/uses_it"), "unused");
    e2e_run(WITH_STUB "%s --filter gpu/uses_it "
                      "--trace-options=device_tracer_level=0",
            e2e_stub(), program());
    e2e_expect_is(state_of("gpu/uses_it"), "off");
    e2e_run(WITH_STUB "CUDA_INJECTION64_PATH=%s %s --filter gpu/uses_it "
                      "--trace-options=device_tracer_level=0",
            e2e_stub(), e2e_stub(), program());
    e2e_expect_is(state_of("gpu/uses_it"), "off");
}

Test(e2e_gpu, traces_the_gpu_if_all_tests_are_traced)
{
    e2e_run(WITH_STUB "%s --filter gpu/uses_it", e2e_stub(),
            e2e_program("gpu", E2E_ALL));
    e2e_expect_is(state_of("gpu/uses_it"), "on");
}

/* ---- CUDA in constructors ---- */

Test(e2e_gpu, traces_a_program_whose_constructor_uses_cuda)
{
    const char *folder =
        "testlog-runs/latest/tests/gpu_early_test/gpu_early.launches";
    e2e_exits(
        0,
        "TESTLOG_GPU_LIBRARY=" BUILD_DIR
        "/libtestlog-gpu.so TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR
        "/tests/playback.so DRIVER=" BUILD_DIR "/tests/driver/libcuda.so.1 %s",
        e2e_program("gpu_early", E2E_TRACED));

    e2e_expect_is(state_of("gpu_early/launches"), "playback");
    e2e_expect_has(e2e_read("%s/trace.json", folder),
                   "\"gpu.late\":\"CUDA was used before the recording began\"",
                   "launched()", "\"gpu.device.0\":\"Playback\"");
}

/* ---- Where the library is ---- */

Test(e2e_gpu, finds_the_library_beside_testlog)
{
    e2e_exits(0,
              "mkdir b && cp %s %s b/ && TESTLOG_GPU_ROOT=$PWD/root b/testlog "
              "run %s -- --filter gpu/uses_it",
              TESTLOG, e2e_stub(), program());
    e2e_expect_is(state_of("gpu/uses_it"), "on");
}

/* ---- Held back ---- */

static void expect_held(const char *test, const char *options)
{
    e2e_run("TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "
            "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR
            "/tests/playback.so env --default-signal=INT %s "
            "--filter 'held/%s' --trace-options=%s",
            e2e_program("gpu_held", E2E_TRACED), test, options);
    e2e_expect_is(e2e_run(TESTLOG " log --filter=trace | "
                                  "grep -c 'Executing kernel'")
                      ->out,
                  "100\n");
}

/* Activities are decoded seldom while a test runs, but before it dies. */
Test(e2e_gpu, records_what_was_held_back_when_a_test_dies)
{
    static const char *const tests[] = {"crashes", "hangs", "is_interrupted"};

    for (size_t i = 0; i < sizeof(tests) / sizeof(*tests); i++) {
        expect_held(tests[i], "gpu_raw=false");
        expect_held(tests[i], "gpu_raw=true");
    }
}

/* Its recording is settled, too. */
Test(e2e_gpu, keeps_what_cupti_wrote_when_a_test_is_killed)
{
    const char *folder =
        "testlog-runs/latest/tests/gpu_held_test/held.is_killed";

    expect_held("is_killed", "gpu_raw=true,compress=false");
    e2e_expect_has(e2e_read("%s/trace.json", folder), "\"cat\":\"kernel\"");
    e2e_expect_is(e2e_run("od -An -tu4 -j8 -N4 %s/recording", folder)->out,
                  "          5\n");
}

/* An expectation looks at what the process has recorded so far. */
Test(e2e_gpu, expects_kernels_that_are_not_decoded_yet)
{
    e2e_exits(0,
              "TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "
              "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR
              "/tests/playback.so %s --filter 'held/is_expected' "
              "--trace-options=gpu_raw=true",
              e2e_program("gpu_held", E2E_TRACED));
}

/* Nobody is left to settle a recording, and it reads as well. */
Test(e2e_gpu, reads_what_was_never_settled)
{
    const struct e2e *result = e2e_run(
        "export TESTLOG_GPU_LIBRARY=" BUILD_DIR "/libtestlog-gpu.so "
        "TESTLOG_GPU_ROOT=$PWD/root TRACE_CUPTI=" BUILD_DIR
        "/tests/playback.so; setsid %s --filter held/pauses "
        "--trace-options=gpu_raw=true >out 2>&1 & p=$!; "
        "kernels() { " TESTLOG " log $1 --filter=trace 2>err | "
        "grep -c 'kernel.name=launched'; }; "
        "until [ \"$(kernels)\" = 100 ]; do sleep 0.1; done; kill -9 -$p; "
        "wait; od -An -tu4 -j8 -N4 "
        "testlog-runs/*/tests/*/held.pauses/recording; " TESTLOG
        " pack --output=p.tar >packed; kernels p.tar",
        e2e_program("gpu_held", E2E_TRACED));

    e2e_expect_is(result->out, "          6\n100\n");
}

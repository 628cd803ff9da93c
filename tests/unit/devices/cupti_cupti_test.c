/* cupti_cupti_test.c: initializes libcupti, reports one that is missing,
 * refuses or is in use. cupti_versions_test.c has the real ones.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

TestSuite(cupti_cupti, .init = devices_init);

/* Begins a recording; expects a state and a notice ("": none). */
static struct trace_reader *reader_of(const char *state, const char *notice)
{
    struct trace_reader *reader;

    devices_begin();
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "state"), state);
    cr_expect_str_eq(devices_meta(reader, "notice"), notice);
    return reader;
}

static void expect_state(const char *state, const char *notice)
{
    reader_of(state, notice);
}

/* ---- States ---- */

Test(cupti_cupti, reports_playback)
{
    struct trace_reader *reader =
        reader_of("playback", "GPU trace is playback: made up");

    cr_expect_str_eq(devices_meta(reader, "api"), "130001");
    cr_expect_str_eq(devices_meta(reader, "source"), "playback");
    cr_expect(strstr(devices_meta(reader, "library"), "tests/playback.so"));
    cr_expect_str_eq(devices_meta(reader, "kinds"),
                     "kernel,runtime,external,memcpy,memcpy2,memset,driver,"
                     "overhead,jit,sync,memory,device,context,stream,"
                     "name,event,unified");
    cr_expect_str_eq(devices_meta(reader, "refused"), "");
    cr_expect_str_eq(devices_meta(reader, "launches"), "0");
}

/* Without the playback's mark, a libcupti counts as a real one. */
static void unmark_playback(void)
{
    char *bytes;
    size_t size;

    bytes = test_load(BUILD_DIR "/tests/playback.so", &size);
    for (size_t i = 0; i + 17 < size; i++)
        if (!memcmp(bytes + i, "trace_playback_id", 17))
            bytes[i] = 'T';
    test_save(test_path("libcupti.so"), bytes, size);
    setenv("TRACE_CUPTI", test_path("libcupti.so"), 1);
}

Test(cupti_cupti, reports_a_working_libcupti)
{
    unmark_playback();
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);

    cr_expect_str_eq(
        devices_meta(reader_of("on", ""), "env.CUDA_MODULE_LOADING"), "EAGER");
}

Test(cupti_cupti, hints_at_launches_that_wait)
{
    static const char hint[] =
        "GPU trace: each launch waits until its kernel has ended "
        "(CUDA_LAUNCH_BLOCKING is 1)";

    unmark_playback();
    setenv("CUDA_LAUNCH_BLOCKING", "1", 1);
    cr_expect_str_eq(
        devices_meta(reader_of("on", hint), "env.CUDA_LAUNCH_BLOCKING"), "1");
}

Test(cupti_cupti, hints_at_no_launches_that_do_not_wait)
{
    unmark_playback();
    setenv("CUDA_LAUNCH_BLOCKING", "0", 1);
    expect_state("on", "");
}

Test(cupti_cupti, reports_a_missing_libcupti)
{
    setenv("TRACE_CUPTI", "/nowhere/libcupti.so", 1);
    expect_state("no-libcupti", "GPU trace off: no libcupti found (TRACE_CUPTI "
                                "is /nowhere/libcupti.so)");
}

Test(cupti_cupti, suggests_trace_cupti_without_a_libcupti)
{
    char path[PATH_MAX];

    if (devices_toolkit(path) || dlopen("libcupti.so.13", RTLD_LAZY))
        cr_skip("a CUDA toolkit is installed");
    unsetenv("TRACE_CUPTI");
    expect_state("no-libcupti",
                 "GPU trace off: no libcupti found (set TRACE_CUPTI)");
}

Test(cupti_cupti, stays_off_if_switched_off)
{
    setenv("TRACE_CUPTI", "off", 1);
    expect_state("unused", "");
    cr_expect_not(cupti_is_on());
}

Test(cupti_cupti, reports_a_libcupti_that_is_too_old)
{
    char *bytes;
    size_t size;

    bytes = test_load(BUILD_DIR "/tests/playback.so", &size);
    for (size_t i = 0; i + 20 < size; i++)
        if (!memcmp(bytes + i, "cuptiGetCallbackName", 20))
            bytes[i] = 'C';
    test_save(test_path("old.so"), bytes, size);
    setenv("TRACE_CUPTI", test_path("old.so"), 1);
    expect_state("too-old", "GPU trace off: libcupti lacks "
                            "cuptiGetCallbackName");
}

Test(cupti_cupti, reports_a_missing_driver)
{
    devices_set("FAIL", "6:999");
    expect_state("no-driver",
                 "GPU trace off: cuptiActivityRegisterTimestampCallback "
                 "returned 999 CUPTI_ERROR_UNKNOWN (no NVIDIA driver)");
}

Test(cupti_cupti, reports_a_session_of_nsight)
{
    setenv("NSYS_PROFILING_SESSION_ID", "1", 1);
    expect_state("busy", "GPU trace off: in use by Nsight Systems");
}

Test(cupti_cupti, reports_another_injection)
{
    setenv("CUDA_INJECTION64_PATH", "/somebody/else.so", 1);
    expect_state("busy", "GPU trace off: in use by /somebody/else.so "
                         "(CUDA_INJECTION64_PATH)");
}

Test(cupti_cupti, accepts_testlog_s_own_injection)
{
    setenv("CUDA_INJECTION64_PATH", "/proc/self/exe", 1);
    expect_state("playback", "GPU trace is playback: made up");
}

/* CUPTI 11.8 and 12 leave a thread behind. */
Test(cupti_cupti, keeps_a_refused_libcupti_loaded)
{
    char *bytes;
    size_t size;

    bytes = test_load(BUILD_DIR "/tests/playback.so", &size);
    test_save(test_path("libcupti.so"), bytes, size);
    setenv("TRACE_CUPTI", test_path("libcupti.so"), 1);
    devices_set("FAIL", "6:999");
    devices_begin();
    cr_expect_not(cupti_is_on());
    cr_expect(dlopen(test_path("libcupti.so"), RTLD_NOW | RTLD_NOLOAD));
    trace_close();
}

Test(cupti_cupti, explains_how_to_get_permission)
{
    devices_set("REFUSE", "5:35");
    expect_state("denied",
                 "GPU trace off: cuptiActivityEnable returned 35 "
                 "CUPTI_ERROR_INSUFFICIENT_PRIVILEGES "
                 "(https://developer.nvidia.com/ERR_NVGPUCTRPERM: be root, or "
                 "load the driver with NVreg_RestrictProfilingToAdminUsers=0)");
}

/* ---- Refusals ---- */

Test(cupti_cupti, enables_the_contents_of_optional_kinds)
{
    expect_state("playback", "GPU trace is playback: made up");
    e2e_expect_has(devices_calls(),
                   "EnableCudaEventDeviceTimestamps 1\nEnable 36\n",
                   "ConfigureUnifiedMemoryCounter 1\n"
                   "ConfigureUnifiedMemoryCounter 2\n"
                   "ConfigureUnifiedMemoryCounter 8\nEnable 25\n");
}

Test(cupti_cupti, continues_without_unified_memory)
{
    devices_set("UNIFIED", "1:28");

    cr_expect_str_eq(
        devices_meta(reader_of("playback", "GPU trace is playback: made up"),
                     "refused"),
        "unified: 28 CUPTI_ERROR");
    e2e_expect_lacks(devices_calls(), "Enable 25\n");
}

/* The driver starts after our library is loaded. */
Test(cupti_cupti, enables_unified_memory_once_the_driver_has_started)
{
    char *calls;

    devices_set("UNIFIED", "1:15");
    devices_begin();
    cr_expect_not(cupti.enabled[CUPTI_KIND_UNIFIED_MEMORY_COUNTER]);
    cupti_enable_late();
    cupti_enable_late();

    struct trace_reader *reader = test_read();

    cr_expect_str_eq(devices_meta(reader, "refused"), "");
    cr_expect(strstr(devices_meta(reader, "kinds"), ",unified"));
    calls = devices_calls();
    cr_expect_eq(e2e_count(calls, "ConfigureUnifiedMemoryCounter 1\n"), 2);
    cr_expect_eq(e2e_count(calls, "\nEnable 25\n"), 1);
}

/* The thread may ask while cuInit still runs. */
Test(cupti_cupti, asks_again_until_the_driver_has_started)
{
    struct trace_reader *reader;

    devices_set("UNIFIED", "1:15,2:15,3:15");
    devices_begin();
    for (int i = 0; i < 3; i++)
        cupti_enable_late();
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "refused"), "");
    cr_expect(strstr(devices_meta(reader, "kinds"), ",unified"));
}

Test(cupti_cupti, notes_what_the_started_driver_refuses)
{
    devices_set("UNIFIED", "1:15,2:27");
    devices_begin();
    cupti_enable_late();
    cr_expect_str_eq(devices_meta(test_read(), "refused"),
                     "unified: 27 CUPTI_ERROR_NOT_SUPPORTED");
}

Test(cupti_cupti, notes_kinds_for_which_the_driver_never_started)
{
    devices_set("UNIFIED", "1:15,2:15");
    devices_begin();
    cupti_enable_late();
    cr_expect_str_eq(devices_meta(test_read(), "refused"),
                     "unified: 15 CUPTI_ERROR_NOT_INITIALIZED");
}

Test(cupti_cupti, continues_without_optional_kinds)
{
    devices_set("REFUSE", "52:27,4:21");

    struct trace_reader *reader =
        reader_of("playback", "GPU trace is playback: made up");

    cr_expect_str_eq(devices_meta(reader, "refused"),
                     "driver: 21 CUPTI_ERROR_INVALID_KIND, "
                     "jit: 27 CUPTI_ERROR_NOT_SUPPORTED");
    cr_expect_null(strstr(devices_meta(reader, "kinds"), "jit"));

    cr_expect_null(strstr(devices_calls(), "DisableDriverApi"),
                   "filtered calls that are not recorded");
}

/* A record of unknown length would hide the records after it. */
Test(cupti_cupti, does_not_enable_records_of_unknown_length)
{
    devices_set("STRIDE", "52:-1");

    cr_expect_str_eq(
        devices_meta(reader_of("playback", "GPU trace is playback: made up"),
                     "refused"),
        "jit: 21 CUPTI_ERROR_INVALID_KIND");
    e2e_expect_lacks(devices_calls(), "Enable 52");
}

Test(cupti_cupti, disables_noisy_calls)
{
    char *calls;

    expect_state("playback", "GPU trace is playback: made up");
    calls = devices_calls();
    cr_expect(strstr(calls, "DisableDriverApi 686\n"));
    cr_expect(strstr(calls, "DisableDriverApi 304\n"));
    cr_expect(strstr(calls, "DisableRuntimeApi 502\n"));
    cr_expect(strstr(calls, "DisableRuntimeApi 503\n"));
    cr_expect(strstr(calls, "EnableAllSyncRecords 0\n"));
    cr_expect_null(strstr(calls, "\nEnableDriverApi"));
    cr_expect_null(strstr(calls, "DisableRuntimeApi 16\n"),
                   "hides failures of cudaSetDevice");
    cr_expect_eq(e2e_count(calls, "RegisterTimestampCallback"), 1);
}

/* Whichever call fails, everything is undone. */
static void begin_and_end(void)
{
    char *calls;

    devices_begin();
    trace_close();
    calls = devices_calls();
    if (!cupti_is_on() &&
        e2e_count(calls, "\nEnable ") !=
            e2e_count(calls, "\nDisable ") + 1 /* which failed */
        && e2e_count(calls, "\nEnable "))
        _exit(3);
    _exit(cupti_is_on() ? 1 : 2);
}

Test(cupti_cupti, undoes_everything_if_a_call_fails)
{
    /* Version, subscribing, unsubscribing, threads, buffers, clock; then the
     * kinds, of which the first three are required. */
    static const int outcomes[] = {2, 1, 1, 1, 2, 2, 2, 2, 2, 1, 1, 1,
                                   1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
    char setting[32];

    for (size_t i = 0; i < sizeof(outcomes) / sizeof(*outcomes); i++) {
        snprintf(setting, sizeof(setting), "%zu:7", i + 1);
        devices_set("FAIL", setting);
        unlink(test_path("calls"));

        int status = test_child(begin_and_end);

        cr_expect(WIFEXITED(status) && WEXITSTATUS(status) == outcomes[i],
                  "call %zu: status %x", i + 1, (unsigned)status);
    }
}

Test(cupti_cupti, does_nothing_without_a_recording)
{
    cr_expect_eq(InitializeInjection(), 1);
    cr_expect_not(cupti_is_on());
    cr_expect_eq(access(test_path("calls"), F_OK), -1, "a libcupti was loaded");
}

Test(cupti_cupti, initializes_once)
{
    devices_begin();
    cr_expect_eq(InitializeInjection(), 1);
    trace_close();
    cr_expect_eq(e2e_count(devices_calls(), "GetVersion"), 1);
}

/* cupti_cupti_test.c: initializes libcupti, reports one that is missing,
 * refuses or is in use, and agrees with a real one.
 */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "devices.h"
#include "e2e.h"

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
    trace_reader_close(reader_of(state, notice));
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
    trace_reader_close(reader);
}

/* Without the playback's mark, a libcupti counts as a real one. */
Test(cupti_cupti, reports_a_working_libcupti)
{
    char *bytes;
    size_t size;

    bytes = test_load(BUILD_DIR "/tests/playback.so", &size);
    for (size_t i = 0; i + 17 < size; i++)
        if (!memcmp(bytes + i, "trace_playback_id", 17))
            bytes[i] = 'T';
    test_save(test_path("libcupti.so"), bytes, size);
    setenv("TRACE_CUPTI", test_path("libcupti.so"), 1);
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);

    struct trace_reader *reader = reader_of("on", "");

    cr_expect_str_eq(devices_meta(reader, "env.CUDA_MODULE_LOADING"), "EAGER");
    trace_reader_close(reader);
    free(bytes);
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
    free(bytes);
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
    char *calls;

    expect_state("playback", "GPU trace is playback: made up");
    calls = devices_calls();
    e2e_expect_has(calls, "EnableCudaEventDeviceTimestamps 1\nEnable 36\n");
    e2e_expect_has(calls, "ConfigureUnifiedMemoryCounter 1\n"
                          "ConfigureUnifiedMemoryCounter 2\n"
                          "ConfigureUnifiedMemoryCounter 8\nEnable 25\n");
    free(calls);
}

Test(cupti_cupti, continues_without_unified_memory)
{
    char *calls;

    devices_set("UNIFIED", "1:28");

    struct trace_reader *reader =
        reader_of("playback", "GPU trace is playback: made up");

    cr_expect_str_eq(devices_meta(reader, "refused"),
                     "unified: 28 CUPTI_ERROR");
    calls = devices_calls();
    e2e_expect_lacks(calls, "Enable 25\n");
    free(calls);
    trace_reader_close(reader);
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
    free(calls);
    trace_reader_close(reader);
}

Test(cupti_cupti, notes_what_the_started_driver_refuses)
{
    struct trace_reader *reader;

    devices_set("UNIFIED", "1:15,2:15");
    devices_begin();
    cupti_enable_late();
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "refused"),
                     "unified: 15 CUPTI_ERROR_NOT_INITIALIZED");
    trace_reader_close(reader);
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

    char *calls = devices_calls();

    cr_expect_null(strstr(calls, "DisableDriverApi"),
                   "filtered calls that are not recorded");
    free(calls);
    trace_reader_close(reader);
}

/* A record of unknown length would hide the records after it. */
Test(cupti_cupti, does_not_enable_records_of_unknown_length)
{
    char *calls;

    devices_set("STRIDE", "52:-1");

    struct trace_reader *reader =
        reader_of("playback", "GPU trace is playback: made up");

    cr_expect_str_eq(devices_meta(reader, "refused"),
                     "jit: 21 CUPTI_ERROR_INVALID_KIND");
    calls = devices_calls();
    e2e_expect_lacks(calls, "Enable 52");
    free(calls);
    trace_reader_close(reader);
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
    cr_expect_null(strstr(calls, "\nEnableDriverApi"));
    cr_expect_null(strstr(calls, "DisableRuntimeApi 16\n"),
                   "hides failures of cudaSetDevice");
    cr_expect_eq(e2e_count(calls, "RegisterTimestampCallback"), 1);
    free(calls);
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
    struct trace_reader *reader;

    devices_begin();
    cr_expect_eq(InitializeInjection(), 1);
    reader = test_read();

    char *calls = devices_calls();

    cr_expect_eq(e2e_count(calls, "GetVersion"), 1);
    free(calls);
    trace_reader_close(reader);
}

/* ---- A real libcupti ---- */

static void need_toolkit(char root[PATH_MAX])
{
    if (!devices_toolkit(root))
        cr_skip("no CUDA toolkit");
}

/* Finds the header's newest struct for a record. */
static void newest(const char *header, const char *name, char *type,
                   size_t size)
{
    char closing[128];

    for (int version = 20; version > 0; version--) {
        snprintf(type, size, "CUpti_Activity%s%.0d", name,
                 version > 1 ? version : 0);
        snprintf(closing, sizeof(closing), "} %s;", type);
        if (strstr(header, closing))
            return;
    }
    cr_assert_fail("no struct of %s", name);
}

static const char *struct_of(unsigned kind)
{
    switch (kind) {
    case CUPTI_KIND_CONCURRENT_KERNEL:
        return "Kernel";
    case CUPTI_KIND_MEMCPY:
        return "Memcpy";
    case CUPTI_KIND_MEMCPY2:
        return "MemcpyPtoP";
    case CUPTI_KIND_MEMSET:
        return "Memset";
    case CUPTI_KIND_RUNTIME:
        return "API";
    case CUPTI_KIND_EXTERNAL_CORRELATION:
        return "ExternalCorrelation";
    case CUPTI_KIND_OVERHEAD:
        return "Overhead";
    case CUPTI_KIND_SYNCHRONIZATION:
        return "Synchronization";
    case CUPTI_KIND_MEMORY2:
        return "Memory";
    case CUPTI_KIND_JIT:
        return "Jit";
    case CUPTI_KIND_DEVICE:
        return "Device";
    case CUPTI_KIND_CONTEXT:
        return "Context";
    case CUPTI_KIND_STREAM:
        return "Stream";
    case CUPTI_KIND_NAME:
        return "Name";
    case CUPTI_KIND_CUDA_EVENT:
        return "CudaEvent";
    case CUPTI_KIND_UNIFIED_MEMORY_COUNTER:
        return "UnifiedMemoryCounter";
    default:
        return "?";
    }
}

static void assert_fields(struct trace_text *code, const char *header)
{
    char type[64];

#define TRACE_X(name, kind, member, offset, bytes)                             \
    newest(header, struct_of(CUPTI_KIND_##kind), type, sizeof(type));          \
    trace_text_printf(code,                                                    \
                      "_Static_assert(offsetof(%s, %s) == %d && "              \
                      "sizeof(((%s *)0)->%s) == %d, \"\");\n",                 \
                      type, #member, offset, type, #member, bytes);
    CUPTI_FIELDS(TRACE_X)
#undef TRACE_X
}

static void assert_numbers(struct trace_text *code)
{
#define TRACE_X(name, number, must, word)                                      \
    trace_text_printf(code,                                                    \
                      "_Static_assert(CUPTI_ACTIVITY_KIND_%s == %d, \"\");\n", \
                      #name, number);
    CUPTI_KINDS(TRACE_X)
#undef TRACE_X
#define TRACE_X(name, number)                                                  \
    trace_text_printf(code, "_Static_assert(CUPTI_ERROR_%s == %d, \"\");\n",   \
                      #name, number);
    CUPTI_RESULTS(TRACE_X)
#undef TRACE_X
    trace_text_printf(code, "_Static_assert(%s == %d, \"\");\n",
                      "CUPTI_EXTERNAL_CORRELATION_KIND_CUSTOM0",
                      CUPTI_EXTERNAL_CUSTOM0);
    trace_text_printf(code, "_Static_assert(%s == %d, \"\");\n",
                      "CUPTI_ACTIVITY_THREAD_ID_TYPE_SYSTEM",
                      CUPTI_THREAD_SYSTEM);
    trace_text_printf(code, "_Static_assert(%s == %d && %s == %d, \"\");\n",
                      "CUPTI_ACTIVITY_OBJECT_CONTEXT", CUPTI_OBJECT_CONTEXT,
                      "CUPTI_ACTIVITY_OBJECT_STREAM", CUPTI_OBJECT_STREAM);
#define UNIFIED "CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_"
    trace_text_printf(code, "_Static_assert(%s == %d, \"\");\n", UNIFIED "HTOD",
                      CUPTI_UNIFIED_HTOD);
    trace_text_printf(code, "_Static_assert(%s == %d, \"\");\n", UNIFIED "DTOH",
                      CUPTI_UNIFIED_DTOH);
    trace_text_printf(code, "_Static_assert(%s == %d, \"\");\n", UNIFIED "DTOD",
                      CUPTI_UNIFIED_DTOD);
    trace_text_printf(code,
                      "_Static_assert(sizeof("
                      "CUpti_ActivityUnifiedMemoryCounterConfig) == %zu, "
                      "\"\");\n",
                      sizeof(struct cupti_unified));
    trace_text_printf(code, "_Static_assert(%s == %d && %s == %d, \"\");\n",
                      "CUPTI_CB_DOMAIN_DRIVER_API", CUPTI_DOMAIN_DRIVER,
                      "CUPTI_CB_DOMAIN_RUNTIME_API", CUPTI_DOMAIN_RUNTIME);
}

/* Newer toolkits only. */
static void assert_subscriber(struct trace_text *code)
{
#define MEMBER(theirs, ours)                                                   \
    trace_text_printf(code,                                                    \
                      "_Static_assert(offsetof(CUpti_SubscriberParams, %s) "   \
                      "== %zu, \"\");\n",                                      \
                      #theirs, offsetof(struct cupti_subscriber, ours))
    trace_text_string(code, "#ifdef CUPTI_SUBSCRIBER_NAME_MAX_LEN\n");
    MEMBER(structSize, size);
    MEMBER(subscriberName, name);
    MEMBER(oldSubscriberName, other);
    MEMBER(oldSubscriberSize, other_size);
    trace_text_printf(code,
                      "_Static_assert(CUpti_SubscriberParams_STRUCT_SIZE == "
                      "%zu && CUPTI_OLD_SUBSCRIBER_NAME_MIN_LEN == %d, "
                      "\"\");\n#endif\n",
                      sizeof(struct cupti_subscriber), CUPTI_NAME_ROOM);
#undef MEMBER
}

static void compile(const char *root, const char *code)
{
    char command[PATH_MAX * 4];

    test_save(test_path("abi.c"), code, strlen(code));
    snprintf(command, sizeof(command),
             "cc -fsyntax-only -I%s/include -I%s/extras/CUPTI/include %s", root,
             root, test_path("abi.c"));
    cr_expect_eq(system(command), 0);
}

Test(cupti_cupti, agrees_with_the_header_s_offsets_and_numbers)
{
    struct trace_text code = {0};
    char root[PATH_MAX], path[PATH_MAX + 64];
    char *header;

    need_toolkit(root);
    snprintf(path, sizeof(path), "%s/include/cupti_activity.h", root);
    if (access(path, F_OK))
        snprintf(path, sizeof(path), "%s/extras/CUPTI/include/cupti_activity.h",
                 root);
    header = test_load(path, NULL);
    trace_text_string(&code, "#include <stddef.h>\n#include <cupti.h>\n");
    assert_fields(&code, header);
    assert_numbers(&code);
    assert_subscriber(&code);
    compile(root, code.data);
    trace_text_free(&code);
    free(header);
}

void __lsan_disable(void) __attribute__((weak));

/* Loads the toolkit's libcupti, as far as it initializes without a driver.
 * LeakSanitizer must ignore what it does not free. */
static void real_cupti(void)
{
    char root[PATH_MAX];

    need_toolkit(root);
    setenv("CUDA_HOME", root, 1);
    unsetenv("TRACE_CUPTI");
    if (__lsan_disable)
        __lsan_disable();
    devices_begin();
    if (!cupti.get_version)
        cr_skip("no libcupti");
}

Test(cupti_cupti, reports_a_missing_driver_with_a_real_libcupti)
{
    struct trace_reader *reader;

    if (!access("/dev/nvidiactl", F_OK))
        cr_skip("an NVIDIA driver is loaded");
    real_cupti();
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "state"), "no-driver");
    cr_expect_str_eq(devices_meta(reader, "notice"),
                     "GPU trace off: cuptiActivityRegisterTimestampCallback "
                     "returned 999 CUPTI_ERROR_UNKNOWN (no NVIDIA driver)");
    trace_reader_close(reader);
}

/* Takes another handle, because a refused library is closed again. */
static bool keep(void *handle)
{
    return handle != NULL;
}

static void reload(void)
{
    real_cupti();
    cr_assert(cupti_search(keep));
}

Test(cupti_cupti, measures_the_records_of_a_real_libcupti)
{
    reload();

    /* The minimums are those of the oldest supported version. */
    cr_expect_geq(cupti.stride[CUPTI_KIND_CONCURRENT_KERNEL], 200);
    cr_expect_eq(cupti.stride[CUPTI_KIND_RUNTIME], 40);
    cr_expect_eq(cupti.stride[CUPTI_KIND_DRIVER], 40);
    cr_expect_eq(cupti.stride[CUPTI_KIND_EXTERNAL_CORRELATION], 24);
    cr_expect_geq(cupti.stride[CUPTI_KIND_MEMCPY], 88);
    cr_expect_eq(cupti.stride[127], 0);
#define TRACE_X(name, number, must, word)                                      \
    cr_expect(cupti.stride[number] || number == CUPTI_KIND_JIT, "%s", word);
    CUPTI_KINDS(TRACE_X)
#undef TRACE_X
}

/* Without a driver nobody can subscribe; that must not look like a profiler. */
Test(cupti_cupti, subscribes_to_a_real_libcupti_only_with_a_driver)
{
    struct cupti_subscriber own = {sizeof(own), "testlog", NULL, 0};
    void *handle = NULL;

    if (!access("/dev/nvidiactl", F_OK))
        cr_skip("an NVIDIA driver is loaded");
    reload();
    cr_expect_eq(cupti.subscribe(&handle, NULL, NULL), CUPTI_RESULT_UNKNOWN);
    if (cupti.subscribe_by_name) /* a wrong size is another error */
        cr_expect_eq(cupti.subscribe_by_name(&handle, NULL, NULL, &own),
                     CUPTI_RESULT_UNKNOWN);
    cr_expect(cupti_is_free());
}

/* Fills a buffer with records of random kinds; the last is cut. */
static size_t fabricate(uint8_t *bytes, size_t size)
{
    size_t at = 0;

    while (at < size) {
        uint32_t kind = test_below(60);
        size_t stride = cupti.stride[kind];

        if (!stride)
            continue;
        for (size_t i = at; i < at + stride && i < size; i++)
            bytes[i] = (uint8_t)test_random();
        if (at + 4 <= size)
            memcpy(bytes + at, &kind, 4);
        at += stride;
    }
    return size;
}

static void walk_both(uint8_t *bytes, size_t size)
{
    struct cupti_record record = {0};
    void *real = NULL;
    size_t count = 0;

    while (!cupti.next_record(bytes, size, &real)) {
        cr_assert(cupti_next(bytes, size, &record));
        cr_assert_eq(record.at, real, "record %zu", count);
        count++;
    }
    cr_expect(!cupti_next(bytes, size, &record) || !record.at,
              "stepped farther than CUPTI");
    cr_expect_gt(count, 0);
}

Test(cupti_cupti, steps_over_records_as_a_real_libcupti_does)
{
    _Alignas(8) static uint8_t bytes[8192];

    reload();
    for (int i = 0; i < 200; i++) {
        test_seed((uint64_t)i + 1);
        walk_both(bytes, fabricate(bytes, 4096 + 8 * test_below(512)));
    }
}

/* ---- Names of calls ---- */

static bool is_one_of(const char *name, const char *const *names)
{
    while (*names && strcmp(*names, name) != 0)
        names++;
    return *names != NULL;
}

static const char *shown(enum cupti_domain domain, uint32_t id)
{
    static char text[128];
    const char *raw = NULL;

    if (cupti.callback_name((int)domain, id, &raw) || !raw)
        return "";
    cupti_strip(raw, text, sizeof(text));
    return text;
}

/* The names of the calls with a role; every call with such a name has it. */
static const char *const *names_of(enum cupti_role role)
{
    static const char *const launches[] = {
        "cudaLaunchKernel",
        "cudaLaunchKernelExC",
        "cudaLaunchCooperativeKernel",
        "cudaGraphLaunch",
        "cuLaunchKernel",
        "cuLaunchKernelEx",
        "cuLaunchCooperativeKernel",
        "cuLaunchCooperativeKernelMultiDevice",
        "cuGraphLaunch",
        NULL};
    static const char *const begins[] = {
        "cudaStreamBeginCapture", "cudaStreamBeginCaptureToGraph",
        "cuStreamBeginCapture", "cuStreamBeginCaptureToGraph", NULL};
    static const char *const ends[] = {"cudaStreamEndCapture",
                                       "cuStreamEndCapture", NULL};
    static const char *const queries[] = {"cudaStreamQuery", "cudaEventQuery",
                                          "cuStreamQuery", "cuEventQuery",
                                          NULL};
    static const char *const noise[] = {"cudaGetLastError",
                                        "cudaPeekAtLastError",
                                        "cudaSetDevice",
                                        "cudaGetDevice",
                                        "cudaStreamIsCapturing",
                                        "cudaPushCallConfiguration",
                                        "cudaPopCallConfiguration",
                                        "cuDeviceGetAttribute",
                                        "cuCtxPushCurrent",
                                        "cuCtxPopCurrent",
                                        "cuCtxGetCurrent",
                                        "cuDevicePrimaryCtxGetState",
                                        "cuGetProcAddress",
                                        "cuKernelGetAttribute",
                                        NULL};
    static const char *const none[] = {NULL};

    switch (role) {
    case CUPTI_ROLE_LAUNCH:
        return launches;
    case CUPTI_ROLE_BEGIN_CAPTURE:
        return begins;
    case CUPTI_ROLE_END_CAPTURE:
        return ends;
    case CUPTI_ROLE_QUERY:
        return queries;
    case CUPTI_ROLE_NOISE:
        return noise;
    case CUPTI_ROLE_OTHER:
        break;
    }
    return none;
}

static enum cupti_role role_of(const char *name)
{
    enum cupti_role role = CUPTI_ROLE_OTHER;

    for (enum cupti_role i = role + 1; i <= CUPTI_ROLE_LAST; i++)
        if (is_one_of(name, names_of(i)))
            role = i;
    return role;
}

static void expect_known(enum cupti_domain domain)
{
    static const char *const loads[] = {
        "cuModuleLoad",          "cuModuleLoadData", "cuModuleLoadDataEx",
        "cuModuleLoadFatBinary", "cuLinkComplete",   "cuLibraryLoadData",
        "cuLibraryLoadFromFile", "cuFuncLoad",       NULL};

    for (uint32_t id = 1; id < 1000; id++) {
        const char *name = shown(domain, id);

        cr_expect_eq(cupti_role(domain, id), role_of(name), "%d: %s", (int)id,
                     name);
        cr_expect_eq(cupti_compile_stage(domain, id) != NULL,
                     is_one_of(name, loads), "%d: %s", (int)id, name);
    }
}

Test(cupti_cupti, knows_the_call_names_of_a_real_libcupti)
{
    reload();
    if (cupti.version < 130000)
        cr_skip("an older toolkit");
    cr_expect_str_eq(shown(CUPTI_DOMAIN_RUNTIME, 211), "cudaLaunchKernel");
    cr_expect_str_eq(shown(CUPTI_DOMAIN_RUNTIME, 505), "cudaLaunchKernel");
    cr_expect_str_eq(shown(CUPTI_DOMAIN_DRIVER, 307), "cuLaunchKernel");
    expect_known(CUPTI_DOMAIN_RUNTIME);
    expect_known(CUPTI_DOMAIN_DRIVER);
}

/* cupti_versions_test.c: agrees with NVIDIA's headers and libraries: those of
 * the CUDA toolkit, and older ones that `make deps-cupti` has downloaded.
 */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"

TestSuite(cupti_versions, .init = devices_init);

struct version {
    char name[16];
};

/* Defines a test that runs for each version. */
#define EACH_VERSION(test)                                                     \
    ParameterizedTestParameters(cupti_versions, test)                          \
    {                                                                          \
        static struct version versions[] = {{"toolkit"}, {"12.4"}, {"11.8"}};  \
                                                                               \
        return cr_make_param_array(struct version, versions, 3);               \
    }                                                                          \
                                                                               \
    ParameterizedTest(struct version *version, cupti_versions, test)

/* Returns whether it is the toolkit's. */
static bool find(const struct version *version, char root[PATH_MAX])
{
    if (!strcmp(version->name, "toolkit")) {
        if (!devices_toolkit(root))
            cr_skip("no CUDA toolkit");
        return true;
    }
    snprintf(root, PATH_MAX, "%s/build/cupti/%s", SOURCE_DIR, version->name);
    if (access(root, F_OK))
        cr_skip("no libcupti %s: make deps-cupti", version->name);
    return false;
}

/* ---- Headers ---- */

/* Finds the header's newest struct for a record. Returns its body's end. */
static const char *newest(const char *header, const char *name, char *type,
                          size_t size)
{
    char closing[128];

    for (int version = 20; version > 0; version--) {
        const char *end;

        snprintf(type, size, "CUpti_Activity%s%.0d", name,
                 version > 1 ? version : 0);
        snprintf(closing, sizeof(closing), "} %s;", type);
        if ((end = strstr(header, closing)))
            return end;
    }
    cr_assert_fail("no struct of %s", name);
    return NULL;
}

/* Returns whether a struct that ends there has a member. */
static bool has(const char *header, const char *end, const char *member)
{
    size_t length = strcspn(member, ".");
    const char *at = end;

    for (; at > header && strncmp(at, "typedef struct", 14) != 0; at--)
        if (strchr(" *", at[-1]) && !strncmp(at, member, length) &&
            strchr(";[,", at[length]))
            return true;
    return false;
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
    case CUPTI_KIND_GRAPH_TRACE:
        return "GraphTrace";
    default:
        return "?";
    }
}

/* A member that the version lacks must be outside of its record. */
static void assert_field(struct trace_text *code, const char *header,
                         const struct cupti_layout *field, const char *member)
{
    char type[64];
    const char *end =
        newest(header, struct_of(field->kind), type, sizeof(type));

    if (has(header, end, member))
        trace_text_printf(code,
                          "_Static_assert(offsetof(%s, %s) == %d && "
                          "sizeof(((%s *)0)->%s) == %d, \"\");\n",
                          type, member, field->offset, type, member,
                          field->bytes);
    else
        trace_text_printf(code, "_Static_assert(sizeof(%s) <= %d, \"\");\n",
                          type, field->offset);
}

static void assert_fields(struct trace_text *code, const char *header)
{
#define TRACE_X(name, kind, member, offset, bytes)                             \
    assert_field(code, header, &cupti_layout[CUPTI_##name], #member);
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
    trace_text_printf(code,
                      "_Static_assert(CUPTI_CB_DOMAIN_RESOURCE == %d && "
                      "CUPTI_CBID_RESOURCE_GRAPHNODE_CREATED == %d && "
                      "CUPTI_CBID_RESOURCE_GRAPHNODE_CLONED == %d, \"\");\n",
                      CUPTI_DOMAIN_RESOURCE, CUPTI_NODE_MADE,
                      CUPTI_NODE_COPIED);
    trace_text_printf(code,
                      "_Static_assert(offsetof(CUpti_ResourceData, "
                      "resourceDescriptor) == %zu && offsetof("
                      "CUpti_GraphData, node) == %zu && "
                      "offsetof(CUpti_GraphData, originalNode) == %zu, "
                      "\"\");\n",
                      offsetof(struct cupti_resource, data),
                      offsetof(struct cupti_graph_data, node),
                      offsetof(struct cupti_graph_data, original));
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

/* CUPTI's headers include cuda.h, which only the toolkit has. */
static void compile(const char *root, const char *code)
{
    char command[PATH_MAX * 5], toolkit[PATH_MAX];

    if (!devices_toolkit(toolkit))
        cr_skip("no CUDA toolkit");
    test_save(test_path("abi.c"), code, strlen(code));
    snprintf(command, sizeof(command),
             "cc -fsyntax-only -I%s/include -I%s/extras/CUPTI/include "
             "-I%s/include %s",
             root, root, toolkit, test_path("abi.c"));
    cr_expect_eq(system(command), 0);
}

EACH_VERSION(agrees_with_the_header_s_offsets_and_numbers)
{
    struct trace_text code = {0};
    char root[PATH_MAX], path[PATH_MAX + 64];
    char *header;

    find(version, root);
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
}

/* ---- Libraries ---- */

void __lsan_disable(void) __attribute__((weak));

/* Loads a libcupti, as far as it initializes without a driver.
 * LeakSanitizer must ignore what it does not free. */
static void load(const struct version *version)
{
    char root[PATH_MAX], path[PATH_MAX + 64];

    if (find(version, root)) {
        setenv("CUDA_HOME", root, 1);
        unsetenv("TRACE_CUPTI");
    } else {
        snprintf(path, sizeof(path), "%s/lib/libcupti.so", root);
        setenv("TRACE_CUPTI", path, 1);
    }
    if (__lsan_disable)
        __lsan_disable();
    devices_begin();
    if (!cupti.get_version)
        cr_skip("no libcupti");
}

EACH_VERSION(reports_a_missing_driver)
{
    struct trace_reader *reader;

    if (!access("/dev/nvidiactl", F_OK))
        cr_skip("an NVIDIA driver is loaded");
    load(version);
    reader = test_read();
    cr_expect_str_eq(devices_meta(reader, "state"), "no-driver");
    cr_expect_str_eq(
        devices_meta(reader, "notice"),
        cupti.version < 130000
            ? "GPU trace off: cuptiActivityRegisterTimestampCallback "
              "returned 15 CUPTI_ERROR_NOT_INITIALIZED (no NVIDIA driver)"
            : "GPU trace off: cuptiActivityRegisterTimestampCallback "
              "returned 999 CUPTI_ERROR_UNKNOWN (no NVIDIA driver)");
}

/* Takes another handle, because a refused library is closed again. */
static bool keep(void *handle)
{
    return handle != NULL;
}

static void reload(const struct version *version)
{
    load(version);
    cr_assert(cupti_search(keep));
}

EACH_VERSION(measures_the_records)
{
    reload(version);

    /* The minimums are those of the oldest supported version. */
    cr_expect_geq(cupti.decoder.library.strides[CUPTI_KIND_CONCURRENT_KERNEL],
                  200);
    cr_expect_eq(cupti.decoder.library.strides[CUPTI_KIND_RUNTIME], 40);
    cr_expect_eq(cupti.decoder.library.strides[CUPTI_KIND_DRIVER], 40);
    cr_expect_eq(cupti.decoder.library.strides[CUPTI_KIND_EXTERNAL_CORRELATION],
                 24);
    cr_expect_geq(cupti.decoder.library.strides[CUPTI_KIND_MEMCPY], 88);
    cr_expect_eq(cupti.decoder.library.strides[127], 0);
#define TRACE_X(name, number, must, word)                                      \
    cr_expect(cupti.decoder.library.strides[number] ||                         \
                  number == CUPTI_KIND_JIT,                                    \
              "%s", word);
    CUPTI_KINDS(TRACE_X)
#undef TRACE_X
}

/* Without a driver nobody can subscribe; that must not look like a profiler. */
EACH_VERSION(subscribes_only_with_a_driver)
{
    struct cupti_subscriber own = {sizeof(own), "testlog", NULL, 0};
    void *handle = NULL;

    if (!access("/dev/nvidiactl", F_OK))
        cr_skip("an NVIDIA driver is loaded");
    reload(version);
    cr_expect_eq(cupti.subscribe(&handle, NULL, NULL),
                 cupti.version < 130000 ? CUPTI_RESULT_NOT_INITIALIZED
                                        : CUPTI_RESULT_UNKNOWN);
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
        size_t stride = cupti.decoder.library.strides[kind];

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
        cr_assert(
            cupti_next(cupti.decoder.library.strides, bytes, size, &record));
        cr_assert_eq(record.at, real, "record %zu", count);
        count++;
    }
    cr_expect(
        !cupti_next(cupti.decoder.library.strides, bytes, size, &record) ||
            !record.at,
        "stepped farther than CUPTI");
    cr_expect_gt(count, 0);
}

EACH_VERSION(steps_over_records_as_cupti_does)
{
    _Alignas(8) static uint8_t bytes[8192];

    reload(version);
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
    static const char *const resets[] = {"cudaDeviceReset", "cuCtxDestroy",
                                         "cuDevicePrimaryCtxReset", NULL};
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
    case CUPTI_ROLE_RESET:
        return resets;
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

        if (!*name && cupti.version < 130000)
            continue; /* a newer version has it */
        cr_expect_eq(cupti_role(domain, id), role_of(name), "%d: %s", (int)id,
                     name);
        cr_expect_eq(cupti_compile_stage(domain, id) != NULL,
                     is_one_of(name, loads), "%d: %s", (int)id, name);
    }
}

EACH_VERSION(knows_the_call_names)
{
    reload(version);
    cr_expect_str_eq(shown(CUPTI_DOMAIN_RUNTIME, 211), "cudaLaunchKernel");
    if (cupti.version >= 130000)
        cr_expect_str_eq(shown(CUPTI_DOMAIN_RUNTIME, 505), "cudaLaunchKernel");
    cr_expect_str_eq(shown(CUPTI_DOMAIN_DRIVER, 307), "cuLaunchKernel");
    expect_known(CUPTI_DOMAIN_RUNTIME);
    expect_known(CUPTI_DOMAIN_DRIVER);
}

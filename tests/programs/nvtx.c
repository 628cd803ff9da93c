/* nvtx.c: tests of code that annotates with NVTX. It needs the headers of a
 * CUDA toolkit. */
#include <nvtx3/nvToolsExt.h>
#if __has_include(<nvtx3/nvToolsExtPayload.h>)
#    include <nvtx3/nvToolsExtPayload.h>
#    define HAS_PAYLOADS
#endif

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

#include <testlog/test_log.h>

/* NVTX starts before the recording. */
__attribute__((constructor)) static void begin_early(void)
{
    nvtxMarkA("too early");
}

static nvtxEventAttributes_t attributes(const char *text)
{
    nvtxEventAttributes_t given = {0};

    given.version = NVTX_VERSION;
    given.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
    given.messageType = NVTX_MESSAGE_TYPE_ASCII;
    given.message.ascii = text;
    return given;
}

TEST_LOG(nvtx, nests)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    nvtxEventAttributes_t given = attributes("fetch");

    given.colorType = NVTX_COLOR_ARGB;
    given.color = 0xff00ff00;
    given.category = 2;
    given.payloadType = NVTX_PAYLOAD_TYPE_INT32;
    given.payload.iValue = 7;
    nvtxDomainNameCategoryA(lib, 2, "io");
    trace_span(INFO, "ours");
    nvtxRangePushA("load");
    nvtxDomainRangePushEx(lib, &given);
    log_info("inside");
    nvtxDomainMarkEx(lib, &given);
    nvtxDomainRangePop(lib);
    nvtxRangePop();
    nvtxMarkW(L"done");
    nvtxRangePop();
}

static void *end_range(void *id)
{
    nvtxRangeEnd(*(nvtxRangeId_t *)id);
    return NULL;
}

TEST_LOG(nvtx, crosses_threads)
{
    nvtxRangeId_t id = nvtxRangeStartA("request");
    pthread_t thread;

    nvtxNameOsThreadA((uint32_t)getpid(), "the boss");
    nvtxRangePushA("own");
    pthread_create(&thread, NULL, end_range, &id);
    pthread_join(thread, NULL);
    nvtxRangePop();
}

TEST_LOG(nvtx, forks)
{
    pid_t child;

    nvtxRangePushA("parent");
    child = fork();
    if (!child) {
        nvtxMarkA("in the child");
        _exit(0);
    }
    waitpid(child, NULL, 0);
    nvtxRangePop();
}

/* A shared object has its own NVTX. */
TEST_LOG(nvtx, loads_a_library)
{
    void *library = dlopen("./libnvtx_plugin.so", RTLD_NOW);
    void (*annotate)(const char *);

    cr_assert(library);
    *(void **)&annotate = dlsym(library, "nvtx_plugin_annotate");
    nvtxRangePushA("program");
    annotate("plugin");
    nvtxRangePop();
}

/* A forked child may be the first to annotate. */
TEST_LOG(nvtx, loads_a_library_in_a_child)
{
    void *library = dlopen("./libnvtx_plugin.so", RTLD_NOW);
    void (*annotate)(const char *);
    pid_t child = fork();

    if (!child) {
        *(void **)&annotate = dlsym(library, "nvtx_plugin_annotate");
        annotate("child's plugin");
        _exit(0);
    }
    waitpid(child, NULL, 0);
}

TEST_LOG(nvtx, sees_the_library)
{
    const char *path = getenv("NVTX_INJECTION64_PATH");

    log_info("path=%s", path ? path : "none");
}

#ifdef HAS_PAYLOADS

enum mode { SLOW, FAST };

struct request {
    char kind;
    int32_t size;
    double share;
    const char *file;
    enum mode mode;
    char tag[8];
    uint16_t secret;
};

static uint64_t register_mode(nvtxDomainHandle_t domain)
{
    static const nvtxPayloadEnum_t entries[] = {{"slow", SLOW, 0},
                                                {"fast", FAST, 0}};
    const nvtxPayloadEnumAttr_t given = {
        .fieldMask = NVTX_PAYLOAD_ENUM_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_NUM_ENTRIES |
                     NVTX_PAYLOAD_ENUM_ATTR_FIELD_SIZE,
        .entries = entries,
        .numEntries = 2,
        .sizeOfEnum = sizeof(enum mode)};

    return nvtxPayloadEnumRegister(domain, &given);
}

/* No entry says where it is. */
static uint64_t register_request(nvtxDomainHandle_t domain)
{
    const nvtxPayloadSchemaEntry_t entries[] = {
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CHAR, .name = "kind"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_INT32, .name = "size"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_DOUBLE, .name = "share"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CSTRING,
         .flags = NVTX_PAYLOAD_ENTRY_FLAG_EVENT_MESSAGE},
        {.type = register_mode(domain), .name = "mode"},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_CHAR,
         .flags = NVTX_PAYLOAD_ENTRY_FLAG_ARRAY_FIXED_SIZE,
         .name = "tag",
         .arrayOrUnionDetail = 8},
        {.type = NVTX_PAYLOAD_ENTRY_TYPE_UINT16,
         .flags = NVTX_PAYLOAD_ENTRY_FLAG_HIDE,
         .name = "secret"},
    };
    const nvtxPayloadSchemaAttr_t given = {
        .fieldMask = NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NAME |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_ENTRIES |
                     NVTX_PAYLOAD_SCHEMA_ATTR_FIELD_NUM_ENTRIES,
        .name = "request",
        .entries = entries,
        .numEntries = sizeof(entries) / sizeof(*entries)};

    return nvtxPayloadSchemaRegister(domain, &given);
}

TEST_LOG(nvtx, has_payloads)
{
    nvtxDomainHandle_t lib = nvtxDomainCreateA("lib");
    struct request request = {'r', -7, 0.5, "a.bin", FAST, "12345678", 9};
    nvtxPayloadData_t data = {register_request(lib), sizeof(request), &request};
    nvtxPayloadData_t cut = {data.schemaId, 8, &request};
    nvtxPayloadData_t unknown = {data.schemaId + 99, 8, &request};
    nvtxEventAttributes_t given = attributes("send");

    nvtxRangePushPayload(lib, &data, 1);
    log_info("inside");
    nvtxRangePopPayload(lib, &data, 1);
    given.payloadType = NVTX_PAYLOAD_TYPE_EXT;
    given.reserved0 = 1;
    given.payload.ullValue = (uintptr_t)&data;
    nvtxDomainMarkEx(lib, &given);
    nvtxMarkPayload(lib, &cut, 1);
    nvtxMarkPayload(lib, &unknown, 1);
    nvtxMarkPayload(lib, NULL, 3);
    nvtxRangeEndPayload(lib, nvtxRangeStartPayload(lib, &data, 1), &data, 1);
}

#endif

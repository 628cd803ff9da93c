/* nvtx.c: tests of code that annotates with NVTX. It needs the headers of a
 * CUDA toolkit. */
#include <nvtx3/nvToolsExt.h>

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

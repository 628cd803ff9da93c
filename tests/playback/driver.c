/* driver.c: a libcuda without a GPU, for tests. cuInit loads the library that
 * CUDA_INJECTION64_PATH names, as NVIDIA's does. Playback, if it is loaded,
 * gets a record of each call, and has none any more once exit ends the driver.
 * DRIVER_DEVICES=N is the number of devices
 * (default 1); playback.c describes PLAYBACK_CALLS.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>

#include "calls.h"

#define API __attribute__((visibility("default")))

enum { DEVICES = 8, DEPTH = 8, INVALID_VALUE = 1, INVALID_CONTEXT = 201 };

/* A primary context exists while it is retained. */
struct context {
    int retained;
};

static struct context primary[DEVICES];
static __thread struct context *stack[DEPTH];
static __thread unsigned depth;

static struct context *top(void)
{
    return depth ? stack[depth - 1] : NULL;
}

/* ---- What tests see ---- */

static void *playback(const char *name)
{
    const char *path = getenv("TRACE_CUPTI");
    void *handle = path ? dlopen(path, RTLD_NOW | RTLD_NOLOAD) : NULL;

    return handle ? dlsym(handle, name) : NULL;
}

static void called(const char *call, uint32_t id, long argument)
{
    void (*report)(uint32_t) =
        (void (*)(uint32_t))(uintptr_t)playback("trace_playback_call");

    calls_note(call, argument);
    if (report)
        report(id);
}

/* ---- CUDA's functions ---- */

#define CALL(name, ...)                                                        \
    API int name(__VA_ARGS__);                                                 \
    int name(__VA_ARGS__)

static void tear_down(void)
{
    void (*end)(void) =
        (void (*)(void))(uintptr_t)playback("trace_playback_end");

    if (end)
        end();
}

static void inject(void)
{
    const char *path = getenv("CUDA_INJECTION64_PATH");
    void *handle = path ? dlopen(path, RTLD_NOW) : NULL;
    int (*begin)(void) = (int (*)(void))(
        uintptr_t)(handle ? dlsym(handle, "InitializeInjection") : NULL);

    if (begin)
        begin();
    atexit(tear_down); /* so it runs before handlers of the injected library */
}

CALL(cuInit, unsigned flags)
{
    static pthread_once_t once = PTHREAD_ONCE_INIT;

    pthread_once(&once, inject);
    return flags ? INVALID_VALUE : 0;
}

static int devices(void)
{
    const char *set = getenv("DRIVER_DEVICES");

    return set ? (int)strtol(set, NULL, 10) : 1;
}

CALL(cuDeviceGetCount, int *count)
{
    called("cuDeviceGetCount", 4, 0);
    *count = devices();
    return 0;
}

CALL(cuDeviceGet, int *device, int ordinal)
{
    called("cuDeviceGet", 3, ordinal);
    *device = ordinal;
    return ordinal < devices() ? 0 : INVALID_VALUE;
}

CALL(cuDevicePrimaryCtxGetState, int device, unsigned *flags, int *active)
{
    called("cuDevicePrimaryCtxGetState", 392, device);
    *flags = 0;
    *active = primary[device].retained > 0;
    return 0;
}

CALL(cuDevicePrimaryCtxRetain, void **context, int device)
{
    called("cuDevicePrimaryCtxRetain", 386, device);
    if (!primary[device].retained++)
        calls_note("created", device);
    *context = &primary[device];
    return 0;
}

CALL(cuDevicePrimaryCtxRelease_v2, int device)
{
    called("cuDevicePrimaryCtxRelease_v2", 544, device);
    if (!primary[device].retained)
        return INVALID_CONTEXT;
    if (!--primary[device].retained)
        calls_note("destroyed", device);
    return 0;
}

CALL(cuCtxPushCurrent_v2, void *context)
{
    called("cuCtxPushCurrent_v2", 323, 0);
    if (depth == DEPTH)
        return INVALID_VALUE;
    stack[depth++] = context;
    return 0;
}

CALL(cuCtxPopCurrent_v2, void **context)
{
    called("cuCtxPopCurrent_v2", 324, 0);
    if (!depth)
        return INVALID_CONTEXT;
    *context = stack[--depth];
    return 0;
}

CALL(cuCtxGetCurrent, void **context)
{
    called("cuCtxGetCurrent", 304, 0);
    *context = top();
    return 0;
}

CALL(cuCtxSynchronize, void)
{
    called("cuCtxSynchronize", 17, top() ? (long)(top() - primary) : -1);
    return top() ? 0 : INVALID_CONTEXT;
}

/* Playback makes the records of launches up. */
CALL(cuLaunchKernel, void *function)
{
    void (*launch)(unsigned) =
        (void (*)(unsigned))(uintptr_t)playback("trace_playback_launch");

    (void)function;
    if (launch)
        launch(1);
    return top() ? 0 : INVALID_CONTEXT;
}

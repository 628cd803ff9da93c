/* cuda_jit.c: compiles kernels with NVRTC and launches them with the driver.
 *
 * The driver's library is loaded when it is needed, not linked, so that a
 * program also starts on a machine without a driver.
 */
#define LOG_TARGET "cuda::jit"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include <testlog/log.h>

#include <cuda.h>
#include <nvrtc.h>

#include "cuda_jit.h"

/* ---- NVRTC ---- */

int jit_oldest(void)
{
    int architectures[64], count;

    if (nvrtcGetNumSupportedArchs(&count) || count < 1 || count > 64 ||
        nvrtcGetSupportedArchs(architectures)) {
        log_error("cannot list the architectures of NVRTC");
        return -1;
    }
    return architectures[0];
}

static void log_messages(nvrtcProgram program)
{
    size_t size;
    char *messages;

    if (nvrtcGetProgramLogSize(program, &size) || size <= 1 ||
        !(messages = malloc(size)))
        return;
    if (!nvrtcGetProgramLog(program, messages))
        log_error("%s", messages);
    free(messages);
}

typedef nvrtcResult get_size(nvrtcProgram, size_t *);
typedef nvrtcResult get_code(nvrtcProgram, char *);

static char *take(nvrtcProgram program, get_size *size_of, get_code *get,
                  size_t *size)
{
    char *code = NULL;

    if (size_of(program, size) || !*size || !(code = malloc(*size)) ||
        get(program, code)) {
        log_error("cannot get the compiled code");
        free(code);
        return NULL;
    }
    return code;
}

/* For a real architecture, "sm_", NVRTC generates machine code and PTX. */
static char *compiled(nvrtcProgram program, const char *architecture,
                      size_t *size)
{
    trace_span(INFO, "nvrtc", (architecture));

    char option[64];
    const char *options[] = {option};
    nvrtcResult result;

    snprintf(option, sizeof(option), "--gpu-architecture=%s", architecture);
    result = nvrtcCompileProgram(program, 1, options);
    if (result) {
        trace_event(ERROR, "compilation failed",
                    ("error", nvrtcGetErrorString(result)));
        log_messages(program);
        return NULL;
    }
    return architecture[0] == 's'
               ? take(program, nvrtcGetCUBINSize, nvrtcGetCUBIN, size)
               : take(program, nvrtcGetPTXSize, nvrtcGetPTX, size);
}

char *jit_compile(const char *file, const char *source,
                  const char *architecture, size_t *size)
{
    trace_function(INFO, (file));

    nvrtcProgram program;
    size_t bytes = 0;
    char *code;

    if (nvrtcCreateProgram(&program, source, file, 0, NULL, NULL)) {
        log_error("cannot create the program");
        return NULL;
    }
    code = compiled(program, architecture, &bytes);
    nvrtcDestroyProgram(&program);
    if (code)
        trace_event(DEBUG, "compiled", (bytes));
    if (size)
        *size = bytes;
    return code;
}

/* ---- The driver ---- */

struct jit_kernel {
    CUmodule module;
    CUfunction function;
};

#define DRIVER(X)                                                              \
    X(cuGetErrorName)                                                          \
    X(cuModuleLoadDataEx)                                                      \
    X(cuModuleGetFunction)                                                     \
    X(cuModuleUnload)                                                          \
    X(cuLaunchKernel)

static struct {
#define X(name) __typeof__(name) *name;
    DRIVER(X)
#undef X
} driver;

static int load_driver(void)
{
    void *library = dlopen("libcuda.so.1", RTLD_NOW);

    if (!library) {
        log_error("no driver: %s", dlerror());
        return -1;
    }
#define X(name)                                                                \
    if (!(driver.name = (__typeof__(name) *)dlsym(library, #name))) {          \
        log_error("the driver lacks " #name);                                  \
        return -1;                                                             \
    }
    DRIVER(X)
#undef X
    return 0;
}

static int check(CUresult result, const char *call)
{
    const char *error = "unknown";

    if (!result)
        return 0;
    driver.cuGetErrorName(result, &error);
    trace_event(ERROR, "driver call failed", (call), (error));
    return -1;
}

struct jit_kernel *jit_load(const char *image, const char *name)
{
    trace_function(INFO, (name));

    struct jit_kernel *kernel = NULL;

    if (load_driver() || !(kernel = calloc(1, sizeof(*kernel))))
        return NULL;
    if (check(driver.cuModuleLoadDataEx(&kernel->module, image, 0, NULL, NULL),
              "cuModuleLoadDataEx")) {
        free(kernel);
        return NULL;
    }
    if (check(
            driver.cuModuleGetFunction(&kernel->function, kernel->module, name),
            "cuModuleGetFunction")) {
        jit_unload(kernel);
        return NULL;
    }
    return kernel;
}

void jit_unload(struct jit_kernel *kernel)
{
    if (!kernel)
        return;
    check(driver.cuModuleUnload(kernel->module), "cuModuleUnload");
    free(kernel);
}

int jit_launch(struct jit_kernel *kernel, unsigned grid, unsigned block,
               struct CUstream_st *stream, void **arguments)
{
    trace_function(TRACE, (grid), (block));

    return check(driver.cuLaunchKernel(kernel->function, grid, 1, 1, block, 1,
                                       1, 0, stream, arguments, NULL),
                 "cuLaunchKernel");
}

/* gpu_setup.c: makes the GPU driver, NVTX and loaders of a process load
 * libtestlog-gpu.so: finds the library, and names it in the environment. It
 * does not load any part of CUDA.
 */
#include <dlfcn.h>
#include <limits.h>
#include <link.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "gpu_setup.h"
#include "harness/machine/notice.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"
#include "trace/base/strings.h"

static const char library_name[] = "libtestlog-gpu.so";
static const char audit_name[] = "libtestlog-audit.so";
static const char injection[] = "CUDA_INJECTION64_PATH";
static const char nvtx_variable[] = "NVTX_INJECTION64_PATH";
static const char audit_variable[] = "LD_AUDIT";

/* ---- Finding the library ---- */

#ifndef TEST_LOG_LIBRARIES
#    define TEST_LOG_LIBRARIES "/usr/local/lib" /* where it is installed */
#    define TEST_LOG_FROM_BIN  "../lib" /* the same from testlog's folder */
#endif
#ifndef TEST_LOG_SONAME
#    define TEST_LOG_SONAME "libtestlog.so.0"
#endif

static char refused[PATH_MAX]; /* another user could replace it */

/* Whether there is a file from which code may be loaded into tests. */
__attribute__((format(printf, 2, 3))) static bool is_there(char *resolved,
                                                           const char *format,
                                                           ...)
{
    char path[PATH_MAX];
    va_list args;
    int size;

    va_start(args, format);
    size = vsnprintf(path, sizeof(path), format, args);
    va_end(args);
    if (size >= PATH_MAX || !realpath(path, resolved))
        return false;
    if (test_log_trusts_file(resolved))
        return true;
    snprintf(refused, sizeof(refused), "%s", resolved);
    return false;
}

static int folder_of(const char *file)
{
    return (int)(trace_base_name(file) - file);
}

/* The library may be beside libtestlog.so, if this code is in that, or where
 * both are installed in a folder below it. */
static bool is_beside_us(char *path)
{
    static const char name[] = "libtestlog.so";
    const char *ours;
    Dl_info info;

    if (!dladdr(library_name, &info) || !info.dli_fname ||
        !strchr(info.dli_fname, '/') ||
        strncmp(trace_base_name(info.dli_fname), name, strlen(name)) != 0)
        return false;
    ours = info.dli_fname;
    return is_there(path, "%.*s%s", folder_of(ours), ours, library_name) ||
           is_there(path, "%.*stestlog/%s", folder_of(ours), ours,
                    library_name);
}

static bool is_testlog; /* this program */

/* Looks in a folder that is beside this program. */
static bool is_beside_testlog(char *path, const char *folder, const char *name)
{
    char program[PATH_MAX];

    return is_testlog && realpath("/proc/self/exe", program) &&
           is_there(path, "%.*s%s/%s", folder_of(program), program, folder,
                    name);
}

/* Whether a path is that of our library: an outer test program may have set
 * it. */
static bool is_ours(const char *path)
{
    return path && !strcmp(trace_base_name(path), library_name);
}

bool test_log_gpu_library(char *path)
{
    const char *given = test_log_variable("TESTLOG_GPU_LIBRARY");
    const char *hint = test_log_session()->gpu_library;
    const char *set = test_log_variable("CUDA_INJECTION64_PATH");

    refused[0] = '\0';
    if (given)
        return is_there(path, "%s", given);
    return is_beside_us(path) || is_beside_testlog(path, ".", library_name) ||
           is_beside_testlog(path, TEST_LOG_FROM_BIN "/testlog",
                             library_name) ||
           (hint && is_there(path, "%s", hint)) ||
           is_there(path, TEST_LOG_LIBRARIES "/testlog/%s", library_name) ||
           (is_ours(set) && is_there(path, "%s", set));
}

bool test_log_gpu_own(char *path)
{
    is_testlog = true;
    return test_log_gpu_library(path);
}

bool test_log_own_library(char *path)
{
    is_testlog = true;
    return is_beside_testlog(path, "shared", TEST_LOG_SONAME) ||
           is_beside_testlog(path, TEST_LOG_FROM_BIN, TEST_LOG_SONAME) ||
           is_beside_testlog(path, "..", TEST_LOG_SONAME) ||
           is_there(path, TEST_LOG_LIBRARIES "/" TEST_LOG_SONAME);
}

/* Finds a file beside that library, unless its path is given. */
static bool find_helper(char *path, const char *given, const char *name)
{
    char library[PATH_MAX];

    if (given)
        return is_there(path, "%s", given);
    return test_log_gpu_library(library) &&
           is_there(path, "%.*s%s", folder_of(library), library, name);
}

bool test_log_stacks_program(char *path)
{
    return find_helper(path, test_log_variable("TESTLOG_STACKS"),
                       "testlog-stacks");
}

bool test_log_sample_library(char *path)
{
    return find_helper(path, test_log_variable("TESTLOG_SAMPLE_LIBRARY"),
                       "libtestlog-sample.so");
}

bool test_log_crash_library(char *path)
{
    return find_helper(path, NULL, "libtestlog-crash.so");
}

/* ---- What prevents a GPU trace ---- */

bool test_log_gpu_driver(const char *root)
{
    static const char *const files[] = {"/proc/driver/nvidia/version",
                                        "/dev/nvidiactl", "/dev/dxg" /* WSL */};
    char path[PATH_MAX];

    for (size_t i = 0; i < sizeof(files) / sizeof(*files); i++)
        if (snprintf(path, sizeof(path), "%s%s", root, files[i]) < PATH_MAX &&
            !access(path, F_OK))
            return true;
    return false;
}

/* Defined in a program that was linked with the static runtime. */
#pragma weak __cudaRegisterFatBinary
extern char __cudaRegisterFatBinary[];

static int is_cuda(struct dl_phdr_info *object, size_t size, void *none)
{
    /* The prefix is a separate string, so that searching this program for such
     * names finds nothing. */
    static const char *const names[] = {"cudart.so", "cuda.so", "nvrtc.so"};
    const char *base = trace_base_name(object->dlpi_name);

    (void)size;
    (void)none;
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
        if (!strncmp(base, "lib", 3) &&
            !strncmp(base + 3, names[i], strlen(names[i])))
            return true;
    return false;
}

bool test_log_gpu_linked(void)
{
    return __cudaRegisterFatBinary || dl_iterate_phdr(is_cuda, NULL);
}

static bool is_off(const struct test_log_options *options)
{
    const char *cupti = test_log_variable("TRACE_CUPTI");

    return !options->profiler.device_tracer_level ||
           (cupti && !strcmp(cupti, "off"));
}

__attribute__((format(printf, 3, 4))) static void judge(
    struct test_log_gpu *gpu, enum test_log_gpu_state state, const char *format,
    ...)
{
    va_list args;

    gpu->state = state;
    va_start(args, format);
    if (vasprintf(&gpu->notice, format, args) < 0)
        gpu->notice = NULL;
    va_end(args);
}

/* Finds out why GPUs cannot be recorded, as far as possible without asking a
 * driver. */
static void judge_here(struct test_log_gpu *gpu, bool found)
{
    const char *set = test_log_variable("CUDA_INJECTION64_PATH");
    const char *root = getenv("TESTLOG_GPU_ROOT"); /* of tests */

    if (set && !is_ours(set))
        judge(gpu, TEST_LOG_GPU_BUSY,
              TEST_LOG_GPU_WITHOUT
              "CUDA_INJECTION64_PATH belongs to another tool: %s",
              set);
    else if (test_log_variable("NSYS_PROFILING_SESSION_ID"))
        judge(gpu, TEST_LOG_GPU_BUSY,
              TEST_LOG_GPU_WITHOUT "Nsight Systems is profiling this program "
                                   "(NSYS_PROFILING_SESSION_ID)");
    else if (!found && refused[0])
        judge(gpu, TEST_LOG_GPU_NO_LIBCUPTI,
              TEST_LOG_GPU_WITHOUT "%s is not loaded: another user can "
                                   "replace it",
              refused);
    else if (!found)
        judge(gpu, TEST_LOG_GPU_NO_LIBCUPTI,
              TEST_LOG_GPU_WITHOUT "%s not found (set TESTLOG_GPU_LIBRARY)",
              library_name);
    else if (!test_log_gpu_driver(root ? root : ""))
        judge(gpu, TEST_LOG_GPU_NO_DRIVER,
              TEST_LOG_GPU_WITHOUT
              "no NVIDIA driver found "
              "(/proc/driver/nvidia/version, /dev/nvidiactl)");
}

/* ---- The environment ---- */

static bool has(const char *list, const char *path)
{
    size_t size = strlen(path);

    for (; list; list = strchr(list, ':'), list += list != NULL)
        if (strcspn(list, ":") == size && !strncmp(list, path, size))
            return true;
    return false;
}

void test_log_list_append(const char *variable, const char *path)
{
    const char *list = test_log_variable(variable);
    char *longer;

    if (list && has(list, path))
        return;
    if (asprintf(&longer, "%s%s%s", list ? list : "", list ? ":" : "", path) <
        0)
        return;
    setenv(variable, longer, 1);
    free(longer);
}

/* Removes paths of our library, which an outer program may have set. */
static void remove_ours(const char *variable)
{
    const char *list = test_log_variable(variable);
    struct trace_text rest = {0};

    while (list && *list) {
        size_t size = strcspn(list, ":");
        char *path = strndup(list, size);

        if (path && !is_ours(path))
            trace_text_printf(&rest, "%s%s", rest.size ? ":" : "", path);
        free(path);
        list += size + (list[size] == ':');
    }
    if (rest.size)
        setenv(variable, rest.data, 1);
    else
        unsetenv(variable);
    trace_text_free(&rest);
}

/* The dynamic linker loads it before the program begins. */
static void export_audit(const char *library)
{
    char path[PATH_MAX];

    if (is_there(path, "%.*s%s", folder_of(library), library, audit_name))
        test_log_list_append(audit_variable, path);
}

/* If another tool receives NVTX, it gets all of it, our spans, too. */
static void prepare_nvtx(struct test_log_gpu *gpu,
                         const struct test_log_options *options)
{
    const char *set = test_log_variable("NVTX_INJECTION64_PATH");
    bool on = options->profiler.gpu_enable_nvtx_tracking;
    char library[PATH_MAX];

    if (set && !is_ours(set)) {
        gpu->nvtx = on ? TEST_LOG_NVTX_SENDING : TEST_LOG_NVTX_OFF;
        gpu->nvtx_tool = on ? strdup(set) : NULL;
    } else if (on && test_log_gpu_library(library)) {
        gpu->nvtx = TEST_LOG_NVTX_RECEIVING;
        setenv(nvtx_variable, library, 1);
    } else {
        unsetenv(nvtx_variable);
    }
}

/* Names a library to the loaders of devices, or removes ours if it is NULL. */
static void name_to_loaders(const char *library)
{
#define TRACE_X(folder, variable)                                              \
    remove_ours(variable);                                                     \
    if (library)                                                               \
        test_log_list_append(variable, library);
    TRACE_LOADERS(TRACE_X)
#undef TRACE_X
}

/* Removes what an outer program has set. */
static void remove_outer(void)
{
    if (is_ours(test_log_variable("CUDA_INJECTION64_PATH")))
        unsetenv(injection);
    name_to_loaders(NULL);
    test_log_gpu_hide();
}

/* Sets the variables; false if the library was not found. */
static bool prepare(struct test_log_gpu *gpu, char *library)
{
    bool found = test_log_gpu_library(library);

    judge_here(gpu, found);
    /* There may be a driver that we did not find. */
    if (found && gpu->state != TEST_LOG_GPU_BUSY)
        setenv(injection, library, 1);
    else if (is_ours(test_log_variable(injection)))
        unsetenv(injection); /* another user could replace it */
    name_to_loaders(found ? library : NULL);
    return found;
}

void test_log_gpu_prepare(struct test_log_gpu *gpu,
                          const struct test_log_options *options)
{
    char library[PATH_MAX];

    gpu->cuda = test_log_gpu_linked();
    prepare_nvtx(gpu, options);
    if (is_off(options)) {
        gpu->state = TEST_LOG_GPU_OFF;
        remove_outer();
    } else if (prepare(gpu, library) && trace_compilers_possible()) {
        export_audit(library);
    }
}

void test_log_gpu_record(struct test_log_gpu *gpu,
                         const struct test_log_options *options)
{
    char library[PATH_MAX];

    is_testlog = true;
    prepare_nvtx(gpu, options);
    if (is_off(options)) {
        gpu->state = TEST_LOG_GPU_OFF;
        remove_outer();
    } else if (prepare(gpu, library)) {
        test_log_list_append("LD_PRELOAD", library);
        export_audit(library);
    }
    /* Most programs need no GPU. */
    gpu->asked =
        options->profiler.asks_gpu || (gpu->state != TEST_LOG_GPU_NO_DRIVER &&
                                       gpu->state != TEST_LOG_GPU_NO_LIBCUPTI);
}

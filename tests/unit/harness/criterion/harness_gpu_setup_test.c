/* harness_gpu_setup_test.c: the variables that workers get for GPU traces, and
 * the state of a machine without CUDA. */
#include "harness/criterion/program/program.h"
#include "harness/options/options.h"
#include "harness/run/folder/run_folder.h"
#include "harness/session.h"

#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"
#include "trace/device.h"

/* Makes this program look linked with CUDA's static runtime. */
void __cudaRegisterFatBinary(void);
void __cudaRegisterFatBinary(void)
{
}

static struct test_log_options options;
static struct test_log_gpu gpu;
static bool compilers;

/* Used unless the compilers' part is linked. */
__attribute__((weak)) bool trace_compilers_possible(void)
{
    return compilers;
}

static const char *const variables[] = {
    "CUDA_INJECTION64_PATH", "LD_AUDIT",         "LD_PRELOAD",
    "TRACE_CUPTI",           "TESTLOG_RECORD",   "TESTLOG_GPU_LIBRARY",
    "TESTLOG_SESSION",       "TESTLOG_GPU_ROOT", "NSYS_PROFILING_SESSION_ID",
    "OPENCL_LAYERS"};

static const char *library(void)
{
    return test_path("libtestlog-gpu.so");
}

static void begin(void)
{
    test_folder();
    for (size_t i = 0; i < sizeof(variables) / sizeof(*variables); i++)
        unsetenv(variables[i]);
    options.profiler = trace_profiler_default;
    test_save(library(), "", 0);
    test_save(test_path("libtestlog-audit.so"), "", 0);
    mkdir(test_path("dev"), 0777);
    test_save(test_path("dev/nvidiactl"), "", 0);
    setenv("TESTLOG_GPU_LIBRARY", library(), 1);
    setenv("TESTLOG_GPU_ROOT", test_path(""), 1);
}

static void end(void)
{
    test_log_gpu_free(&gpu);
}

TestSuite(harness_gpu_setup, .init = begin, .fini = end);

/* A variable's value, "" if unset. */
static const char *value_of(const char *name)
{
    const char *value = getenv(name);

    return value ? value : "";
}

static const char *resolved(const char *path)
{
    static char text[PATH_MAX];

    return realpath(path, text) ? text : "";
}

/* ---- Detection ---- */

static const char *const drivers[] = {"proc/driver/nvidia/version",
                                      "dev/nvidiactl", "dev/dxg"};

Test(harness_gpu_setup, detects_a_driver_by_its_files)
{
    char path[PATH_MAX];

    cr_expect_not(test_log_gpu_driver(test_path("none")));
    for (size_t i = 0; i < sizeof(drivers) / sizeof(*drivers); i++) {
        snprintf(path, sizeof(path), "%s/%zu/%s", test_path(""), i, drivers[i]);
        *strrchr(path, '/') = '\0';
        cr_assert_eq(test_log_make_folders(path), 0);
        snprintf(path, sizeof(path), "%s/%zu/%s", test_path(""), i, drivers[i]);
        test_save(path, "", 0);
        snprintf(path, sizeof(path), "%s/%zu", test_path(""), i);
        cr_expect(test_log_gpu_driver(path), "%s", drivers[i]);
    }
}

Test(harness_gpu_setup, finds_no_driver_below_a_very_long_root)
{
    static char root[2 * PATH_MAX];

    memset(root, '/', sizeof(root) - 1);
    cr_expect_not(test_log_gpu_driver(root));
}

Test(harness_gpu_setup, detects_the_static_runtime)
{
    cr_expect(test_log_gpu_linked());
}

Test(harness_gpu_setup, considers_only_a_library_that_is_named)
{
    char path[PATH_MAX];

    cr_assert(test_log_gpu_library(path));
    cr_expect_str_eq(path, resolved(library()));
    setenv("TESTLOG_GPU_LIBRARY", test_path("other.so"), 1);
    test_log_session_export(
        &(struct test_log_session){.gpu_library = library()});
    test_log_session_forget();
    cr_expect_not(test_log_gpu_library(path));
}

Test(harness_gpu_setup, resolves_a_link_to_the_library)
{
    char path[PATH_MAX];

    cr_assert_eq(symlink(library(), test_path("link.so")), 0);
    setenv("TESTLOG_GPU_LIBRARY", test_path("link.so"), 1);
    cr_assert(test_log_gpu_library(path));
    cr_expect_str_eq(path, resolved(library()));
}

/* ---- Variables ---- */

Test(harness_gpu_setup, sets_the_library_for_workers)
{
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_UNUSED);
    cr_expect_null(gpu.notice);
    cr_expect(gpu.cuda);
    cr_expect_str_eq(value_of("CUDA_INJECTION64_PATH"), resolved(library()));
    cr_expect_null(getenv("LD_PRELOAD"));
}

Test(harness_gpu_setup, sets_the_library_even_without_a_driver)
{
    unlink(test_path("dev/nvidiactl"));
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_NO_DRIVER);
    cr_expect_str_eq(value_of("CUDA_INJECTION64_PATH"), resolved(library()));
}

Test(harness_gpu_setup, keeps_the_library_of_another_tool)
{
    setenv("CUDA_INJECTION64_PATH", "/tools/libother.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_BUSY);
    cr_expect_str_eq(gpu.notice, "GPU trace off: CUDA_INJECTION64_PATH "
                                 "belongs to another tool: /tools/libother.so");
    cr_expect_str_eq(value_of("CUDA_INJECTION64_PATH"), "/tools/libother.so");
}

Test(harness_gpu_setup, replaces_the_library_of_an_outer_run)
{
    setenv("CUDA_INJECTION64_PATH", "/outer/libtestlog-gpu.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_UNUSED);
    cr_expect_str_eq(value_of("CUDA_INJECTION64_PATH"), resolved(library()));
}

Test(harness_gpu_setup, reports_a_missing_library)
{
    unlink(library());
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_NO_LIBCUPTI);
    cr_expect_str_eq(gpu.notice, "GPU trace off: libtestlog-gpu.so not found "
                                 "(set TESTLOG_GPU_LIBRARY)");
    cr_expect_null(getenv("CUDA_INJECTION64_PATH"));
}

Test(harness_gpu_setup, unsets_our_variables_if_off)
{
    options.profiler.device_tracer_level = 0;
    setenv("CUDA_INJECTION64_PATH", "/outer/libtestlog-gpu.so", 1);
    setenv("LD_AUDIT", "/outer/libtestlog-audit.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_OFF);
    cr_expect_null(getenv("CUDA_INJECTION64_PATH"));
    cr_expect_null(getenv("LD_AUDIT"));
}

Test(harness_gpu_setup, keeps_the_variables_of_others_if_off)
{
    setenv("TRACE_CUPTI", "off", 1);
    setenv("CUDA_INJECTION64_PATH", "none", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_OFF);
    cr_expect_str_eq(value_of("CUDA_INJECTION64_PATH"), "none");
}

/* ---- OpenCL ---- */

Test(harness_gpu_setup, adds_our_layer_to_the_users)
{
    char list[PATH_MAX + 64];

    test_log_gpu_prepare(&gpu, &options);
    cr_expect_str_eq(value_of("OPENCL_LAYERS"), resolved(library()));
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_str_eq(value_of("OPENCL_LAYERS"), resolved(library()));
    setenv("OPENCL_LAYERS", "/a.so:/outer/libtestlog-gpu.so:/b.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    snprintf(list, sizeof(list), "/a.so:/b.so:%s", resolved(library()));
    cr_expect_str_eq(value_of("OPENCL_LAYERS"), list);
}

/* Another profiler of CUDA is none of OpenCL. */
Test(harness_gpu_setup, adds_our_layer_beside_a_profiler)
{
    setenv("CUDA_INJECTION64_PATH", "/tools/libother.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_BUSY);
    cr_expect_str_eq(value_of("OPENCL_LAYERS"), resolved(library()));
}

Test(harness_gpu_setup, removes_our_layer_if_off)
{
    options.profiler.device_tracer_level = 0;
    setenv("OPENCL_LAYERS", "/outer/libtestlog-gpu.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_null(getenv("OPENCL_LAYERS"));
    setenv("OPENCL_LAYERS", "/outer/libtestlog-gpu.so:/b.so", 1);
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_str_eq(value_of("OPENCL_LAYERS"), "/b.so");
}

static const char *audited(const char *before)
{
    static char list[PATH_MAX + 64];

    snprintf(list, sizeof(list), "%s%s", before,
             resolved(test_path("libtestlog-audit.so")));
    return list;
}

Test(harness_gpu_setup, sets_LD_AUDIT_for_compilers)
{
    if (trace_compilers_possible())
        cr_skip_test("this program may have compilers");
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_null(getenv("LD_AUDIT"));
    compilers = true;
    if (!trace_compilers_possible())
        cr_skip_test("this program has no compilers");
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_str_eq(value_of("LD_AUDIT"), audited(""));
    test_log_gpu_prepare(&gpu, &options);
    cr_expect_str_eq(value_of("LD_AUDIT"), audited(""));
    test_log_gpu_hide();
    cr_expect_null(getenv("LD_AUDIT"));
}

/* ---- Any program ---- */

Test(harness_gpu_setup, sets_the_recording_of_any_program)
{
    setenv("LD_PRELOAD", "/a.so", 1);
    setenv("LD_AUDIT", "/b.so", 1);
    test_log_gpu_record(&gpu, &options);
    cr_expect(gpu.asked);
    cr_expect_str_eq(value_of("CUDA_INJECTION64_PATH"), resolved(library()));
    cr_expect_str_eq(value_of("LD_AUDIT"), audited("/b.so:"));
    cr_expect_eq(strncmp(value_of("LD_PRELOAD"), "/a.so:/", 7), 0);
    test_log_gpu_hide();
    cr_expect_str_eq(value_of("LD_AUDIT"), "/b.so");
}

/* A name that only begins with ours is another library. */
Test(harness_gpu_setup, preloads_our_library_beside_a_similar_name)
{
    char before[PATH_MAX + 8], list[2 * PATH_MAX + 8];

    snprintf(before, sizeof(before), "%s.old", resolved(library()));
    snprintf(list, sizeof(list), "%s:%s", before, resolved(library()));
    setenv("LD_PRELOAD", before, 1);
    test_log_gpu_record(&gpu, &options);
    cr_expect_str_eq(value_of("LD_PRELOAD"), list);
    test_log_gpu_record(&gpu, &options);
    cr_expect_str_eq(value_of("LD_PRELOAD"), list);
}

Test(harness_gpu_setup, preloads_nothing_without_the_library)
{
    unlink(library());
    test_log_gpu_record(&gpu, &options);
    cr_expect_eq(gpu.state, TEST_LOG_GPU_NO_LIBCUPTI);
    cr_expect_null(getenv("LD_PRELOAD"));
}

/* cupti_library_test.c: finds libcupti. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/support/devices.h"

TestSuite(cupti_library, .init = devices_init);

static char first[PATH_MAX];
static unsigned tried;

/* Notes the path of a candidate; accepts only those in the test's folder. */
static bool is_ours(void *handle)
{
    void *symbol = dlsym(handle, "cuptiGetVersion");
    Dl_info info;

    tried++;
    if (first[0] || !symbol || !dladdr(symbol, &info) ||
        !strstr(info.dli_fname, "testlog-unit-"))
        return false;
    cr_assert(realpath(info.dli_fname, first));
    return true;
}

/* Puts the playback library at a path below the test's folder. */
static const char *install(const char *name)
{
    char command[PATH_MAX * 3];

    snprintf(command, sizeof(command), "mkdir -p $(dirname %s) && cp %s %s",
             test_path(name), BUILD_DIR "/tests/playback.so", test_path(name));
    cr_assert_eq(system(command), 0);
    return test_path(name);
}

static void expect_found(const char *name)
{
    char path[PATH_MAX];

    unsetenv("TRACE_CUPTI");
    first[0] = '\0';
    cupti_search(is_ours);
    cr_assert(realpath(test_path(name), path));
    cr_expect_str_eq(first, path);
}

Test(cupti_library, uses_only_the_given_library)
{
    setenv("CUDA_HOME", test_path("home"), 1);
    install("home/lib64/libcupti.so.13");
    setenv("TRACE_CUPTI", "/nowhere.so", 1);
    cr_expect_eq(cupti_search(is_ours), 0);
    cr_expect_eq(tried, 0);
    setenv("TRACE_CUPTI", install("any.so"), 1);
    cr_expect_eq(cupti_search(is_ours), 1);
    cr_expect(strstr(first, "any.so"));
}

Test(cupti_library, searches_the_toolkit_named_by_a_variable)
{
    setenv("CUDA_HOME", test_path("home"), 1);
    install("home/extras/CUPTI/lib64/libcupti.so.12");
    expect_found("home/extras/CUPTI/lib64/libcupti.so.12");
}

Test(cupti_library, prefers_the_newer_library)
{
    setenv("CUDA_PATH", test_path("home"), 1);
    install("home/lib64/libcupti.so.12");
    install("home/lib64/libcupti.so.13");
    expect_found("home/lib64/libcupti.so.13");
}

Test(cupti_library, prefers_a_loaded_library)
{
    setenv("CUDA_HOME", test_path("home"), 1);
    install("home/lib64/libcupti.so.13");
    cr_assert(dlopen(install("wheel/libcupti-0a1b2c.so.12"), RTLD_NOW));
    expect_found("wheel/libcupti-0a1b2c.so.12");
}

Test(cupti_library, searches_beside_the_loaded_runtime)
{
    setenv("CUDA_HOME", test_path("home"), 1);
    install("home/lib64/libcupti.so.13");
    install("kit/lib64/libcupti.so.12");
    cr_assert(dlopen(install("kit/lib64/libcudart.so.12"), RTLD_NOW));
    expect_found("kit/lib64/libcupti.so.12");
}

Test(cupti_library, searches_python_wheels)
{
    install("site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
    cr_assert(
        dlopen(install("site-packages/nvidia/cuda_runtime/lib/libcudart.so.12"),
               RTLD_NOW));
    expect_found("site-packages/nvidia/cuda_cupti/lib/libcupti.so.12");
}

Test(cupti_library, finds_a_symbol_of_a_loaded_library)
{
    char path[PATH_MAX];

    cr_expect_not(cupti_loaded("libplay", path));
    cr_expect_null(cupti_symbol("libplay", "trace_playback_id"));
    cr_assert(dlopen(install("libplayback.so.1"), RTLD_NOW | RTLD_LOCAL));
    cr_expect(cupti_loaded("libplay", path));
    cr_expect(cupti_symbol("libplay", "trace_playback_id"));
    cr_expect_null(cupti_symbol("libplay", "nothing"));
}

/* compilers_toolkit_test.c: records the real NVRTC and nvJitLink, which need no
 * device.
 */
#include "tests/support/compilers.h"

#include <stdlib.h>

TestSuite(compilers_toolkit, .init = e2e_begin);

#define SAXPY                                                                  \
    "'extern \"C\" __global__ void saxpy(float a, float *x, float *y) "        \
    "{ int i = threadIdx.x; y[i] += a * x[i]; }'"

static void expect_size(const char *stage, const char *field)
{
    cr_expect_gt(atoi(compilers_value(stage, field)), 100, "%s", field);
}

static void compile(enum compilers_user user, const char *before)
{
    const char *libraries = compilers_toolkit();
    const struct e2e *result = compilers_run(user, libraries, before,
                                             "recording compile " SAXPY
                                             " --gpu-architecture=compute_90");

    e2e_expect_has(result->out, "result=0");
    cr_expect_eq(compilers_count("nvrtc", NULL), 1);
    expect_size("nvrtc", "ptx_bytes");
    cr_expect_str_eq(compilers_value("nvrtc", "cubin_bytes"), "");
    cr_expect(compilers_inside("nvrtc"));
    compilers_run(user, libraries, before,
                  "recording compile " SAXPY " -arch=sm_90");
    expect_size("nvrtc", "ptx_bytes");
    expect_size("nvrtc", "cubin_bytes");
}

Test(compilers_toolkit, records_ptx_and_machine_code)
{
    compile(USER_LINKED, "");
}

Test(compilers_toolkit, records_a_compiler_that_is_looked_up)
{
    compile(USER_LATE, compilers_audit());
}

Test(compilers_toolkit, records_a_compiler_in_a_plugin)
{
    compile(USER_PLUGIN, compilers_audit());
}

Test(compilers_toolkit, records_the_log_of_an_error)
{
    compilers_run(USER_SHARED, compilers_toolkit(), "NAME=bad.cu",
                  "recording compile '__global__ void f() { nonsense; }'");
    cr_expect_eq(compilers_level("nvrtc"), TRACE_LEVEL_ERROR);
    cr_expect_str_eq(compilers_value("nvrtc", "result"),
                     "NVRTC_ERROR_COMPILATION");
    e2e_expect_has(compilers_value("nvrtc", "log"),
                   "bad.cu(1): error:", "nonsense");
}

static void link_ptx(enum compilers_user user, const char *before)
{
    const struct e2e *result = compilers_run(user, compilers_toolkit(), before,
                                             "recording ptx " SAXPY);

    e2e_expect_has(result->out, "linked=0\n");
    cr_expect_eq(compilers_count("nvrtc", "real.cu"), 1);
    cr_expect_eq(compilers_count("nvjitlink", "real.ptx"), 1);
    cr_expect_str_eq(compilers_value("nvjitlink", "input_types"), "ptx");
    expect_size("nvjitlink", "cubin_bytes");
}

Test(compilers_toolkit, records_a_link_of_ptx)
{
    link_ptx(USER_LINKED, "");
}

Test(compilers_toolkit, records_a_linker_that_is_looked_up)
{
    link_ptx(USER_LATE, compilers_audit());
}

Test(compilers_toolkit, records_a_link_that_fails)
{
    compilers_run(USER_LINKED, compilers_toolkit(), "",
                  "recording link 'no ptx at all'");
    cr_expect_eq(compilers_level("nvjitlink"), TRACE_LEVEL_ERROR);
    e2e_expect_has(compilers_value("nvjitlink", "result"), "NVJITLINK_ERROR_");
}

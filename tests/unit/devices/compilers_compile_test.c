/* compilers_compile_test.c: records calls of compilers that a program is linked
 * with; stand-ins replace the libraries.
 */
#include "tests/support/compilers.h"

TestSuite(compilers_compile, .init = e2e_begin);

static const struct e2e *run(enum compilers_user user, const char *arguments)
{
    return compilers_run(user, compilers_fake(), "NAME=saxpy.cu", arguments);
}

static void expect_compiled(enum compilers_user user)
{
    const struct e2e *result =
        run(user, "recording compile 'kernel' -a '-D X'");

    e2e_expect_has(result->out, "result=0 errno=7\n");
    e2e_expect_is(result->err, "");
    cr_expect_eq(compilers_count("nvrtc", "saxpy.cu"), 1);
    cr_expect_str_eq(compilers_value("nvrtc", "options"), "-a -D X");
    cr_expect_str_eq(compilers_value("nvrtc", "source_bytes"), "6");
    cr_expect_str_eq(compilers_value("nvrtc", "ptx_bytes"), "1234");
    cr_expect_str_eq(compilers_value("nvrtc", "cubin_bytes"), "");
    cr_expect_str_eq(compilers_value("nvrtc", "result"), "");
    cr_expect_str_eq(compilers_value("nvrtc", "log"), "");
    cr_expect_eq(compilers_level("nvrtc"), TRACE_LEVEL_TRACE);
    cr_expect(compilers_inside("nvrtc"));
}

Test(compilers_compile, records_a_linked_program)
{
    expect_compiled(USER_LINKED);
}

Test(compilers_compile, records_a_program_bound_at_startup)
{
    expect_compiled(USER_NOW);
}

Test(compilers_compile, records_a_program_in_cxx)
{
    expect_compiled(USER_CXX);
}

Test(compilers_compile, records_a_shared_library_of_the_user)
{
    expect_compiled(USER_SHARED);
}

Test(compilers_compile, records_the_log_of_a_failure)
{
    e2e_expect_has(run(USER_LINKED, "recording compile 'kernel fail'")->out,
                   "result=6 errno=7\n");
    cr_expect_eq(compilers_level("nvrtc"), TRACE_LEVEL_ERROR);
    cr_expect_str_eq(compilers_value("nvrtc", "result"),
                     "NVRTC_ERROR_COMPILATION");
    cr_expect_str_eq(compilers_value("nvrtc", "log"),
                     "saxpy.cu(1): error: it fails\n2nd line");
    cr_expect_str_eq(compilers_value("nvrtc", "log_bytes"), "38");
    cr_expect_str_eq(compilers_value("nvrtc", "ptx_bytes"), "");
}

Test(compilers_compile, records_a_warning)
{
    run(USER_LINKED, "recording compile 'kernel warn'");
    cr_expect_eq(compilers_level("nvrtc"), TRACE_LEVEL_TRACE);
    cr_expect_str_eq(compilers_value("nvrtc", "log"),
                     "saxpy.cu(1): warning: unused");
}

Test(compilers_compile, records_lowered_names)
{
    run(USER_LINKED, "recording compile 'named kernel'");
    cr_expect_str_eq(compilers_value("nvrtc", "kernel.names"), "_Zsaxpy");
}

/* The FNV-1a hash of "a", as in its specification. */
Test(compilers_compile, records_the_hash_of_the_source)
{
    run(USER_LINKED, "recording compile a");
    cr_expect_str_eq(compilers_value("nvrtc", "source_fnv"),
                     "af63dc4c8601ec8c");
}

Test(compilers_compile, replaces_newlines_in_a_program_s_name)
{
    compilers_run(USER_LINKED, compilers_fake(), "NAME=\"$(printf 'a\\nb')\"",
                  "recording compile kernel");
    cr_expect_eq(compilers_count("nvrtc", "a?b"), 1);
    compilers_run(USER_LINKED, compilers_fake(), "",
                  "recording compile kernel");
    cr_expect_eq(compilers_count("nvrtc", "default_program"), 1);
}

Test(compilers_compile, records_a_compilation_inside_another)
{
    run(USER_LINKED, "recording compile 'kernel again'");
    cr_expect_eq(compilers_count("nvrtc", "saxpy.cu"), 1);
    cr_expect_eq(compilers_count("nvrtc", "inner.cu"), 1);
}

Test(compilers_compile, records_compilations_on_many_threads)
{
    run(USER_LINKED, "recording threads 'kernel warn'");
    cr_expect_eq(compilers_count("nvrtc", "thread.cu"), 200);
    cr_expect_str_eq(compilers_value("nvrtc", "source_bytes"), "11");
}

Test(compilers_compile, records_a_link)
{
    const struct e2e *result = run(USER_LINKED, "recording link 'some ptx'");

    e2e_expect_has(result->out, "linked=0\n");
    cr_expect_eq(compilers_count("nvjitlink", "input.ptx"), 1);
    cr_expect_str_eq(compilers_value("nvjitlink", "options"),
                     "-arch=sm_90 -O3");
    cr_expect_str_eq(compilers_value("nvjitlink", "inputs"), "1");
    cr_expect_str_eq(compilers_value("nvjitlink", "input_bytes"), "9");
    cr_expect_str_eq(compilers_value("nvjitlink", "input_types"), "ptx");
    cr_expect_str_eq(compilers_value("nvjitlink", "cubin_bytes"), "77");
}

Test(compilers_compile, records_a_link_that_fails)
{
    const struct e2e *result = run(USER_SHARED, "recording link 'fail'");

    e2e_expect_has(result->out, "linked=4\n");
    cr_expect_eq(compilers_level("nvjitlink"), TRACE_LEVEL_ERROR);
    cr_expect_str_eq(compilers_value("nvjitlink", "result"),
                     "NVJITLINK_ERROR_PTX_COMPILE");
    cr_expect_str_eq(compilers_value("nvjitlink", "log"),
                     "error: undefined symbol");
}

Test(compilers_compile, compiles_without_a_recording)
{
    const struct e2e *result = run(USER_LINKED, "none compile kernel");

    e2e_expect_has(result->out, "result=0 errno=7\n");
    cr_expect_not(e2e_exists("recording"));
}

/* The linker dropped the library, because nothing seemed to use it. */
Test(compilers_compile, loads_a_library_that_the_linker_dropped)
{
    const struct e2e *result = run(USER_MISSING, "recording compile kernel");

    e2e_expect_has(result->out, "result=0 errno=7\n");
    e2e_expect_is(result->err, "");
    cr_expect_eq(compilers_count("nvrtc", "saxpy.cu"), 1);
    cr_expect_str_eq(compilers_value("nvrtc", "ptx_bytes"), "1234");
}

Test(compilers_compile, reports_a_library_that_cannot_be_loaded)
{
    const struct e2e *result;

    e2e_run("mkdir none && cd none && for v in '' .13 .12 .11.2 .4; do "
            "touch libnvrtc.so$v; done");
    result =
        compilers_run(USER_MISSING, "none", "", "recording compile kernel");
    e2e_expect_has(result->out, "no program\n");
    e2e_expect_is(result->err, "testlog: nvrtcCreateProgram is called, but "
                               "libnvrtc cannot be loaded\n");
}

/* ---- Programs that compile nothing ---- */

Test(compilers_compile, exports_no_compiler_function_in_other_programs)
{
    const char *path = e2e_program("small", E2E_TRACED);

    e2e_expect_is(
        e2e_run("nm -D '%s' | grep -E 'nvrtc|nvvm|nvJit' || true", path)->out,
        "");
}

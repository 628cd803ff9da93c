/* compilers_audit_test.c: records calls of compilers that a program looks up at
 * run time.
 */
#include "tests/support/compilers.h"

TestSuite(compilers_audit, .init = e2e_begin);

static const struct e2e *run(enum compilers_user user, const char *arguments)
{
    char before[2 * PATH_MAX];

    snprintf(before, sizeof(before), "NAME=late.cu %s", compilers_audit());
    return compilers_run(user, compilers_fake(), before, arguments);
}

static void expect_compiled(enum compilers_user user)
{
    const struct e2e *result = run(user, "recording compile 'kernel' -x");

    e2e_expect_has(result->out, "result=0 errno=7\n");
    e2e_expect_is(result->err, "");
    cr_expect_eq(compilers_count("nvrtc", "late.cu"), 1);
    cr_expect_eq(compilers_count("nvrtc", NULL), 1);
    cr_expect_str_eq(compilers_value("nvrtc", "options"), "-x");
    cr_expect_str_eq(compilers_value("nvrtc", "ptx_bytes"), "1234");
    cr_expect(compilers_inside("nvrtc"));
}

Test(compilers_audit, records_functions_that_are_looked_up)
{
    expect_compiled(USER_LATE);
}

Test(compilers_audit, records_a_linked_plugin)
{
    expect_compiled(USER_PLUGIN);
}

/* The linked wrapper and the audit must not both record a call. */
Test(compilers_audit, records_a_linked_program_once)
{
    expect_compiled(USER_LINKED);
}

Test(compilers_audit, records_a_program_bound_at_startup)
{
    expect_compiled(USER_NOW);
}

Test(compilers_audit, records_a_shared_library_of_the_user)
{
    expect_compiled(USER_SHARED);
}

/* Each plugin's calls go to the library that it is linked with, even if that
 * was loaded again elsewhere. */
static void expect_own(const char *before)
{
    e2e_expect_is(e2e_run("%s ./many keep ./1.so ./2.so ./1.so", before)->out,
                  "0\n0\n0\n");
    e2e_expect_is(
        e2e_run("%s ./many close ./1.so ./1.so ./2.so ./1.so", before)->out,
        "0\n0\n0\n0\n");
}

Test(compilers_audit, distinguishes_libraries_of_the_same_name)
{
    compilers_many();
    expect_own("");
    expect_own(compilers_audit());
}

Test(compilers_audit, records_failures)
{
    e2e_expect_has(run(USER_LATE, "recording compile fail")->out,
                   "result=6 errno=7\n");
    cr_expect_eq(compilers_level("nvrtc"), TRACE_LEVEL_ERROR);
    e2e_expect_has(run(USER_LATE, "recording link fail")->out, "linked=4\n");
    cr_expect_str_eq(compilers_value("nvjitlink", "log"),
                     "error: undefined symbol");
}

Test(compilers_audit, records_many_threads)
{
    run(USER_LATE, "recording threads kernel");
    cr_expect_eq(compilers_count("nvrtc", "thread.cu"), 200);
}

Test(compilers_audit, records_nothing_without_the_audit)
{
    const struct e2e *result = compilers_run(USER_LATE, compilers_fake(), "",
                                             "recording compile kernel");

    e2e_expect_has(result->out, "result=0 errno=7\n");
    cr_expect_eq(compilers_count("nvrtc", NULL), 0);
}

/* Programs unrelated to testlog run under the audit. */
Test(compilers_audit, leaves_other_programs_alone)
{
    const struct e2e *result =
        e2e_run("%s sh -c 'ls / >/dev/null && echo well'", compilers_audit());

    e2e_expect_is(result->out, "well\n");
    e2e_expect_is(result->err, "");
}

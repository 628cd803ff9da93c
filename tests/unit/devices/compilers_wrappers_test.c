/* compilers_wrappers_test.c: real functions behind the wrappers. */
#include <criterion/criterion.h>
#include <dlfcn.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/support/devices.h"
#include "tests/support/e2e.h"

#include "trace/devices/compilers/compilers.h"

TestSuite(compilers_wrappers, .init = devices_init);

static int answer(void)
{
    return 42;
}

static struct trace_wrapper wrapper = {
    .name = "testlogAbsentLibraryAnswer",
    .verb = "Answer",
    .entries = {(trace_routine *)answer},
};
static const struct trace_wrappers wrappers = {"testlogAbsentLibrary", &wrapper,
                                               1};

/* The program may ask dlerror about a lookup of its own. */
Test(compilers_wrappers, a_failed_lookup_leaves_no_error)
{
    cr_expect_null(
        trace_wrapper_look_up(RTLD_DEFAULT, "testlogAbsentLibraryAnswer"));
    cr_expect_null(dlerror());
}

Test(compilers_wrappers, finds_the_object_of_a_function)
{
    trace_routine *found = trace_wrapper_look_up(RTLD_DEFAULT, "getenv");

    cr_assert(found);
    cr_expect_not(trace_wrapper_is_in((trace_routine *)answer, "libc."));
    cr_expect_not(trace_wrapper_is_in(found, "libnvrtc"));
}

static void call_absent(void)
{
    struct trace_call call;

    errno = 7;
    call = trace_call_of(&wrappers, 0, 0, (void *)(uintptr_t)call_absent);
    _exit(call.real || errno != 7);
}

Test(compilers_wrappers, reports_a_library_that_cannot_be_loaded)
{
    int status, before = dup(STDERR_FILENO);
    int file = open(test_path("errors"), O_WRONLY | O_CREAT, 0644);

    cr_assert_geq(dup2(file, STDERR_FILENO), 0);
    status = test_child(call_absent);
    dup2(before, STDERR_FILENO);
    close(before);
    close(file);
    cr_expect_eq(status, 0);
    cr_expect_str_eq(test_load(test_path("errors"), NULL),
                     "testlog: testlogAbsentLibraryAnswer is called, but "
                     "libtestlogAbsentLibrary cannot be loaded\n");
}

#define CODE                                                                   \
    "int testlogFakeAnswer(void) { return 1; }\n"                              \
    "int testlogFakeQuestion(void) { return 2; }\n"

/* A library's other functions are those of the object that has the first. */
Test(compilers_wrappers, finds_functions_of_a_loaded_library)
{
    static struct trace_wrapper fake = {
        .name = "testlogFakeAnswer",
        .verb = "Answer",
        .entries = {(trace_routine *)answer},
    };
    static const struct trace_wrappers fakes = {"testlogFake", &fake, 1};
    struct trace_call call;
    trace_routine *other;

    devices_object("libtestlogFake.so", CODE);
    call = trace_call_of(&fakes, 0, 0, (void *)(uintptr_t)call_absent);
    cr_assert(call.real);
    cr_expect_eq(((int (*)(void))call.real)(), 1);
    other = trace_call_other(&call, "Question");
    cr_assert(other);
    cr_expect_eq(((int (*)(void))other)(), 2);
    cr_expect_null(trace_call_other(&call, "Nothing"));
}

Test(compilers_wrappers, calls_the_function_that_the_audit_library_assigned)
{
    struct trace_call call;

    wrapper.real[1] = (trace_routine *)answer;
    call = trace_call_of(&wrappers, 0, 1, NULL);
    cr_assert(call.real == (trace_routine *)answer);
    cr_expect_eq(((int (*)(void))call.real)(), 42);
}

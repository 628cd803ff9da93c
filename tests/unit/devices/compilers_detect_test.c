/* compilers_detect_test.c: programs that may load a compiler. */
#include "tests/support/compilers.h"

TestSuite(compilers_detect, .init = e2e_begin);

static const char *output(enum compilers_user user)
{
    return compilers_run(user, compilers_fake(), "NAME=saxpy.cu", "none none x")
        ->out;
}

Test(compilers_detect, finds_no_name_in_a_program_without_compilers)
{
    e2e_expect_has(output(USER_PLUGIN), "possible=0\n");
}

Test(compilers_detect, finds_the_name_of_a_library_to_load)
{
    e2e_expect_has(output(USER_LATE), "possible=1\n");
}

Test(compilers_detect, finds_a_library_that_is_linked)
{
    e2e_expect_has(output(USER_LINKED), "possible=1\n");
}

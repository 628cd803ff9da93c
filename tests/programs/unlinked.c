/* unlinked.c: tests of a program that is linked with Criterion only. */
#include <criterion/criterion.h>
#include <criterion/parameterized.h>

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

Test(unlinked, passes)
{
    puts("printed by a passing test");
}

Test(unlinked, fails)
{
    puts("printed by a failing test");
    cr_assert(false, "no answer");
}

Test(unlinked, crashes)
{
    abort();
}

Test(unlinked, exits, .exit_code = 3)
{
    exit(3);
}

Test(unlinked, is_disabled, .disabled = true)
{
}

Test(unlinked, hangs, .timeout = 0.2)
{
    pause();
}

/* What a program that a test starts sees. */
Test(unlinked, starts_a_program)
{
    cr_expect_eq(system("env >>\"${UNLINKED:-/dev/null}\""), 0);
}

ParameterizedTestParameters(unlinked, instances)
{
    static int numbers[] = {1, 2};

    return cr_make_param_array(int, numbers, 2);
}

ParameterizedTest(int *number, unlinked, instances)
{
    cr_expect_eq(*number, 1, "number %d", *number);
}

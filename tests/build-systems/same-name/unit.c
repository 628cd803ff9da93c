/* unit.c: a test that fails in one of two programs. */
#include <criterion/criterion.h>

Test(unit, test)
{
#ifdef FAILS
    cr_assert(0);
#endif
}

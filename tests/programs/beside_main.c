/* beside_main.c: a function directly behind main, if both are compiled with
 * -O1, which aligns no function. */
#include <criterion/criterion.h>

int beside_main(int number);

__attribute__((noinline)) int beside_main(int number)
{
    return number * 3;
}

Test(beside_main, is_whole)
{
    volatile int number = 14;

    cr_assert_eq(beside_main(number), 42);
}

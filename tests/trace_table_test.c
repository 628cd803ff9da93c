/* trace_table_test.c: numbers are found by their keys. */
#include "support.h"

#include <criterion/criterion.h>

TestSuite(trace_table);

static uint64_t key_of(uint32_t i)
{
    return (uint64_t)i << 32 | (i * 7 & 0xff);
}

Test(trace_table, an_empty_one_has_no_key)
{
    struct trace_table table = {0};
    uint32_t number = 5;

    cr_expect_not(trace_table_find(&table, 0, &number));
    cr_expect_eq(number, 5);
    trace_table_free(&table);
}

Test(trace_table, finds_what_was_set_last)
{
    enum { MANY = 10000 };
    struct trace_table table = {0};
    uint32_t number;

    for (uint32_t i = 0; i < MANY; i++)
        cr_assert(trace_table_set(&table, key_of(i), i));
    for (uint32_t i = 0; i < MANY; i += 3)
        cr_assert(trace_table_set(&table, key_of(i), MANY + i));
    cr_expect_eq(table.count, MANY);
    for (uint32_t i = 0; i < MANY; i++) {
        cr_assert(trace_table_find(&table, key_of(i), &number));
        cr_assert_eq(number, i % 3 ? i : MANY + i);
        cr_assert_not(trace_table_find(&table, key_of(i) + 0x100, &number));
    }
    trace_table_free(&table);
    cr_expect_not(trace_table_find(&table, key_of(1), &number));
}

Test(trace_table, survives_a_lack_of_memory)
{
    struct trace_table table = {0};
    uint32_t number, i = 0;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    cr_assert(trace_table_set(&table, key_of(i), i));
    test_fail_memory(1, false);
    while (trace_table_set(&table, key_of(i + 1), i + 1))
        i++;
    test_fail_memory(0, false);
    cr_expect_eq(table.count, i + 1);
    for (uint32_t k = 0; k <= i; k++)
        cr_expect(trace_table_find(&table, key_of(k), &number) && number == k);
    cr_expect(trace_table_set(&table, key_of(i + 1), i + 1));
    trace_table_free(&table);
}

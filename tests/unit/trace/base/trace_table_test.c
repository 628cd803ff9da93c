/* trace_table_test.c: hash tables that map keys to numbers. */
#include "tests/support/support.h"

#include <criterion/criterion.h>

TestSuite(trace_table);

static uint64_t key_of(uint32_t i)
{
    return (uint64_t)i << 32 | (i * 7 & 0xff);
}

Test(trace_table, finds_nothing_when_empty)
{
    struct trace_table table = {0};
    uintptr_t number = 5;

    cr_expect_not(trace_table_find(&table, 0, &number));
    cr_expect_eq(number, 5);
    trace_table_free(&table);
}

Test(trace_table, finds_the_value_set_last)
{
    enum { MANY = 10000 };
    struct trace_table table = {0};
    uintptr_t number;

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

Test(trace_table, agrees_with_an_array_after_random_changes)
{
    enum { KEYS = 300, STEPS = 20000 };
    struct trace_table table = {0};
    uintptr_t values[KEYS] = {0}, value;
    uint32_t random = 1;

    for (int i = 0; i < STEPS; i++) {
        uint32_t key = (random = random * 1664525 + 1013904223) >> 8;
        size_t at = key % KEYS, count = 0;

        key = (uint32_t)at * 4096;
        cr_assert_eq(trace_table_find(&table, key, &value), values[at] != 0);
        cr_assert(!values[at] || value == values[at]);
        if (random >> 31) {
            values[at] = (uintptr_t)i + 1;
            cr_assert(trace_table_set(&table, key, values[at]));
        } else {
            values[at] = 0;
            trace_table_remove(&table, key);
        }
        for (size_t k = 0; k < KEYS; k++)
            count += values[k] != 0;
        cr_assert_eq(table.count, count);
    }
    trace_table_free(&table);
}

Test(trace_table, visits_each_value_once)
{
    enum { MANY = 1000 };
    struct trace_table table = {0};
    size_t cursor = 0, count = 0;
    bool seen[MANY] = {false};
    uintptr_t number;

    cr_expect_not(trace_table_next(&table, &cursor, &number));
    for (uint32_t i = 0; i < MANY; i++)
        cr_assert(trace_table_set(&table, key_of(i), i));
    for (uint32_t i = 0; i < MANY; i += 2)
        trace_table_remove(&table, key_of(i));
    for (; trace_table_next(&table, &cursor, &number); count++) {
        cr_assert(number % 2 && !seen[number]);
        seen[number] = true;
    }
    cr_expect_eq(count, MANY / 2);
    trace_table_free(&table);
}

/* Evenly spaced keys must not form long runs. */
Test(trace_table, spreads_keys_of_any_stride)
{
    static const uint32_t strides[] = {1,   2,    3,       64,
                                       256, 4096, 1 << 16, 1 << 20};

    for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
        struct trace_table table = {0};
        size_t longest = 0, length = 0;

        for (uint32_t key = 0; key < 4000; key++)
            cr_assert(trace_table_set(&table, key * strides[i], key));
        for (size_t slot = 0; slot < table.size; slot++) {
            length = table.slots[slot].taken ? length + 1 : 0;
            longest = length > longest ? length : longest;
        }
        cr_expect_lt(longest, 100, "stride %u: %zu", strides[i], longest);
        trace_table_free(&table);
    }
}

Test(trace_table, survives_a_lack_of_memory)
{
    struct trace_table table = {0};
    uintptr_t number;
    uint32_t i = 0;

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

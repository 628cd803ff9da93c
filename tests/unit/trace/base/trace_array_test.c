/* trace_array_test.c: arrays that grow. */
#include "tests/support/support.h"

#include "trace/base/containers.h"

#include <criterion/criterion.h>
#include <stdlib.h>

TestSuite(trace_array);

Test(trace_array, keeps_its_elements_as_it_grows)
{
    enum { MANY = 10000 };
    size_t capacity = 0;
    int *numbers = NULL;

    for (int i = 0; i < MANY; i++) {
        cr_assert(TRACE_ARRAY_RESERVE(numbers, capacity, (size_t)i + 1));
        cr_assert_gt(capacity, (size_t)i);
        cr_assert_eq(numbers[i], 0);
        numbers[i] = i + 1;
    }
    for (int i = 0; i < MANY; i++)
        cr_assert_eq(numbers[i], i + 1);
    free(numbers);
}

Test(trace_array, grows_to_a_distant_index_with_zeroes)
{
    size_t capacity = 0;
    uint64_t *numbers = NULL;

    cr_assert(TRACE_ARRAY_RESERVE(numbers, capacity, 1));
    numbers[0] = 7;
    cr_assert(TRACE_ARRAY_RESERVE(numbers, capacity, 1001));
    cr_expect_eq(numbers[0], 7);
    for (size_t i = 1; i < capacity; i++)
        cr_assert_eq(numbers[i], 0);
    free(numbers);
}

/* Otherwise, appending n elements would copy more than O(n) of them. */
Test(trace_array, at_least_doubles_its_capacity)
{
    size_t capacity = 0, grown = 0;
    char *bytes = NULL;

    for (size_t i = 0; i < 100000; i++) {
        size_t before = capacity;

        cr_assert(TRACE_ARRAY_RESERVE(bytes, capacity, i + 1));
        cr_assert(capacity == before || capacity >= 2 * before);
        grown += capacity != before;
    }
    cr_expect_lt(grown, 20);
    free(bytes);
}

Test(trace_array, leaves_the_array_alone_without_memory)
{
    size_t capacity = 0;
    int *numbers = NULL, *before;

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    cr_assert(TRACE_ARRAY_RESERVE(numbers, capacity, 4));
    numbers[3] = 5;
    before = numbers;
    test_fail_memory(1, false);
    cr_expect_not(TRACE_ARRAY_RESERVE(numbers, capacity, 100000));
    test_fail_memory(0, false);
    cr_expect_eq(numbers, before);
    cr_expect_eq(numbers[3], 5);
    cr_expect_lt(capacity, 100000);
    free(numbers);
}

Test(trace_array, refuses_sizes_that_overflow)
{
    size_t capacity = 0;
    uint64_t *numbers = NULL;

    cr_expect_not(TRACE_ARRAY_RESERVE(numbers, capacity, SIZE_MAX / 2));
    cr_expect_null(numbers);
    cr_expect_eq(capacity, 0);
}

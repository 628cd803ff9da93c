/* trace_test_rows_test.c: rows of tests that ran one after another. */
#include "trace/read/reader.h"
#include "trace/read/test_rows.h"

#include <stdlib.h>

#include <criterion/criterion.h>

TestSuite(trace_test_rows, .timeout = 120);

/* Finds the row by looking at all: the one that was idle for the shortest time,
 * and the first of several. */
static size_t search(uint64_t *ends, size_t *count, uint64_t begin)
{
    size_t found = *count;

    for (size_t i = 0; i < *count; i++)
        if (ends[i] <= begin && (found == *count || ends[i] > ends[found]))
            found = i;
    *count += found == *count;
    return found;
}

/* Adds tests at random; false if one is not where it belongs. */
static bool add_all(unsigned *seed, unsigned step)
{
    enum { TESTS = 400, LENGTHS = 12 };
    struct trace_test_rows rows = {0};
    uint64_t ends[TESTS] = {0}, begin = 1, since;
    size_t count = 0;
    bool right = true;

    for (size_t i = 0; right && i < TESTS; i++) {
        uint64_t end = begin + (uint64_t)(rand_r(seed) % LENGTHS);
        size_t row = search(ends, &count, begin);

        right = trace_test_rows_add(&rows, begin, end, &since) == row &&
                since == ends[row] && rows.count == count;
        ends[row] = end;
        begin += (unsigned)rand_r(seed) % step;
    }
    trace_test_rows_free(&rows);
    return right;
}

Test(trace_test_rows, chooses_the_row_that_was_idle_for_the_shortest_time)
{
    unsigned seed = 1;

    for (unsigned i = 0; i < 500; i++)
        cr_assert(add_all(&seed, 1 + i % 5), "%u", i);
}

/* If each test looked at all rows, this would take a quarter of an hour. */
Test(trace_test_rows, takes_millions_of_tests_at_once)
{
    enum { TESTS = 2000000 };
    struct trace_test_rows rows = {0};
    size_t wrong = 0;
    uint64_t since;

    for (uint64_t i = 0; i < 2 * TESTS; i++)
        wrong += trace_test_rows_add(&rows, i, TESTS + i, &since) != i % TESTS;
    cr_expect_eq(wrong, 0);
    cr_expect_eq(rows.count, TESTS);
    trace_test_rows_free(&rows);
}

/* runners_percentiles_test.c: estimates how durations are spread. */
#include "runners/stat/stat.h"

#include <math.h>
#include <stdlib.h>

#include <criterion/criterion.h>

#include "tests/support/support.h"

static struct percentiles percentiles;

static void end(void)
{
    runners_percentiles_free(&percentiles);
}

TestSuite(runners_percentiles, .fini = end);

static void add(uint64_t duration)
{
    cr_assert_eq(runners_percentiles_add(&percentiles, duration), 0);
}

Test(runners_percentiles, has_no_durations_at_first)
{
    cr_expect_eq(runners_percentiles_quantile(&percentiles, 0.5), 0);
    cr_expect_eq(runners_percentiles_deviation(&percentiles), 0);
}

Test(runners_percentiles, is_exact_for_equal_durations)
{
    static const uint64_t durations[] = {0, 1, 127, 128, 12345678, UINT64_MAX};

    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++) {
        runners_percentiles_free(&percentiles);
        add(durations[i]);
        add(durations[i]);
        cr_expect_eq(runners_percentiles_quantile(&percentiles, 0.5),
                     durations[i]);
        cr_expect_eq(runners_percentiles_quantile(&percentiles, 0.99),
                     durations[i]);
        cr_expect_eq(runners_percentiles_deviation(&percentiles), 0);
    }
}

/* 2, 4, 4, 4, 5, 5, 7, 9 have a mean of 5 and a deviation of 2. */
Test(runners_percentiles, sums_up)
{
    static const uint64_t durations[] = {9, 2, 4, 5, 4, 5, 4, 7};

    for (size_t i = 0; i < sizeof(durations) / sizeof(*durations); i++)
        add(durations[i]);
    cr_expect_eq(percentiles.count, 8);
    cr_expect_eq(percentiles.total, 40);
    cr_expect_eq(percentiles.least, 2);
    cr_expect_eq(percentiles.most, 9);
    cr_expect_float_eq(percentiles.mean, 5, 1e-9);
    cr_expect_float_eq(runners_percentiles_deviation(&percentiles), 2, 1e-9);
    cr_expect_eq(runners_percentiles_quantile(&percentiles, 0.5), 4,
                 "the lower one");
    cr_expect_eq(runners_percentiles_quantile(&percentiles, 0.99), 9);
}

static int by_value(const void *a, const void *b)
{
    uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

    return x < y ? -1 : x > y;
}

/* Random durations of all sizes, against sorted ones. */
Test(runners_percentiles, estimates_percentiles_within_the_documented_error)
{
    enum { MANY = 20000 };
    static const double shares[] = {0.01, 0.5, 0.9, 0.99, 1};
    static uint64_t all[MANY];

    test_seed(17);
    for (size_t i = 0; i < MANY; i++) {
        all[i] = (uint64_t)test_random() << 20 >> test_below(50);
        add(all[i]);
    }
    qsort(all, MANY, sizeof(*all), by_value);
    for (size_t i = 0; i < sizeof(shares) / sizeof(*shares); i++) {
        double exact = (double)all[(size_t)ceil(shares[i] * MANY) - 1];
        double found =
            (double)runners_percentiles_quantile(&percentiles, shares[i]);

        cr_expect(fabs(found - exact) <= 0.004 * exact, "%g: %g is not %g",
                  shares[i], found, exact);
    }
    cr_expect_leq(percentiles.bucket_count, 58 * 128);
}

/* runners_slowdowns_test.c: spans that became slower or more frequent. */
#include "tests/support/support.h"

#include "runners/runs/find.h"
#include "runners/stat/stat.h"

#include "runners/diff/slowdowns.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static struct trace_site outer = TEST_SITE(SPAN, INFO, "outer", "m", NULL, 0);

static struct slowdowns slowdowns;

/* Both sides have the name of a span that was recorded, without durations. */
static void begin(void)
{
    const struct recording recording = {.test = NULL};
    struct trace_reader *reader;

    test_folder();
    test_record();
    trace_span_leave_(trace_span_open_(&outer, 0, NULL));
    reader = test_read();
    for (int i = 0; i < 2; i++) {
        struct sums *sums = &slowdowns.sides[i].sums;

        slowdowns.sides[i].recordings = 1;
        cr_assert_eq(trace_reader_rewind(reader), 0);
        cr_assert_eq(runners_sums_add(sums, &recording, reader), 0);
        cr_assert_eq(sums->count, 1);
        runners_percentiles_free(&sums->all[0].durations);
    }
}

static void end(void)
{
    runners_slowdowns_free(&slowdowns);
}

TestSuite(runners_slowdowns, .init = begin, .fini = end);

/* Adds calls that take `time` and, one after the other, more or less. */
static void add(int side, size_t count, uint64_t time, uint64_t more_or_less)
{
    static size_t runs;
    struct sum *sum = &slowdowns.sides[side].sums.all[0];

    for (size_t i = 0; i < count; i++) {
        uint64_t one = i % 2 ? time + more_or_less : time - more_or_less;

        cr_assert_eq(runners_percentiles_add(&sum->durations, one), 0);
        cr_assert_eq(runners_percentiles_add(&sum->run, one), 0);
    }
    cr_assert_eq(runners_slowdowns_measure(&slowdowns.sides[side], runs++), 0);
}

/* Returns how many are slower. */
static size_t found(double over)
{
    free(slowdowns.all);
    slowdowns.all = NULL;
    slowdowns.count = slowdowns.capacity = slowdowns.frequent = 0;
    memset(slowdowns.counts, 0, sizeof(slowdowns.counts));
    cr_assert_eq(runners_slowdowns_compare(&slowdowns, over), 0);
    return slowdowns.counts[VERDICT_SLOWER];
}

#define MS UINT64_C(1000000)

Test(runners_slowdowns, finds_a_slower_span)
{
    add(0, 10, 10 * MS, 0);
    add(1, 10, 13 * MS, 0);
    cr_assert_eq(found(0.1), 1);
    cr_expect_not(slowdowns.all[0].frequent);
    cr_expect_float_eq(slowdowns.all[0].judgement.ratio, 1.3, 0.01);
}

Test(runners_slowdowns, ignores_less_than_the_percentage)
{
    add(0, 10, 10 * MS, 0);
    add(1, 10, 13 * MS, 0);
    cr_expect_eq(found(0.35), 0);
    cr_expect_eq(slowdowns.counts[VERDICT_NOT_SLOWER], 1);
}

Test(runners_slowdowns, ignores_a_faster_span)
{
    add(0, 10, 13 * MS, 0);
    add(1, 10, 10 * MS, 0);
    cr_expect_eq(found(0), 0);
    cr_expect_eq(slowdowns.counts[VERDICT_NOT_SLOWER], 1);
}

Test(runners_slowdowns, says_that_the_noise_is_too_large)
{
    add(0, 10, 10 * MS, 8 * MS);
    add(1, 10, 15 * MS, 0);
    cr_expect_eq(found(0), 0);
    cr_expect_eq(slowdowns.counts[VERDICT_TOO_NOISY], 1);
}

Test(runners_slowdowns, runs_of_a_side_lower_the_noise)
{
    add(0, 10, 100 * MS, 0);
    add(1, 10, 113 * MS, 0);
    cr_expect_eq(found(0), 0);
    for (int i = 0; i < 5; i++) {
        add(0, 10, 100 * MS, 0);
        add(1, 10, 113 * MS, 0);
    }
    cr_expect_eq(found(0), 1);
}

Test(runners_slowdowns, ignores_ten_microseconds_of_a_span)
{
    add(0, 10, MS / 1000, 0);
    add(1, 10, MS / 600, 0);
    cr_expect_eq(found(0.1), 0);
    cr_expect_eq(slowdowns.counts[VERDICT_NOT_SLOWER], 1);
    slowdowns.sides[0].sums.table = STAT_KERNEL;
    cr_expect_eq(found(0.1), 1, "a GPU has a clock of its own");
}

Test(runners_slowdowns, a_few_calls_tell_nothing)
{
    add(0, 1, 100 * MS, 0);
    add(1, 1, 260 * MS, 0);
    cr_expect_eq(found(0.1), 0);
    cr_expect_eq(slowdowns.counts[VERDICT_TOO_NOISY], 1);
}

Test(runners_slowdowns, finds_a_more_frequent_span)
{
    add(0, 10, MS, 0);
    add(1, 12, MS, 0);
    found(0.1);
    cr_assert_eq(slowdowns.frequent, 1);
    cr_expect(slowdowns.all[1].frequent);
    cr_expect_float_eq(slowdowns.all[1].times, 1.2, 1e-9);
}

Test(runners_slowdowns, counts_calls_of_each_recording)
{
    add(0, 10, MS, 0);
    add(1, 20, MS, 0);
    slowdowns.sides[1].recordings = 2;
    found(0);
    cr_expect_eq(slowdowns.frequent, 0);
}

Test(runners_slowdowns, ignores_spans_of_one_run)
{
    runners_sums_free(&slowdowns.sides[0].sums);
    add(1, 10, MS, 0);
    found(0);
    cr_expect_eq(slowdowns.count, 0);
}

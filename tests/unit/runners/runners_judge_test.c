/* runners_judge_test.c: what is slower, and what is too noisy to tell. */
#include "runners/diff/judge.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "runners/stat/stat.h"

enum { OLD, NEW };

static struct measured_runs sides[2];

static void end(void)
{
    for (int i = 0; i < 2; i++)
        free(sides[i].all);
    memset(sides, 0, sizeof(sides));
}

TestSuite(runners_judge, .fini = end);

/* Adds a run of calls from `time` ns to `spread` more, evenly. */
static void add_calls(int side, size_t count, double time, double spread)
{
    struct percentiles calls = {.count = 0};

    for (size_t i = 0; i < count; i++)
        cr_assert_eq(
            runners_percentiles_add(
                &calls, (uint64_t)(time + spread * (double)i / (double)count)),
            0);
    cr_assert_eq(runners_measure_calls(&sides[side], sides[side].count, &calls),
                 0);
    runners_percentiles_free(&calls);
}

static void add_times(int side, const double *times)
{
    for (; *times; times++)
        cr_assert_eq(runners_measure_value(&sides[side], sides[side].count,
                                           *times * 1e6),
                     0);
}

#define TIMES(side, ...) add_times(side, (const double[]){__VA_ARGS__, 0})

static struct judgement judge_of(size_t comparisons)
{
    const struct judge_rules rules = {.over = 0.05, .comparisons = comparisons};

    return runners_judge(&sides[OLD], &sides[NEW], &rules);
}

static enum verdict verdict(void)
{
    return judge_of(1).verdict;
}

/* ---- Student's t ---- */

/* From tables of its quantiles. */
Test(runners_judge, computes_quantiles_of_students_t)
{
    static const struct {
        double probability;
        unsigned freedom;
        double value;
    } rows[] = {
        {0.05, 1, 6.3138},    {0.05, 2, 2.91999}, {0.01, 4, 3.7469},
        {0.01, 9, 2.8214},    {0.001, 5, 5.8934}, {0.005, 30, 2.75},
        {0.025, 1000, 1.962},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
        cr_expect_float_eq(
            runners_student_quantile(rows[i].probability, rows[i].freedom),
            rows[i].value, 1e-3, "row %zu", i);
}

/* ---- Calls of one run a side ---- */

Test(runners_judge, finds_a_factor_of_one_and_a_half)
{
    add_calls(OLD, 40, 100e3, 10e3);
    add_calls(NEW, 40, 150e3, 15e3);
    cr_expect_eq(verdict(), VERDICT_SLOWER);
    cr_expect_float_eq(judge_of(1).ratio, 1.5, 0.01);
    cr_expect_gt(judge_of(1).noise, 0);
    cr_expect_eq(judge_of(1).more_runs, 0);
}

Test(runners_judge, a_preemption_changes_nothing)
{
    struct percentiles calls = {.count = 0};

    for (int i = 0; i < 40; i++)
        cr_assert_eq(runners_percentiles_add(&calls, i ? 100000 : 5000000), 0);
    cr_assert_eq(runners_measure_calls(&sides[OLD], 0, &calls), 0);
    runners_percentiles_free(&calls);
    add_calls(NEW, 40, 300e3, 0);
    cr_expect_eq(verdict(), VERDICT_SLOWER);
    cr_expect_float_eq(judge_of(1).ratio, 3, 0.03);
}

Test(runners_judge, equal_calls_are_not_slower)
{
    add_calls(OLD, 40, 100e3, 1e3);
    add_calls(NEW, 40, 100e3, 1e3);
    cr_expect_eq(verdict(), VERDICT_NOT_SLOWER);
}

Test(runners_judge, faster_calls_are_not_slower)
{
    add_calls(OLD, 40, 200e3, 1e3);
    add_calls(NEW, 40, 100e3, 1e3);
    cr_expect_eq(verdict(), VERDICT_NOT_SLOWER);
}

/* Two equal runs may differ by as much. */
Test(runners_judge, one_run_a_side_tells_no_small_shift)
{
    add_calls(OLD, 40, 100e3, 0);
    add_calls(NEW, 40, 112e3, 0);
    cr_assert_eq(verdict(), VERDICT_TOO_NOISY);
    cr_expect_gt(judge_of(1).more_runs, 0);
    cr_expect_lt(judge_of(1).more_runs, 10);
}

Test(runners_judge, so_many_more_runs_tell)
{
    unsigned more;

    add_calls(OLD, 40, 100e3, 0);
    add_calls(NEW, 40, 112e3, 0);
    more = judge_of(1).more_runs;
    for (unsigned i = 0; i < more; i++) {
        add_calls(OLD, 40, 100e3, 0);
        add_calls(NEW, 40, 112e3, 0);
    }
    cr_expect_eq(verdict(), VERDICT_SLOWER);
}

Test(runners_judge, most_calls_must_be_slower)
{
    struct percentiles calls = {.count = 0};

    for (int i = 0; i < 40; i++)
        cr_assert_eq(runners_percentiles_add(&calls, i < 8 ? 100000 : 300000),
                     0);
    add_calls(OLD, 40, 100e3, 0);
    cr_assert_eq(runners_measure_calls(&sides[NEW], 0, &calls), 0);
    runners_percentiles_free(&calls);
    cr_expect_eq(verdict(), VERDICT_TOO_NOISY,
                 "the fast calls are as fast as before");
}

Test(runners_judge, a_run_of_few_calls_tells_nothing)
{
    add_calls(OLD, 4, 100e3, 0);
    add_calls(NEW, 40, 900e3, 0);
    cr_expect_eq(verdict(), VERDICT_TOO_NOISY);
    cr_expect_gt(judge_of(1).more_runs, 0);
}

Test(runners_judge, many_comparisons_need_a_larger_shift)
{
    add_calls(OLD, 40, 100e3, 1e3);
    add_calls(NEW, 40, 125e3, 1e3);
    cr_expect_eq(judge_of(1).verdict, VERDICT_SLOWER);
    cr_expect_eq(judge_of(1000).verdict, VERDICT_TOO_NOISY);
}

Test(runners_judge, a_shift_up_to_the_percentage_is_none)
{
    const struct judge_rules rules = {.over = 0.6, .comparisons = 1};

    add_calls(OLD, 40, 100e3, 1e3);
    add_calls(NEW, 40, 150e3, 1e3);
    cr_expect_eq(runners_judge(&sides[OLD], &sides[NEW], &rules).verdict,
                 VERDICT_NOT_SLOWER);
}

/* ---- Several runs ---- */

Test(runners_judge, variation_between_runs_is_noise)
{
    static const double old[] = {100e3, 130e3, 180e3},
                        new[] = {150e3, 120e3, 250e3};

    for (int i = 0; i < 3; i++) {
        add_calls(OLD, 40, old[i], 1e3);
        add_calls(NEW, 40, new[i], 1e3);
    }
    cr_expect_eq(verdict(), VERDICT_TOO_NOISY);
}

Test(runners_judge, more_runs_find_smaller_shifts)
{
    for (int i = 0; i < 10; i++) {
        add_calls(OLD, 40, 100e3 + i * 200, 1e3);
        add_calls(NEW, 40, 110e3 + i * 200, 1e3);
    }
    cr_expect_eq(verdict(), VERDICT_SLOWER);
    cr_expect_lt(judge_of(1).noise, 0.1);
}

/* ---- Tests, which have one time a run ---- */

Test(runners_judge, one_time_a_side_tells_nothing)
{
    TIMES(OLD, 100);
    TIMES(NEW, 900);
    cr_expect_eq(verdict(), VERDICT_TOO_NOISY);
    cr_expect_eq(judge_of(1).more_runs, 2);
    cr_expect_eq(judge_of(1).noise, 0, "unknown");
}

Test(runners_judge, judges_repetitions)
{
    TIMES(OLD, 100, 103, 99, 101, 104);
    TIMES(NEW, 150, 151, 149, 155, 160);
    cr_expect_eq(verdict(), VERDICT_SLOWER);
    end();
    TIMES(OLD, 100, 160, 99, 140, 104);
    TIMES(NEW, 150, 101, 149, 155, 110);
    cr_expect_eq(verdict(), VERDICT_TOO_NOISY);
}

/* Repetitions of one run may all be slow, because the machine was. */
Test(runners_judge, repetitions_vary_together)
{
    static const double old[] = {100, 106, 95, 103, 99},
                        new[] = {130, 124, 133, 127, 129};

    for (int apart = 0; apart < 2; apart++) {
        end();
        for (int i = 0; i < 5; i++) {
            size_t group = apart ? (size_t)i : 0;

            cr_assert_eq(
                runners_measure_value(&sides[OLD], group, old[i] * 1e6), 0);
            cr_assert_eq(
                runners_measure_value(&sides[NEW], group, new[i] * 1e6), 0);
        }
        cr_expect_eq(judge_of(20).verdict,
                     apart ? VERDICT_SLOWER : VERDICT_TOO_NOISY);
    }
}

Test(runners_judge, judges_one_pass_by_earlier_ones)
{
    TIMES(OLD, 100, 103, 99, 101, 104, 100, 102, 98);
    TIMES(NEW, 160);
    cr_expect_eq(verdict(), VERDICT_SLOWER);
    end();
    TIMES(OLD, 100, 203, 99, 101, 304, 100, 102, 98);
    TIMES(NEW, 160);
    cr_expect_eq(verdict(), VERDICT_TOO_NOISY);
}

Test(runners_judge, times_of_zero_are_no_error)
{
    for (int i = 0; i < 5; i++) {
        cr_assert_eq(runners_measure_value(&sides[OLD], (size_t)i, 0), 0);
        cr_assert_eq(runners_measure_value(&sides[NEW], (size_t)i, 0), 0);
    }
    cr_expect(isfinite(judge_of(1).ratio));
    cr_expect_neq(verdict(), VERDICT_SLOWER);
}

/* ---- Recorded runs ---- */

/* Adds a run with the next 40 calls of the file. */
static void read_calls(FILE *file, int side)
{
    struct percentiles calls = {.count = 0};
    unsigned long long time;

    while (calls.count < 40 && fscanf(file, "%llu", &time) == 1)
        cr_assert_eq(runners_percentiles_add(&calls, time), 0);
    cr_assert_eq(calls.count, 40);
    cr_assert_eq(runners_measure_calls(&sides[side], sides[side].count, &calls),
                 0);
    runners_percentiles_free(&calls);
}

/* As if each pair were one of 200 spans. */
Test(runners_judge, judges_spans_beside_busy_loops)
{
    FILE *file = fopen(TESTS_DIR "/cases/noise.txt", "re");
    size_t slower = 0, equal = 0;
    char word[80];

    cr_assert_not_null(file);
    while (fscanf(file, " #%79[^\n]", word) == 1)
        continue;
    while (fscanf(file, "%79s", word) == 1) {
        read_calls(file, OLD);
        read_calls(file, NEW);
        if (!strcmp(word, "slower")) {
            slower++;
            cr_expect_eq(judge_of(200).verdict, VERDICT_SLOWER);
        } else {
            equal++;
            cr_expect_neq(judge_of(200).verdict, VERDICT_SLOWER,
                          "pair %zu: %.2f", equal, judge_of(200).ratio);
        }
        end();
    }
    cr_expect_eq(slower, 6);
    cr_expect_eq(equal, 18);
    fclose(file);
}

/* ---- Counts ---- */

/* Adds a run of `cheap` calls of 1,000 instructions and `dear` of `more`. */
static void add_counts(int side, size_t cheap, size_t dear, uint64_t more)
{
    struct percentiles calls = {.count = 0};

    for (size_t i = 0; i < cheap + dear; i++)
        cr_assert_eq(runners_percentiles_add(&calls, i < cheap ? 1000 : more),
                     0);
    cr_assert_eq(runners_measure_calls(&sides[side], sides[side].count, &calls),
                 0);
    runners_percentiles_free(&calls);
}

static struct judgement judge_counts_of(double over)
{
    const struct judge_rules rules = {MEASURE_INSTRUCTIONS, over, 100};

    return runners_judge(&sides[OLD], &sides[NEW], &rules);
}

Test(runners_judge, finds_that_some_calls_execute_more)
{
    struct judgement judgement;

    add_counts(OLD, 60, 40, 1000);
    add_counts(NEW, 60, 40, 4000);
    judgement = judge_counts_of(0.2);
    cr_expect_eq(judgement.verdict, VERDICT_SLOWER);
    cr_expect(judgement.by_mean);
    cr_expect_float_eq(judgement.ratio, 2.2, 1e-6);
    cr_expect_float_eq(judgement.noise, 0, 1e-9);
    cr_expect_eq(judgement.more_runs, 0);
}

Test(runners_judge, finds_that_most_calls_execute_more)
{
    struct judgement judgement;

    add_counts(OLD, 1, 0, 0);
    add_counts(NEW, 0, 9, 1300);
    judgement = judge_counts_of(0.2);
    cr_expect_eq(judgement.verdict, VERDICT_SLOWER);
    cr_expect_not(judgement.by_mean);
    cr_expect_eq(judge_counts_of(0.4).verdict, VERDICT_NOT_SLOWER);
}

/* The spread of one side's runs is the noise. */
Test(runners_judge, counts_of_one_side_that_differ_are_noise)
{
    add_counts(OLD, 0, 5, 1000);
    add_counts(OLD, 0, 5, 1400);
    add_counts(NEW, 0, 5, 1300);
    cr_expect_eq(judge_counts_of(0.2).verdict, VERDICT_TOO_NOISY);
    cr_expect_gt(judge_counts_of(0.2).noise, 0.1);
    add_counts(NEW, 0, 5, 2000);
    cr_expect_eq(judge_counts_of(0.5).verdict, VERDICT_TOO_NOISY);
    cr_expect_eq(judge_counts_of(1.5).verdict, VERDICT_NOT_SLOWER);
}

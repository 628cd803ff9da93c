/* flaky_tests.c: finds flaky tests in the last outcomes of a program. */
#include <stdlib.h>
#include <string.h>

#include "harness/run/past/flaky_tests.h"

/* The outcomes of a test and flavour, in their order. */
struct series {
    const struct test_log_outcomes *outcomes;
    struct test_log_flaky_test test;
    const struct test_log_past_try *last;   /* first try of a run; NULL: none */
    const struct test_log_past_run *unsure; /* failed when it first differed,
                                               at an unknown commit */
    size_t unsure_flips;
};

static const struct test_log_past_run *run_of(
    const struct series *series, const struct test_log_past_try *one)
{
    return &series->outcomes->runs[one->run];
}

static void note(struct series *series, const struct test_log_past_run *run)
{
    if (!series->test.first)
        series->test.first = run;
}

static void add_reason(struct test_log_flaky_test *test, const char *reason)
{
    reason = reason ? reason : "";
    for (size_t i = 0; i < TEST_LOG_REASONS_MOST; i++) {
        if (!test->reasons[i].text)
            test->reasons[i].text = reason;
        if (strcmp(test->reasons[i].text, reason) != 0)
            continue;
        test->reasons[i].count++;
        return;
    }
}

/* A dirty tree has a +. */
static bool is_known(const struct test_log_past_run *run)
{
    return strcmp(run->commit, "-") != 0 && !strchr(run->commit, '+');
}

static void add_flip(struct series *series, const struct test_log_past_try *one)
{
    const struct test_log_past_run *before = run_of(series, series->last);
    const struct test_log_past_run *now = run_of(series, one);
    const struct test_log_past_run *failed =
        test_log_outcome_bad(one->outcome) ? now : before;

    series->test.flips++;
    if (is_known(before) && is_known(now)) {
        if (!strcmp(before->commit, now->commit))
            note(series, failed);
        return;
    }
    if (!series->unsure)
        series->unsure = failed;
    if (++series->unsure_flips > 1)
        note(series, series->unsure);
}

static void add_first(struct series *series,
                      const struct test_log_past_try *one)
{
    bool bad = test_log_outcome_bad(one->outcome);

    series->test.runs++;
    series->test.failures += bad;
    if (bad)
        add_reason(&series->test, one->reason);
    if (series->last && test_log_outcome_bad(series->last->outcome) != bad)
        add_flip(series, one);
    series->last = one;
}

static void add_try(struct series *series, const struct test_log_past_try *one)
{
    if (one->number == 1) {
        add_first(series, one);
    } else if (one->outcome == TEST_LOG_OUTCOME_PASSED && series->last &&
               test_log_outcome_bad(series->last->outcome)) {
        series->test.rescues++;
        note(series, run_of(series, one));
    }
}

/* ---- All tests of a program ---- */

static const struct test_log_outcomes *sorted; /* only for compare() */

static const char *flavour_of(const struct test_log_past_try *one)
{
    return sorted->runs[one->run].flavour;
}

static int compare(const void *a, const void *b)
{
    const struct test_log_past_try *left = *(const void *const *)a;
    const struct test_log_past_try *right = *(const void *const *)b;
    int order;

    if (left->test != right->test)
        return left->test < right->test ? -1 : 1;
    order = strcmp(flavour_of(left), flavour_of(right));
    return order ? order : (left > right) - (left < right);
}

/* Returns the tries from a run on, those of a test and flavour side by side. */
static const struct test_log_past_try **sort(
    const struct test_log_outcomes *outcomes, size_t from, size_t *count)
{
    const struct test_log_past_try **tries =
        calloc(outcomes->try_count + 1, sizeof(*tries));

    *count = 0;
    for (size_t i = 0; tries && i < outcomes->try_count; i++)
        if (outcomes->tries[i].run >= from)
            tries[(*count)++] = &outcomes->tries[i];
    sorted = outcomes;
    if (tries)
        qsort(tries, *count, sizeof(*tries), compare);
    return tries;
}

static bool same_series(const struct test_log_past_try *a,
                        const struct test_log_past_try *b)
{
    return a->test == b->test && !strcmp(flavour_of(a), flavour_of(b));
}

int test_log_flaky_find(struct test_log_flaky_tests *tests,
                        const struct test_log_outcomes *outcomes, size_t from)
{
    size_t count, i = 0;
    const struct test_log_past_try **tries = sort(outcomes, from, &count);
    int status = tries ? 0 : -1;

    while (i < count && !status) {
        const struct test_log_past_try *first = tries[i];
        struct series series = {.outcomes = outcomes,
                                .test = {.name = outcomes->tests[first->test],
                                         .flavour = flavour_of(first)}};

        for (; i < count && same_series(first, tries[i]); i++)
            add_try(&series, tries[i]);
        if (!series.test.first)
            continue;
        if (TRACE_ARRAY_RESERVE(tests->all, tests->capacity, tests->count + 1))
            tests->all[tests->count++] = series.test;
        else
            status = -1;
    }
    free(tries);
    return status;
}

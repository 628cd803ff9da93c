/* flaky_tests.c: finds flaky tests in the last outcomes of a program. */
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "harness/run/past/flaky_tests.h"

/* ---- Reasons ---- */

/* Returns the size of the number `at` a place of a text; 0: none is there. The
 * line in "list.c:9" and the end of "step_2" are names. */
static size_t number_size(const char *text, const char *at)
{
    static const char digits[] = "0123456789";
    size_t size = strspn(at, digits);

    if (!size || (at > text && (isalnum((unsigned char)at[-1]) ||
                                at[-1] == '_' || at[-1] == ':')))
        return 0;
    if (at[0] == '0' && at[1] == 'x')
        return 2 + strspn(at + 2, "0123456789abcdefABCDEF");
    if (at[size] == '.' && strspn(at + size + 1, digits))
        size += 1 + strspn(at + size + 1, digits);
    return size;
}

/* Tells whether two texts differ in numbers alone, and adds those that do to
 * `varying`. */
static bool is_alike(const char *one, const char *other, uint64_t *varying)
{
    const char *a = one, *b = other;
    uint64_t bit = 1, found = 0;

    while (*a || *b) {
        size_t size = number_size(one, a), others = number_size(other, b);

        if (!size != !others || (!size && *a != *b))
            return false;
        if (size && (size != others || memcmp(a, b, size) != 0))
            found |= bit;
        bit = size ? bit << 1 : bit;
        a += size ? size : 1;
        b += size ? others : 1;
    }
    *varying |= found;
    return true;
}

static void add_reason(struct test_log_flaky_test *test, const char *text)
{
    for (size_t i = 0; i < TEST_LOG_REASONS_MOST; i++) {
        struct test_log_flaky_reason *reason = &test->reasons[i];

        if (!reason->text)
            reason->text = text ? text : "";
        if (!is_alike(reason->text, text ? text : "", &reason->varying))
            continue;
        reason->count++;
        return;
    }
}

void test_log_flaky_reason_text(struct trace_text *out,
                                const struct test_log_flaky_reason *reason)
{
    uint64_t varying = reason->varying;
    size_t size;

    for (const char *at = reason->text; *at; at += size ? size : 1) {
        size = number_size(reason->text, at);
        if (size && varying & 1)
            trace_text_char(out, 'N');
        else
            trace_text_add(out, at, size ? size : 1);
        varying = size ? varying >> 1 : varying;
    }
}

/* ---- Judging ---- */

/* A dirty tree has a +. */
static bool is_known(const struct test_log_past_run *run)
{
    return strcmp(run->commit, "-") != 0 && !strchr(run->commit, '+');
}

/* Judges a test and flavour by its tries, in their order. */
static void judge(struct test_log_flaky_test *test,
                  const struct test_log_outcomes *outcomes,
                  const struct test_log_past_try *const *tries, size_t count)
{
    const struct test_log_past_try *last = NULL;   /* first try of a run */
    const struct test_log_past_run *unsure = NULL; /* failed when it first
                                        differed, at an unknown commit */
    size_t unsure_flips = 0;

    for (size_t i = 0; i < count; i++) {
        const struct test_log_past_run *now = &outcomes->runs[tries[i]->run];
        const struct test_log_past_run *before, *failed, *first = NULL;
        bool bad = test_log_outcome_bad(tries[i]->outcome);
        bool was_bad = last && test_log_outcome_bad(last->outcome);

        if (tries[i]->number != 1) {
            if (tries[i]->outcome != TEST_LOG_OUTCOME_PASSED || !was_bad)
                continue;
            test->rescues++;
            test->first = test->first ? test->first : now;
            continue;
        }
        test->runs++;
        test->failures += bad;
        if (bad)
            add_reason(test, tries[i]->reason);
        before = last ? &outcomes->runs[last->run] : NULL;
        last = tries[i];
        if (!before || was_bad == bad)
            continue;
        test->flips++;
        failed = bad ? now : before;
        if (is_known(before) && is_known(now)) {
            first = strcmp(before->commit, now->commit) ? NULL : failed;
        } else {
            unsure = unsure ? unsure : failed;
            first = ++unsure_flips > 1 ? unsure : NULL;
        }
        test->first = test->first ? test->first : first;
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
    size_t count, next;
    const struct test_log_past_try **tries = sort(outcomes, from, &count);
    int status = tries ? 0 : -1;

    for (size_t i = 0; i < count && !status; i = next) {
        struct test_log_flaky_test test = {.name =
                                               outcomes->tests[tries[i]->test],
                                           .flavour = flavour_of(tries[i])};

        for (next = i; next < count && same_series(tries[i], tries[next]);)
            next++;
        judge(&test, outcomes, tries + i, next - i);
        if (!test.first)
            continue;
        if (TRACE_ARRAY_RESERVE(tests->all, tests->capacity, tests->count + 1))
            tests->all[tests->count++] = test;
        else
            status = -1;
    }
    free(tries);
    return status;
}

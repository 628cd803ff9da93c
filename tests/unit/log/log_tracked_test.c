/* log_tracked_test.c: finds tracked spans by their place. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "tests/support/support.h"

#include "log/filter/filter.h"
#include "log/replay/replay.h"

static const struct log_verdict plain;

Test(log_tracked, finds_nothing_when_empty)
{
    struct trace_table tracked = {0};

    cr_expect_null(log_tracked_find(&tracked, 0));
    cr_expect_null(log_tracked_find(&tracked, 7));
    log_tracked_remove(&tracked, 7);
    log_tracked_free(&tracked);
    log_tracked_free(&tracked);
}

Test(log_tracked, finds_added_spans_until_they_are_removed)
{
    static struct log_verdict verdicts[5000];
    struct trace_table tracked = {0};

    for (uint32_t place = 0; place < 5000; place++) {
        struct log_span *span =
            log_tracked_add(&tracked, 3 * place, &verdicts[place]);

        cr_assert_not_null(span);
        cr_assert_eq(span->verdict, &verdicts[place]);
    }
    for (uint32_t place = 0; place < 5000; place += 2)
        log_tracked_remove(&tracked, 3 * place);
    cr_expect_eq(tracked.count, 2500);
    for (uint32_t place = 0; place < 15000; place++) {
        struct log_span *span = log_tracked_find(&tracked, place);

        cr_assert_eq(span != NULL, place % 6 == 3, "%u", place);
        cr_assert(!span || span->verdict == &verdicts[place / 3]);
    }
    log_tracked_free(&tracked);
    cr_expect_eq(tracked.count, 0);
    cr_expect_null(log_tracked_find(&tracked, 3));
}

/* Places are reused when a recording without a file wraps around. */
Test(log_tracked, replaces_an_earlier_span_at_the_same_place)
{
    struct log_verdict verdict = {.patterns = 3};
    struct trace_table tracked = {0};
    struct log_span *span = log_tracked_add(&tracked, 7, &verdict);

    cr_assert_not_null(span);
    span->shown = span->matched[0] = span->matched[2] = true;
    span = log_tracked_add(&tracked, 7, &verdict);
    cr_assert_not_null(span);
    cr_expect_eq(tracked.count, 1);
    cr_expect_eq(log_tracked_find(&tracked, 7), span);
    cr_expect_not(span->shown || span->matched[0] || span->matched[2]);
    log_tracked_free(&tracked);
}

Test(log_tracked, agrees_with_an_array_after_random_changes)
{
    enum { PLACES = 700 };
    struct log_span *known[PLACES] = {NULL};
    struct trace_table tracked = {0};
    size_t count = 0;

    test_seed(1);
    for (int round = 0; round < 50000; round++) {
        uint32_t at = test_below(PLACES);
        uint32_t place = at * UINT32_C(0x01000000) + at;

        cr_assert_eq(log_tracked_find(&tracked, place), known[at]);
        count -= known[at] != NULL;
        if (test_below(2)) {
            known[at] = log_tracked_add(&tracked, place, &plain);
            cr_assert_not_null(known[at]);
            count++;
        } else {
            log_tracked_remove(&tracked, place);
            known[at] = NULL;
        }
        cr_assert_eq(tracked.count, count);
    }
    log_tracked_free(&tracked);
}

Test(log_tracked, survives_a_lack_of_memory)
{
    struct trace_table tracked = {0};

    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    for (uint32_t place = 0; place < 300; place++) {
        test_fail_memory(place % 3, true);
        struct log_span *span = log_tracked_add(&tracked, place, &plain);

        test_fail_memory(0, false);
        cr_assert_eq(log_tracked_find(&tracked, place), span);
    }
    cr_expect_gt(tracked.count, 100);
    log_tracked_free(&tracked);
}

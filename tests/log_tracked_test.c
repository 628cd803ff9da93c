/* log_tracked_test.c: spans are found by their place. */
#include <criterion/criterion.h>
#include <stdlib.h>

#include "log/internal.h"
#include "support.h"

static const struct log_verdict plain;

Test(log_tracked, is_empty_at_first)
{
    struct log_tracked tracked = {0};

    cr_expect_null(log_tracked_find(&tracked, 0));
    cr_expect_null(log_tracked_find(&tracked, 7));
    log_tracked_remove(&tracked, 7);
    log_tracked_free(&tracked);
    log_tracked_free(&tracked);
}

Test(log_tracked, finds_what_was_added_and_not_removed)
{
    struct log_tracked tracked = {0};

    for (uint32_t place = 0; place < 5000; place++) {
        struct log_span *span = log_tracked_add(&tracked, 3 * place, &plain);

        cr_assert_not_null(span);
        cr_assert_eq(span->at.place, 3 * place);
        cr_assert_eq(span->verdict, &plain);
    }
    for (uint32_t place = 0; place < 5000; place += 2)
        log_tracked_remove(&tracked, 3 * place);
    cr_expect_eq(tracked.count, 2500);
    for (uint32_t place = 0; place < 15000; place++) {
        struct log_span *span = log_tracked_find(&tracked, place);

        cr_assert_eq(span != NULL, place % 6 == 3, "%u", place);
        cr_assert(!span || span->at.place == place);
    }
    log_tracked_free(&tracked);
    cr_expect_eq(tracked.count, 0);
    cr_expect_null(log_tracked_find(&tracked, 3));
}

/* A place is used again when a recording goes round. */
Test(log_tracked, a_new_span_takes_the_place_of_an_earlier_one)
{
    struct log_verdict verdict = {.patterns = 3};
    struct log_tracked tracked = {0};
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

Test(log_tracked, agrees_with_a_plain_table)
{
    enum { PLACES = 700 };
    struct log_span *known[PLACES] = {NULL};
    struct log_tracked tracked = {0};
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

/* Places that are spread evenly must not meet in few buckets. */
Test(log_tracked, spreads_places_of_any_stride)
{
    static const uint32_t strides[] = {1,   2,    3,       64,
                                       256, 4096, 1 << 16, 1 << 20};

    for (size_t i = 0; i < sizeof(strides) / sizeof(*strides); i++) {
        struct log_tracked tracked = {0};
        size_t longest = 0;

        for (uint32_t place = 0; place < 4000; place++)
            cr_assert(log_tracked_add(&tracked, place * strides[i], &plain));
        for (size_t b = 0; b < tracked.size; b++) {
            size_t length = 0;

            for (struct log_place *s = tracked.buckets[b]; s; s = s->next)
                length++;
            longest = length > longest ? length : longest;
        }
        cr_expect_lt(longest, 40, "stride %u: %zu", strides[i], longest);
        log_tracked_free(&tracked);
    }
}

Test(log_tracked, survives_a_lack_of_memory)
{
    struct log_tracked tracked = {0};

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

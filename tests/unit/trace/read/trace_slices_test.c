/* trace_slices_test.c: slices in each other, and the time that each one leaves
 * to itself. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>

#include "trace/read/slices.h"

TestSuite(trace_slices);

enum { NUMBERS = 4096, LATEST = 1 << 14 };

/* What has ended, by number. */
struct ended {
    uint64_t own[NUMBERS];
    size_t times[NUMBERS];
};

static void note(void *context, const struct trace_slice *slice)
{
    struct ended *ended = context;

    ended->own[slice->number] = slice->own;
    ended->times[slice->number]++;
}

static struct trace_slices slices_of(enum trace_outlasting outlasting,
                                     struct ended *ended)
{
    return (struct trace_slices){
        .outlasting = outlasting, .ended = note, .context = ended};
}

/* Begins a slice on the only track, which the first call makes. */
static const struct trace_slice *begin(struct trace_slices *slices,
                                       uint64_t from, uint64_t to,
                                       uintptr_t number)
{
    size_t track = trace_slices_track(slices, 7);

    cr_assert_eq(track, 0);
    return trace_slices_begin(
        slices, track,
        (struct trace_slice){.begin = from, .end = to, .number = number});
}

Test(trace_slices, numbers_tracks_as_they_come)
{
    struct trace_slices slices = {.rows_most = 0};

    cr_expect_eq(trace_slices_track(&slices, 30), 0);
    cr_expect_eq(trace_slices_track(&slices, 20), 1);
    cr_expect_eq(trace_slices_track(&slices, 30), 0);
    cr_expect_null(trace_slices_around(&slices, 1, 5));
    trace_slices_free(&slices);
    cr_expect_eq(trace_slices_track(&slices, 20), 0);
    trace_slices_free(&slices);
}

Test(trace_slices, takes_the_time_of_a_slice_from_the_one_around_it)
{
    struct ended ended = {.own = {0}};
    struct trace_slices slices = slices_of(TRACE_OUTLASTING_STAYS, &ended);

    begin(&slices, 10, 100, 0);
    begin(&slices, 20, 50, 1);
    begin(&slices, 30, 40, 2);
    begin(&slices, 60, 70, 3);
    cr_expect_eq(trace_slices_around(&slices, 0, 65)->number, 3);
    cr_expect_eq(trace_slices_around(&slices, 0, 70)->number, 0);
    cr_expect_eq(ended.times[0], 0, "not yet");
    trace_slices_free(&slices);
    cr_expect_eq(ended.own[0], 90 - 30 - 10);
    cr_expect_eq(ended.own[1], 20);
    cr_expect_eq(ended.own[2], 10);
    cr_expect_eq(ended.own[3], 10);
}

Test(trace_slices, tells_what_a_slice_does_that_outlasts_another)
{
    static const struct {
        enum trace_outlasting outlasting;
        uint64_t end, own;
        size_t row;
        uintptr_t around; /* at 14 */
    } rows[] = {
        {TRACE_OUTLASTING_STAYS, 15, 10, 2, 2},
        {TRACE_OUTLASTING_ENDS, 10, 5, 2, 0},
        {TRACE_OUTLASTING_MOVES, 15, 10, 2, 2},
    };

    for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
        struct ended ended = {.own = {0}};
        struct trace_slices slices = slices_of(rows[i].outlasting, &ended);
        const struct trace_slice *slice;

        begin(&slices, 0, 20, 0);
        begin(&slices, 1, 10, 1);
        slice = begin(&slices, 5, 15, 2);
        cr_expect_eq(slice->end, rows[i].end, "%zu", i);
        cr_expect_eq(trace_slices_row(&slices, 0, slice), rows[i].row, "%zu",
                     i);
        cr_expect_eq(trace_slices_around(&slices, 0, 14)->number,
                     rows[i].around, "%zu", i);
        trace_slices_free(&slices);
        cr_expect_eq(ended.own[2], rows[i].own, "%zu", i);
    }
}

Test(trace_slices, moves_to_the_first_row_that_is_free)
{
    struct ended ended = {.own = {0}};
    struct trace_slices slices = slices_of(TRACE_OUTLASTING_MOVES, &ended);
    const struct trace_slice *slice;

    begin(&slices, 0, 10, 0);
    begin(&slices, 1, 30, 1);
    slice = begin(&slices, 12, 40, 2);
    cr_expect_eq(trace_slices_row(&slices, 0, slice), 0);
    cr_expect_eq(ended.times[0], 1, "its row has another slice");
    trace_slices_free(&slices);
    for (int i = 0; i < 3; i++)
        cr_expect_eq(ended.times[i], 1, "%d", i);
}

Test(trace_slices, keeps_no_more_rows_than_asked_for)
{
    struct trace_slices slices = {.rows_most = 3};

    for (uint64_t i = 0; i < 3; i++)
        cr_expect_not_null(begin(&slices, i, 100, 0));
    cr_expect_null(begin(&slices, 3, 100, 0));
    cr_expect_eq(slices.tracks[0].depth, 3);
    trace_slices_free(&slices);
}

Test(trace_slices, forgets_ended_slices_below_others)
{
    struct ended ended = {.own = {0}};
    struct trace_slices slices = slices_of(TRACE_OUTLASTING_STAYS, &ended);

    for (uint64_t i = 0; i < NUMBERS; i++)
        begin(&slices, i, i + 3, i);
    cr_expect_lt(slices.tracks[0].capacity, 64, "memory grows with time");
    trace_slices_free(&slices);
    for (size_t i = 0; i < NUMBERS; i++)
        cr_assert_eq(ended.times[i], 1, "%zu", i);
}

/* ---- Random slices ---- */

/* Begins random slices in order and returns the time during which any is
 * open. */
static uint64_t fill(struct trace_slices *slices, size_t count)
{
    static bool covered[LATEST];
    uint64_t from = 0, sum = 0;

    memset(covered, 0, sizeof(covered));
    for (size_t i = 0; i < count; i++) {
        const struct trace_slice *slice;

        from += test_random() % 7;
        slice = begin(slices, from, from + test_random() % 200, i);
        cr_assert_not_null(slice);
        cr_assert_lt(slice->end, LATEST);
        for (uint64_t at = from; at < slice->end; at++)
            covered[at] = true;
    }
    for (size_t i = 0; i < LATEST; i++)
        sum += covered[i];
    return sum;
}

Test(trace_slices, shares_all_time_out_among_nested_slices)
{
    for (int round = 0; round < 50; round++) {
        struct ended ended = {.own = {0}};
        struct trace_slices slices = slices_of(TRACE_OUTLASTING_ENDS, &ended);
        uint64_t covered = fill(&slices, 1000), sum = 0;

        trace_slices_free(&slices);
        for (size_t i = 0; i < 1000; i++) {
            cr_assert_eq(ended.times[i], 1);
            sum += ended.own[i];
        }
        cr_assert_eq(sum, covered);
    }
}

Test(trace_slices, takes_no_more_than_a_slice_has)
{
    for (int round = 0; round < 50; round++) {
        struct ended ended = {.own = {0}};
        struct trace_slices slices = slices_of(TRACE_OUTLASTING_STAYS, &ended);

        fill(&slices, 1000);
        trace_slices_free(&slices);
        for (size_t i = 0; i < 1000; i++)
            cr_assert_lt(ended.own[i], LATEST);
    }
}

Test(trace_slices, lets_no_slices_of_a_row_overlap)
{
    for (int round = 0; round < 50; round++) {
        struct trace_slices slices = {.outlasting = TRACE_OUTLASTING_MOVES};
        uint64_t ends[1000] = {0}, from = 0;

        for (size_t i = 0; i < 1000; i++) {
            uint64_t to = (from += test_random() % 7) + test_random() % 100;
            const struct trace_slice *slice = begin(&slices, from, to, i);
            size_t row = trace_slices_row(&slices, 0, slice);

            cr_assert_leq(ends[row], from, "row %zu", row);
            ends[row] = to;
        }
        trace_slices_free(&slices);
    }
}

Test(trace_slices, refuses_what_it_has_no_memory_for)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer allocates");
    for (size_t nth = 1; nth <= 3; nth++) {
        struct trace_slices slices = {.rows_most = 0};
        size_t track;
        bool begun;

        test_fail_memory(nth, false);
        track = trace_slices_track(&slices, 1);
        begun =
            track != SIZE_MAX &&
            trace_slices_begin(&slices, track, (struct trace_slice){.end = 1});
        test_fail_memory(0, false);
        cr_expect_not(begun, "%zu", nth);
        trace_slices_free(&slices);
    }
}

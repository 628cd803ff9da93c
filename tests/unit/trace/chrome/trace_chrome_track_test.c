/* trace_chrome_track_test.c: the tracks on which slices are drawn. */
#include "tests/support/support.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "trace/chrome/chrome_json.h"

TestSuite(trace_chrome_track);

static unsigned named;

static void count_name(struct trace_exporter *export,
                       const struct trace_chrome_row *row, uint32_t tid,
                       const char *title)
{
    (void)export, (void)row;
    cr_expect_eq(atoi(title), (int)tid);
    named++;
}

static void print_tid(struct trace_exporter *export,
                      const struct trace_chrome_row *row, uint32_t tid,
                      struct trace_text *title)
{
    (void)export, (void)row;
    trace_text_printf(title, "%u", tid);
}

static struct trace_exporter exporter = {.named = count_name};

static const struct trace_chrome_row row = {
    .pid = 1, .tid = 7, .beside = 100, .title = print_tid};

/* Returns the tid; the extent may be cut. */
static uint32_t place(struct trace_chrome_extent *extent)
{
    return trace_chrome_place(&exporter, &row, extent);
}

static uint32_t place_at(uint64_t begin, uint64_t end)
{
    struct trace_chrome_extent extent = {.begin = begin, .end = end};

    return place(&extent);
}

Test(trace_chrome_track, nests_slices_on_one_track)
{
    cr_expect_eq(place_at(10, 100), 7);
    cr_expect_eq(place_at(10, 50), 7);
    cr_expect_eq(place_at(20, 50), 7);
    cr_expect_eq(place_at(50, 100), 7);
    cr_expect_eq(place_at(100, 200), 7);
    cr_expect_eq(named, 1);
    trace_chrome_tracks_free(&exporter);
}

Test(trace_chrome_track, moves_an_overlapping_slice_to_another_track)
{
    cr_expect_eq(place_at(10, 100), 7);
    cr_expect_eq(place_at(50, 150), 107, "it ends after the other slice");
    cr_expect_eq(place_at(60, 90), 7);
    cr_expect_eq(place_at(70, 160), 207);
    cr_expect_eq(place_at(150, 170), 7, "all have ended");
    cr_expect_eq(named, 3, "each track is named once");
    trace_chrome_tracks_free(&exporter);
}

Test(trace_chrome_track, moves_an_earlier_slice_to_another_track)
{
    cr_expect_eq(place_at(50, 60), 7);
    cr_expect_eq(place_at(40, 45), 107);
    trace_chrome_tracks_free(&exporter);
}

/* Two clocks disagree a little: both ends may be cut. */
Test(trace_chrome_track, cuts_small_overlaps)
{
    struct trace_chrome_extent late = {
        .begin = 90, .end = 150, .off_begin = 10};
    struct trace_chrome_extent over = {.begin = 120, .end = 155, .off_end = 5};
    struct trace_chrome_extent far = {.begin = 80, .end = 99, .off_begin = 5};

    cr_expect_eq(place_at(10, 100), 7);
    cr_expect_eq(place(&late), 7);
    cr_expect_eq(late.begin, 100);
    cr_expect_eq(place(&over), 7);
    cr_expect_eq(over.end, 150);
    cr_expect_eq(place(&far), 107, "more than may be cut");
    cr_expect_eq(far.begin, 80);
    trace_chrome_tracks_free(&exporter);
}

Test(trace_chrome_track, limits_the_number_of_tracks)
{
    enum { LIMIT = 64 };

    for (uint32_t i = 0; i < 2 * LIMIT; i++)
        cr_expect_eq(place_at(i, 1000 + i),
                     7 + 100 * (i < LIMIT ? i : LIMIT - 1), "%u", i);
    cr_expect_eq(named, LIMIT);
    trace_chrome_tracks_free(&exporter);
}

Test(trace_chrome_track, keeps_the_rows_of_processes_apart)
{
    struct trace_chrome_row other = row;
    struct trace_chrome_extent extent = {.begin = 50, .end = 150};

    other.pid = 2;
    cr_expect_eq(place_at(10, 100), 7);
    cr_expect_eq(trace_chrome_place(&exporter, &other, &extent), 7);
    cr_expect_eq(exporter.count, 2);
    trace_chrome_tracks_free(&exporter);
}

/* A slice is drawn somewhere even if it overlaps. */
Test(trace_chrome_track, keeps_a_slice_on_its_row_without_memory)
{
    if (!test_can_fail_memory())
        cr_skip_test("a sanitizer owns the memory");
    test_fail_memory(1, false);
    cr_expect_eq(place_at(10, 100), 7);
    test_fail_memory(0, false);
    cr_expect_eq(named, 0);
    trace_chrome_tracks_free(&exporter);
}

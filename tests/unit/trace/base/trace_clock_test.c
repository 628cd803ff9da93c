/* trace_clock_test.c: ticks and anchors agree with the system's clocks. */
#include "tests/support/support.h"
#include "trace/format.h"
#include "trace/read/reader.h"

#include <criterion/criterion.h>
#include <time.h>

#include "trace/base/clock.h"

static uint64_t nanoseconds(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

Test(trace_clock, chooses_the_same_clock_again)
{
    enum trace_clock chosen = trace_clock_choose();

    cr_expect(chosen == TRACE_CLOCK_MONOTONIC || chosen == TRACE_CLOCK_COUNTER);
    cr_expect_eq(trace_clock_choose(), chosen);
}

Test(trace_clock, never_steps_back_on_a_thread)
{
    uint64_t last = 0;

    trace_clock_choose();
    for (int i = 0; i < 100000; i++) {
        uint64_t now = trace_clock_now();

        cr_assert_geq(now, last);
        last = now;
    }
}

Test(trace_clock, reads_an_anchor_between_two_other_readings)
{
    for (int i = 0; i < 100; i++) {
        uint64_t monotonic = nanoseconds(CLOCK_MONOTONIC);
        uint64_t ticks = trace_clock_now();
        struct trace_anchor anchor = trace_anchor_now();

        cr_expect_geq(anchor.monotonic, monotonic);
        cr_expect_leq(anchor.monotonic, nanoseconds(CLOCK_MONOTONIC));
        cr_expect_leq(anchor.ticks, trace_clock_now());
        if (i) /* the first may choose the clock */
            cr_expect_geq(anchor.ticks, ticks);
        cr_expect_gt(anchor.wall, UINT64_C(1500000000000000000));
    }
}

Test(trace_clock, gives_equal_times_of_equal_clocks)
{
    struct trace_anchor anchor;

    trace_clock_choose();
    trace_clock_chosen = TRACE_CLOCK_MONOTONIC;
    anchor = trace_anchor_now();
    cr_expect_eq(anchor.ticks, anchor.monotonic);
}

/* The tolerance is a tenth of the elapsed time. */
Test(trace_clock, converts_ticks_to_nanoseconds)
{
    static struct trace_site site =
        TEST_SITE(EVENT, INFO, "event", "m", NULL, 0);
    struct timespec pause = {0, 20000000};
    struct trace_entry first, second;

    test_folder();
    test_record();
    trace_event_(&site, 0, NULL);

    uint64_t before = nanoseconds(CLOCK_MONOTONIC);

    nanosleep(&pause, NULL);

    uint64_t slept = nanoseconds(CLOCK_MONOTONIC) - before;

    trace_event_(&site, 0, NULL);

    struct trace_reader *reader = test_read();

    cr_assert(trace_reader_next(reader, &first));
    cr_assert(trace_reader_next(reader, &second));
    cr_expect_geq(second.time - first.time, slept - slept / 10);
}

/* trace_zone_clock_test.c: fits clocks of which the test knows the truth. */
#include <criterion/criterion.h>

#include "tests/support/support.h"

#include "trace/record/zones.h"

/* A device's clock: counts from `zero` at a tick, `rate` ticks each. */
struct truth {
    uint64_t zero, ticks;
    double rate;
};

static uint64_t clock_at(const struct truth *truth, uint64_t ticks)
{
    return truth->zero +
           (uint64_t)((double)(ticks - truth->ticks) / truth->rate);
}

/* A kernel that runs from `from` to `to` and writes within that. */
static struct trace_zone_times times_of(const struct truth *truth,
                                        uint64_t from, uint64_t to,
                                        uint64_t before, uint64_t after)
{
    return (struct trace_zone_times){.first = clock_at(truth, from + before),
                                     .last = clock_at(truth, to - after),
                                     .earliest = from,
                                     .latest = to,
                                     .since = from,
                                     .now = to};
}

static double wrong(const struct trace_zone_clock *clock,
                    const struct truth *truth, uint64_t ticks)
{
    uint64_t given = trace_zone_clock_ticks(clock, clock_at(truth, ticks));

    return (double)(int64_t)(given - ticks);
}

Test(trace_zone_clock, keeps_equal_clocks)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {1000000, 1000000, 1};
    struct trace_zone_times times = times_of(&truth, 1000100, 1000900, 5, 7);

    trace_zone_clock_fit(&clock, &times, 0);
    cr_expect(clock.same);
    cr_expect_eq(clock.error, 0);
    cr_expect_eq(trace_zone_clock_ticks(&clock, 1000555), 1000555);
}

/* One damaged record must not spoil what follows. */
Test(trace_zone_clock, recovers_from_a_wrong_time)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {1000000, 1000000, 1};
    struct trace_zone_times times = times_of(&truth, 1000100, 1000900, 5, 7);

    times.last = UINT64_MAX / 3;
    trace_zone_clock_fit(&clock, &times, 0);
    cr_expect_not(clock.same);
    times = times_of(&truth, 1001000, 1001900, 5, 7);
    trace_zone_clock_fit(&clock, &times, 0);
    cr_expect_eq(trace_zone_clock_ticks(&clock, 1001555), 1001555);
}

Test(trace_zone_clock, bounds_a_clock_of_known_rate)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {UINT64_C(1) << 60, 5000, 2.5};
    struct trace_zone_times times = times_of(&truth, 10000, 90000, 3000, 1000);

    trace_zone_clock_fit(&clock, &times, 2.5);
    cr_expect_float_eq(clock.error, 2000, 200);
    cr_expect_leq(wrong(&clock, &truth, 50000), clock.error + 3);
    cr_expect_geq(wrong(&clock, &truth, 50000), -clock.error - 3);
}

Test(trace_zone_clock, narrows_its_bounds_by_each_reading)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {77, 0, 2.5};
    struct trace_zone_times times = times_of(&truth, 10000, 90000, 100, 20000);

    trace_zone_clock_fit(&clock, &times, 2.5);
    times = times_of(&truth, 100000, 190000, 20000, 100);
    trace_zone_clock_fit(&clock, &times, 2.5);
    cr_expect_lt(clock.error, 150);
    cr_expect_float_eq(wrong(&clock, &truth, 150000), 0, 150);
}

/* A step of the device's clock makes earlier bounds wrong. */
Test(trace_zone_clock, begins_again_after_a_step)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {77, 0, 1};
    struct trace_zone_times times = times_of(&truth, 10000, 20000, 10, 10);

    trace_zone_clock_fit(&clock, &times, 1);
    truth.zero += 1000000;
    times = times_of(&truth, 30000, 40000, 10, 10);
    trace_zone_clock_fit(&clock, &times, 1);
    cr_expect_float_eq(wrong(&clock, &truth, 35000), 0, 20);
}

Test(trace_zone_clock, scales_a_clock_of_unknown_rate)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {1 << 20, 0, 0.25};
    struct trace_zone_times times = times_of(&truth, 10000, 20000, 0, 0);

    trace_zone_clock_fit(&clock, &times, 0);
    cr_expect_eq(clock.error, 5000);
    cr_expect_float_eq(wrong(&clock, &truth, 15000), 0, 2);
}

Test(trace_zone_clock, learns_an_unknown_rate_from_two_readings)
{
    struct trace_zone_clock clock = {.known = false};
    struct truth truth = {1 << 20, 0, 0.25};
    struct trace_zone_times times = times_of(&truth, 10000, 20000, 900, 50);

    trace_zone_clock_fit(&clock, &times, 0);
    times = times_of(&truth, 5000000, 5010000, 100, 50);
    trace_zone_clock_fit(&clock, &times, 0);
    cr_expect_float_eq(clock.rate, 0.25, 1e-4);
    cr_expect_float_eq(wrong(&clock, &truth, 5005000), 0, 200);
}

Test(trace_zone_clock, survives_any_times)
{
    test_seed(3);
    for (int i = 0; i < 1000; i++) {
        struct trace_zone_clock clock = {.known = false};

        for (int reading = 0; reading < 4; reading++) {
            struct trace_zone_times times;

            test_random_bytes(&times, sizeof(times));
            trace_zone_clock_fit(&clock, &times, reading % 2);
            trace_zone_clock_ticks(&clock, times.first);
        }
    }
}

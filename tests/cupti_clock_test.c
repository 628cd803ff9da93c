/* cupti_clock_test.c: measures the rate of the recording's ticks. */
#include <criterion/criterion.h>
#include <time.h>

#include "devices.h"

static uint64_t ticks = 5000;

static uint64_t now(void)
{
    return ticks;
}

static const struct trace_device_host host = {.now = now};

/* Ticks need not be nanoseconds. */
Test(cupti_clock, measures_the_rate_of_ticks)
{
    struct timespec time = {0, 20000000};

    cupti.host = &host;
    cr_expect_eq(cupti_ns(1000), 1000, "before the first measurement");
    cupti_measure_ticks();
    nanosleep(&time, NULL);
    ticks += 1000000; /* in 20 ms or a little more */
    cupti_measure_ticks();
    cr_expect_geq(cupti_ns(1000000), 20000000);
}

Test(cupti_clock, keeps_a_clock_of_nanoseconds)
{
    struct timespec moment;

    clock_gettime(CLOCK_MONOTONIC, &moment);
    ticks = (uint64_t)moment.tv_sec * 1000000000 + (uint64_t)moment.tv_nsec;
    cupti.host = &host;
    cupti_measure_ticks();
    ticks += 1;
    cupti_measure_ticks();
    cr_expect_eq(cupti_ns(12345678), 12345678);
}

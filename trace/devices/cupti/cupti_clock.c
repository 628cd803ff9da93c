/* cupti_clock.c: CUPTI's clock, and how the recording's clock compares to it.
 *
 * CUPTI expects nanoseconds and interpolates between them. Its stamps may still
 * be of another clock, which it falls back to: those are not converted.
 */
#include <time.h>

#include "cupti.h"

/* CUPTI computes the device's times from samples of both clocks, so they may
 * lie a little outside of the recorded period. */
enum { SLACK_NS = 1000000 };

uint64_t cupti_clock(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void cupti_clock_compare(void)
{
    cupti.clock.last = cupti.host->anchor();
    if (!cupti.clock.first.monotonic)
        cupti.clock.first = cupti.clock.last;
}

bool cupti_is_time(uint64_t ns)
{
    return ns && ns + SLACK_NS >= cupti.clock.first.monotonic &&
           ns <= cupti.clock.last.monotonic + SLACK_NS;
}

/* Equal clocks have a rate of exactly 1. */
static double ticks_per_ns(void)
{
    const struct trace_anchor *a = &cupti.clock.first, *b = &cupti.clock.last;

    return b->monotonic > a->monotonic && b->ticks > a->ticks
               ? (double)(b->ticks - a->ticks) /
                     (double)(b->monotonic - a->monotonic)
               : 1;
}

uint64_t cupti_ticks(uint64_t ns)
{
    const struct trace_anchor *first = &cupti.clock.first;
    double since = (double)(int64_t)(ns - first->monotonic);

    return first->ticks + (uint64_t)(int64_t)(since * ticks_per_ns());
}

uint64_t cupti_ns(uint64_t ticks)
{
    return (uint64_t)((double)ticks / ticks_per_ns() + 0.5);
}

/* cupti_clock.c: CUPTI's clock, and how the recording's clock compares to it.
 *
 * CUPTI expects nanoseconds and interpolates between them. Its stamps may still
 * be of another clock, which it falls back to: those are not converted.
 */
#include "decoder.h"

/* CUPTI computes the device's times from samples of both clocks, so they may
 * lie a little outside of the recorded period. */
enum { SLACK_NS = 1000000 };

void cupti_clock_compare(struct cupti_clock *clock, struct trace_anchor now)
{
    struct trace_anchor *first = &clock->first, *last = &clock->last;

    *last = now;
    if (!first->monotonic)
        *first = *last;
    clock->rate = 0;
    if (last->monotonic > first->monotonic && last->ticks > first->ticks)
        clock->rate = (double)(last->ticks - first->ticks) /
                      (double)(last->monotonic - first->monotonic);
}

static double rate_of(const struct cupti_clock *clock)
{
    return clock->rate > 0 ? clock->rate : 1;
}

bool cupti_is_time(const struct cupti_clock *clock, uint64_t ns)
{
    return ns && ns + SLACK_NS >= clock->first.monotonic &&
           ns <= clock->last.monotonic + SLACK_NS;
}

uint64_t cupti_ticks(const struct cupti_clock *clock, uint64_t ns)
{
    const struct trace_anchor *first = &clock->first;
    double since = (double)(int64_t)(ns - first->monotonic);

    return first->ticks + (uint64_t)(int64_t)(since * rate_of(clock));
}

uint64_t cupti_ns(const struct cupti_clock *clock, uint64_t ticks)
{
    return (uint64_t)((double)ticks / rate_of(clock) + 0.5);
}

/* zone_clock.c: converts a kernel's clock into the recording's.
 *
 * The clock may be the recording's own: PoCL reads the processor's counter. If
 * not, causality bounds it: what a kernel wrote, it wrote after the launch and
 * before the host saw its end. Each reading of a ring narrows these bounds. A
 * clock of unknown rate needs two readings; after the first one, zones are
 * scaled into the time of their launch.
 */
#include "zones.h"

/* Clocks drift apart by no more. */
static const double drift = 1e-4;

static bool is_same(const struct trace_zone_times *times)
{
    return times->first >= times->since && times->last <= times->now;
}

/* Returns 0 if it is still unknown. */
static double rate_of(const struct trace_zone_clock *clock,
                      const struct trace_zone_times *times)
{
    if (!clock->known || times->last <= clock->first_clock ||
        times->latest <= clock->first_ticks)
        return 0;
    return (double)(times->latest - clock->first_ticks) /
           (double)(times->last - clock->first_clock);
}

/* The difference of two times, of which either may be the later one. */
static double between(uint64_t from, uint64_t to)
{
    return (double)(int64_t)(to - from);
}

/* Scales the records into the time of their launch. */
static void guess(struct trace_zone_clock *clock,
                  const struct trace_zone_times *times)
{
    double length = between(times->earliest, times->latest);

    clock->rate = times->last > times->first
                      ? length / between(times->first, times->last)
                      : 1;
    clock->low = clock->high = 0;
    clock->error = length / 2;
}

/* Intersects the bounds of this reading with what earlier ones predict. */
static void narrow(struct trace_zone_clock *clock, double low, double high,
                   const struct trace_zone_times *times)
{
    double passed = between(clock->clock, times->last) * clock->rate;
    double shift = between(times->latest, clock->ticks) + passed;
    double slack = (passed < 0 ? -passed : passed) * drift;
    double least = shift + clock->low - slack;
    double most = shift + clock->high + slack;

    if (clock->known && least <= high && most >= low) {
        low = least > low ? least : low;
        high = most < high ? most : high;
    }
    clock->low = low;
    clock->high = high;
    clock->error = (high - low) / 2;
}

static void bound(struct trace_zone_clock *clock,
                  const struct trace_zone_times *times)
{
    double low = between(times->latest, times->earliest) +
                 between(times->first, times->last) * clock->rate;

    if (low > 0) /* the records take longer than their launch */
        narrow(clock, low / 2, low / 2, times);
    else
        narrow(clock, low, 0, times);
}

void trace_zone_clock_fit(struct trace_zone_clock *clock,
                          const struct trace_zone_times *times,
                          double ticks_per_ns)
{
    double rate = ticks_per_ns > 0 ? ticks_per_ns : rate_of(clock, times);

    clock->same = is_same(times);
    if (clock->same) {
        clock->error = 0;
    } else if (rate > 0) {
        clock->rate = rate;
        bound(clock, times);
    } else {
        guess(clock, times);
    }
    clock->clock = times->last;
    clock->ticks = times->latest;
    if (!clock->known) {
        clock->first_clock = times->last;
        clock->first_ticks = times->latest;
    }
    clock->known = true;
}

uint64_t trace_zone_clock_ticks(const struct trace_zone_clock *clock,
                                uint64_t at)
{
    const double most = 0x1p62; /* what a damaged record may exceed */
    double ticks;

    if (clock->same)
        return at;
    ticks = between(clock->clock, at) * clock->rate +
            (clock->low + clock->high) / 2;
    if (!(ticks > -most && ticks < most))
        return clock->ticks;
    return clock->ticks + (uint64_t)(int64_t)ticks;
}

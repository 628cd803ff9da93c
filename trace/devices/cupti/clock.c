/* clock.c: measures how fast the recording's ticks are. */
#include <time.h>

#include "cupti.h"

static double ns_per_tick = 1;

static uint64_t monotonic(void)
{
    struct timespec now;

    clock_gettime(CLOCK_MONOTONIC, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

void cupti_measure_ticks(void)
{
    uint64_t ticks = cupti.host->now();
    uint64_t ns = monotonic();

    if (!cupti.begin_ticks) {
        cupti.begin_ticks = ticks;
        cupti.begin_ns = ns;
    } else if (cupti.begin_ns - cupti.begin_ticks > 1000000 && /* not ns */
               ns > cupti.begin_ns && ticks > cupti.begin_ticks) {
        ns_per_tick =
            (double)(ns - cupti.begin_ns) / (double)(ticks - cupti.begin_ticks);
    }
}

uint64_t cupti_ns(uint64_t ticks)
{
    return (uint64_t)((double)ticks * ns_per_tick + 0.5);
}

/* now.c: a clock that never goes back. */
#include "harness/machine/now.h"
#include "trace/base/clock.h"

uint64_t test_log_now(void)
{
    static uint64_t latest;
    uint64_t seen = __atomic_load_n(&latest, __ATOMIC_RELAXED);
    uint64_t now = trace_clock_ns(CLOCK_MONOTONIC);

    do {
        if (now <= seen)
            return seen;
    } while (!__atomic_compare_exchange_n(&latest, &seen, now, true,
                                          __ATOMIC_RELAXED, __ATOMIC_RELAXED));
    return now;
}

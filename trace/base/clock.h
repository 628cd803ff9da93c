/* clock.h: reads the recording's clock, inline: two readings are most of the
 * cost of a span. Private to trace/. */
#ifndef TRACE_CLOCK_H
#define TRACE_CLOCK_H

#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#    include <x86intrin.h>
#endif

#include "trace/format.h"

extern enum trace_clock trace_clock_chosen;

/* trace_clock_choose selects the processor's counter if it is invariant and the
 * kernel trusts it, otherwise CLOCK_MONOTONIC. */
enum trace_clock trace_clock_choose(void);

static inline uint64_t trace_clock_ns(clockid_t clock)
{
    struct timespec now;

    clock_gettime(clock, &now);
    return (uint64_t)now.tv_sec * 1000000000 + (uint64_t)now.tv_nsec;
}

static inline uint64_t trace_clock_counter(void)
{
#if defined(__x86_64__) || defined(__i386__)
    return __rdtsc();
#elif defined(__aarch64__)
    uint64_t ticks;

    __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
    return ticks;
#else
    return 0;
#endif
}

static inline uint64_t trace_clock_now(void)
{
    if (__builtin_expect(trace_clock_chosen == TRACE_CLOCK_COUNTER, 1))
        return trace_clock_counter();
    return trace_clock_ns(CLOCK_MONOTONIC);
}

#endif

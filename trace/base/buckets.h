/* buckets.h: buckets of durations. A bucket is as wide as a fixed share of its
 * durations, so that a few buckets cover all of them. Private to the project.
 *
 * Each power of two has 2^steps buckets, and durations below 2^steps have one
 * each, as in HdrHistogram.
 */
#ifndef TRACE_BUCKETS_H
#define TRACE_BUCKETS_H

#include <stddef.h>
#include <stdint.h>

/* trace_bucket_of returns the bucket of a duration. */
static inline size_t trace_bucket_of(uint64_t duration, unsigned steps)
{
    unsigned power;

    if (duration < UINT64_C(1) << steps)
        return (size_t)duration;
    power = 63 - (unsigned)__builtin_clzll(duration);
    return ((size_t)(power - steps + 1) << steps) +
           (duration >> (power - steps) & ((UINT64_C(1) << steps) - 1));
}

/* trace_bucket_least returns the shortest duration in a bucket. */
static inline uint64_t trace_bucket_least(size_t bucket, unsigned steps)
{
    size_t power = bucket >> steps;
    uint64_t count = UINT64_C(1) << steps, step = bucket & (count - 1);

    return power ? (count + step) << (power - 1) : step;
}

#endif

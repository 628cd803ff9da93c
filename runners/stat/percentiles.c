/* percentiles.c: counts durations in buckets, from which it estimates
 * percentiles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "trace/base/buckets.h"
#include "trace/base/containers.h"

enum { STEPS = RUNNERS_PERCENTILES_STEPS };

/* Finds a bucket, or adds it; NULL without memory. */
static struct percentiles_bucket *bucket_at(struct percentiles *durations,
                                            size_t number)
{
    size_t low = 0, high = durations->bucket_count;
    struct percentiles_bucket *at;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (durations->buckets[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < durations->bucket_count &&
        durations->buckets[low].number == number)
        return &durations->buckets[low];
    if (!TRACE_ARRAY_RESERVE(durations->buckets, durations->capacity,
                             durations->bucket_count + 1))
        return NULL;
    at = &durations->buckets[low];
    memmove(at + 1, at, (durations->bucket_count++ - low) * sizeof(*at));
    *at = (struct percentiles_bucket){.number = number};
    return at;
}

/* The mean and the squares are B. P. Welford's, "Note on a Method for
 * Calculating Corrected Sums of Squares and Products", 1962. */
int runners_percentiles_add(struct percentiles *durations, uint64_t duration)
{
    struct percentiles_bucket *bucket =
        bucket_at(durations, trace_bucket_of(duration, STEPS));
    double distance = (double)duration - durations->mean;

    if (!bucket)
        return -1;
    bucket->count++;
    if (!durations->count || duration < durations->least)
        durations->least = duration;
    if (duration > durations->most)
        durations->most = duration;
    durations->count++;
    durations->total += duration;
    durations->mean += distance / (double)durations->count;
    durations->squares += distance * ((double)duration - durations->mean);
    return 0;
}

static uint64_t middle_of(size_t bucket)
{
    uint64_t least = trace_bucket_least(bucket, STEPS);

    return least + (trace_bucket_least(bucket + 1, STEPS) - 1 - least) / 2;
}

uint64_t runners_percentiles_quantile(const struct percentiles *durations,
                                      double share)
{
    double wanted = ceil(share * (double)durations->count);
    uint64_t seen = 0, duration;
    size_t i = 0;

    if (!durations->count)
        return 0;
    while (i + 1 < durations->bucket_count &&
           (double)(seen += durations->buckets[i].count) < wanted)
        i++;
    duration = middle_of(durations->buckets[i].number);
    if (duration < durations->least)
        return durations->least;
    return duration > durations->most ? durations->most : duration;
}

double runners_percentiles_deviation(const struct percentiles *durations)
{
    return durations->count
               ? sqrt(durations->squares / (double)durations->count)
               : 0;
}

void runners_percentiles_free(struct percentiles *durations)
{
    free(durations->buckets);
    *durations = (struct percentiles){.count = 0};
}

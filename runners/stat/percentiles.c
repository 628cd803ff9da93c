/* percentiles.c: counts durations in buckets, from which it estimates
 * percentiles.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "stat.h"
#include "trace/base/buckets.h"
#include "trace/base/containers.h"

enum { STEPS = 7 }; /* half a bucket is at most 1/256 of a duration */

/* Finds a bucket, or adds it; NULL without memory. */
static struct spread_bucket *bucket_at(struct spread *spread, size_t number)
{
    size_t low = 0, high = spread->bucket_count;
    struct spread_bucket *at;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (spread->buckets[middle].number < number)
            low = middle + 1;
        else
            high = middle;
    }
    if (low < spread->bucket_count && spread->buckets[low].number == number)
        return &spread->buckets[low];
    if (!TRACE_ARRAY_RESERVE(spread->buckets, spread->capacity,
                             spread->bucket_count + 1))
        return NULL;
    at = &spread->buckets[low];
    memmove(at + 1, at, (spread->bucket_count++ - low) * sizeof(*at));
    *at = (struct spread_bucket){.number = number};
    return at;
}

/* The mean and the squares are B. P. Welford's, "Note on a Method for
 * Calculating Corrected Sums of Squares and Products", 1962. */
int runners_spread_add(struct spread *spread, uint64_t duration)
{
    struct spread_bucket *bucket =
        bucket_at(spread, trace_bucket_of(duration, STEPS));
    double distance = (double)duration - spread->mean;

    if (!bucket)
        return -1;
    bucket->count++;
    if (!spread->count || duration < spread->least)
        spread->least = duration;
    if (duration > spread->most)
        spread->most = duration;
    spread->count++;
    spread->total += duration;
    spread->mean += distance / (double)spread->count;
    spread->squares += distance * ((double)duration - spread->mean);
    return 0;
}

static uint64_t middle_of(size_t bucket)
{
    uint64_t least = trace_bucket_least(bucket, STEPS);

    return least + (trace_bucket_least(bucket + 1, STEPS) - 1 - least) / 2;
}

uint64_t runners_spread_quantile(const struct spread *spread, double share)
{
    double wanted = ceil(share * (double)spread->count);
    uint64_t seen = 0, duration;
    size_t i = 0;

    if (!spread->count)
        return 0;
    while (i + 1 < spread->bucket_count &&
           (double)(seen += spread->buckets[i].count) < wanted)
        i++;
    duration = middle_of(spread->buckets[i].number);
    if (duration < spread->least)
        return spread->least;
    return duration > spread->most ? spread->most : duration;
}

double runners_spread_deviation(const struct spread *spread)
{
    return spread->count ? sqrt(spread->squares / (double)spread->count) : 0;
}

void runners_spread_free(struct spread *spread)
{
    free(spread->buckets);
    *spread = (struct spread){.count = 0};
}

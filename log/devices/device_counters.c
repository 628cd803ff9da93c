/* device_counters.c: sums up the counters of devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_summary.h"
#include "log/replay/replay.h"
#include "trace/base/containers.h"

enum { MOST = 256 /* counters; a damaged recording may have more */ };

/* Adds samples of a counter; those of one too many are left out. Returns false
 * without memory. */
static bool add(struct log_device_counters *all,
                const struct log_device_counter *samples)
{
    struct log_device_counter *one;
    size_t i = 0;

    while (i < all->count && strcmp(all->all[i].name, samples->name) != 0)
        i++;
    if (i == MOST)
        return true;
    if (!TRACE_ARRAY_RESERVE(all->all, all->capacity, i + 1))
        return false;
    one = &all->all[i];
    if (i == all->count) {
        *one = *samples;
        one->name = strdup(samples->name);
        all->count += one->name != NULL;
        return one->name;
    }
    one->most = samples->most > one->most ? samples->most : one->most;
    one->sum += samples->sum;
    one->time += samples->time;
    one->count += samples->count;
    return true;
}

bool log_counters_add(struct log_device_counters *all,
                      const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    double time = (double)(entry->end - entry->time);
    struct trace_value value;

    for (size_t i = 0;
         i < entry->site->field_count && trace_values_next(&values, &value);
         i++) {
        struct log_device_counter sample = {
            (char *)(uintptr_t)entry->site->fields[i], value.as.f * time, time,
            value.as.f, 1};

        if (value.type == TRACE_TYPE_F64 && isfinite(value.as.f) &&
            !add(all, &sample))
            return false;
    }
    return true;
}

bool log_counters_merge(struct log_device_counters *all,
                        const struct log_device_counters *some)
{
    for (size_t i = 0; i < some->count; i++)
        if (!add(all, &some->all[i]))
            return false;
    return true;
}

void log_counters_free(struct log_device_counters *all)
{
    for (size_t i = 0; i < all->count; i++)
        free(all->all[i].name);
    free(all->all);
    *all = (struct log_device_counters){.count = 0};
}

double log_counter_mean(const struct log_device_counter *counter)
{
    return counter->time > 0 ? counter->sum / counter->time : 0;
}

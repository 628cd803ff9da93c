/* device_counters.c: sums up the counters of devices. */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "device_summary.h"
#include "log/replay/replay.h"
#include "trace/base/containers.h"

enum { MOST = 256 /* counters; a damaged recording may have more */ };

/* Returns NULL without memory. */
static struct log_device_counter *counter_of(struct log_device_counters *all,
                                             const char *name)
{
    struct log_device_counter *one;

    for (size_t i = 0; i < all->count; i++)
        if (!strcmp(all->all[i].name, name))
            return &all->all[i];
    if (!TRACE_ARRAY_RESERVE(all->all, all->capacity, all->count + 1))
        return NULL;
    one = &all->all[all->count];
    *one = (struct log_device_counter){.name = strdup(name)};
    if (!one->name)
        return NULL;
    all->count++;
    return one;
}

bool log_counters_add(struct log_device_counters *all,
                      const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    double time = (double)(entry->end - entry->time);
    struct trace_value value;

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++) {
        struct log_device_counter *one;

        if (value.type != TRACE_TYPE_F64 || !isfinite(value.as.f) ||
            all->count == MOST)
            continue;
        if (!(one = counter_of(all, site->fields[i])))
            return false;
        one->most =
            !one->count || value.as.f > one->most ? value.as.f : one->most;
        one->sum += value.as.f * time;
        one->time += time;
        one->count++;
    }
    return true;
}

bool log_counters_merge(struct log_device_counters *all,
                        const struct log_device_counters *some)
{
    for (size_t i = 0; i < some->count && all->count < MOST; i++) {
        const struct log_device_counter *from = &some->all[i];
        struct log_device_counter *one = counter_of(all, from->name);

        if (!one)
            return false;
        one->most =
            !one->count || from->most > one->most ? from->most : one->most;
        one->sum += from->sum;
        one->time += from->time;
        one->count += from->count;
    }
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

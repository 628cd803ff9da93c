/* counter_table.h: sums of the counters of devices, as a table. Private. */
#ifndef TESTLOG_COUNTER_TABLE_H
#define TESTLOG_COUNTER_TABLE_H

#include "log/devices/device_summary.h"
#include "stat.h"

/* Begins with the zero value. */
struct counter_sums {
    struct log_device_counters counters;
    struct noted_times noted;
    struct stat_range range; /* of each test that is summed up */
};

/* runners_counters_add adds the samples of a recording; -1 without memory.
 * runners_counters_put prints the table. */
int runners_counters_add(struct counter_sums *, const struct recording *,
                         struct trace_reader *);
void runners_counters_put(const struct counter_sums *, enum runners_form,
                          const char *where);
void runners_counters_free(struct counter_sums *);

#endif

/* counter_table.c: prints the counters of devices. */
#include "counter_table.h"

#include <string.h>

#define COUNTER_COLUMNS(X)                                                     \
    X("Mean", NULL, FIELD, mean.data)                                          \
    X("Most", NULL, FIELD, most.data)                                          \
    X(NULL, "mean", RATIO, log_counter_mean(one))                              \
    X(NULL, "most", RATIO, one->most)                                          \
    X("Samples", "samples", COUNT, one->count)                                 \
    X("Time", "time_ns", TIME, one->time)                                      \
    X("Counter", NULL, TEXT, shown.data)                                       \
    X(NULL, "counter", TEXT, one->name)

int runners_counters_add(struct counter_sums *sums,
                         const struct recording *recording,
                         struct trace_reader *reader)
{
    uint64_t zero = runners_zero_of(&sums->noted, recording, reader);
    struct stat_window window = runners_window_of(&sums->range, zero);
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return -1;
    while (trace_reader_next(reader, &entry))
        if (entry.kind == TRACE_ENTRY_COUNTERS &&
            runners_window_clip(window, &entry.time, &entry.end) &&
            !log_counters_add(&sums->counters, &entry))
            return -1;
    return 0;
}

void runners_counters_put(const struct counter_sums *sums,
                          enum runners_form form, const char *where)
{
    struct runners_table table = {.form = form};

    runners_table_begin(&table, RUNNERS_COLUMNS(COUNTER_COLUMNS), form);
    for (size_t i = 0; i < sums->counters.count; i++) {
        const struct log_device_counter *one = &sums->counters.all[i];
        struct trace_text mean = {0}, most = {0}, shown = {0};

        log_counter_value(&mean, one->name, log_counter_mean(one));
        log_counter_value(&most, one->name, one->most);
        trace_text_add(&shown, one->name, log_counter_title(one->name));
        runners_table_add(&table, RUNNERS_CELLS(COUNTER_COLUMNS));
        trace_text_free(&mean);
        trace_text_free(&most);
        trace_text_free(&shown);
    }
    runners_table_end(&table);
    if (form == RUNNERS_AS_JSON)
        runners_stat_print_json(where, "counter", table.rows);
}

void runners_counters_free(struct counter_sums *sums)
{
    log_counters_free(&sums->counters);
    runners_noted_free(&sums->noted);
}

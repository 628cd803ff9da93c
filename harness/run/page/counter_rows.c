/* counter_rows.c: the values of counters over time. A device's counters have so
 * many samples that several share a row, which has their mean.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/run/page/recorded.h"
#include "trace/base/values.h"

enum {
    DEVICES = 64,          /* of which counters are drawn */
    ROWS = 2000,           /* about so many for a counter of a device */
    GROWING_NS = 10000000, /* of a row, while the recording grows */
};

const struct test_log_table_kind test_log_counter_kind = {
    "counters",
    5,
    {{"time", TEST_LOG_DELTA},
     {"name", TEST_LOG_NUMBER},
     {"value", TEST_LOG_REAL},
     {"track", TEST_LOG_NUMBER},
     {"device", TEST_LOG_NUMBER}}};

/* ---- Counters of the program, and memory ---- */

/* Adds a counter of the program. */
static void add_own(struct test_log_recorded *recorded,
                    const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;
    double number;

    if (entry->site->kind == TRACE_SITE_COUNTER && entry->site->field_count &&
        trace_values_next(&values, &value) && trace_number_of(&value, &number))
        TEST_LOG_ROW(
            &recorded->tables[TEST_LOG_COUNTERS], entry->time,
            test_log_strings_of(&recorded->strings, entry->site->fields[0]),
            test_log_real(number), test_log_track_of(recorded, entry), 0);
}

/* Adds a number of an entry's device, "GPU 0 memory". */
static void add_of_device(struct test_log_recorded *recorded,
                          const struct trace_entry *entry, uint64_t time,
                          const char *name, double number)
{
    uint32_t track = entry->kind == TRACE_ENTRY_DEVICE
                         ? test_log_track_of(recorded, entry)
                         : 0;
    struct trace_text whole = {0};

    trace_name_ordinal(&whole, entry->at.device);
    trace_text_printf(&whole, " %s", name);
    TEST_LOG_ROW(
        &recorded->tables[TEST_LOG_COUNTERS], time,
        test_log_strings_of(&recorded->strings, whole.data ? whole.data : name),
        test_log_real(number), track, (uint64_t)entry->at.device + 1);
    trace_text_free(&whole);
}

static void add_memory(struct test_log_recorded *recorded,
                       const struct trace_entry *entry)
{
    struct trace_value value;
    double number;

    if (trace_entry_field(entry, "in_use", &value) &&
        trace_number_of(&value, &number))
        add_of_device(recorded, entry, entry->time, "memory", number);
}

/* ---- Counters of devices ---- */

/* Samples of a device that will share a row. */
struct test_log_sampled {
    struct trace_entry first;
    uint64_t end;
    bool some;
    struct {
        double sum; /* of values, each times its ns */
        double ns;
    } counters[TRACE_ACTIVITY_FIELDS];
};

static void put_samples(struct test_log_recorded *recorded,
                        struct test_log_sampled *sampled)
{
    for (size_t i = 0; i < TRACE_ACTIVITY_FIELDS; i++)
        if (sampled->counters[i].ns > 0)
            add_of_device(recorded, &sampled->first, sampled->first.time,
                          sampled->first.site->fields[i],
                          sampled->counters[i].sum / sampled->counters[i].ns);
    memset(sampled->counters, 0, sizeof(sampled->counters));
    sampled->some = false;
}

static void put_zeros(struct test_log_recorded *recorded,
                      const struct test_log_sampled *sampled)
{
    for (size_t i = 0; i < sampled->first.site->field_count; i++)
        add_of_device(recorded, &sampled->first, sampled->end,
                      sampled->first.site->fields[i], 0);
}

static struct test_log_sampled *sampled_of(struct test_log_recorded *recorded,
                                           uint32_t device)
{
    struct test_log_sampled *sampled;
    uintptr_t found;

    if (trace_table_find(&recorded->sampled, device, &found))
        return (struct test_log_sampled *)found;
    sampled =
        recorded->sampled.count < DEVICES ? calloc(1, sizeof(*sampled)) : NULL;
    if (sampled &&
        !trace_table_set(&recorded->sampled, device, (uintptr_t)sampled)) {
        free(sampled);
        return NULL;
    }
    return sampled;
}

static void add_sample(struct test_log_recorded *recorded,
                       const struct trace_entry *entry)
{
    struct test_log_sampled *sampled = sampled_of(recorded, entry->at.device);
    struct trace_values values = trace_values_of(entry);
    uint64_t width =
        recorded->end == UINT64_MAX ? GROWING_NS : recorded->end / ROWS;
    double ns = (double)(entry->end - entry->time), number;
    struct trace_value value;
    bool gap;

    if (!sampled)
        return;
    gap = sampled->end && trace_is_apart(sampled->end, entry);
    if (sampled->some && (gap || entry->site != sampled->first.site ||
                          entry->end > sampled->first.time + width))
        put_samples(recorded, sampled);
    if (gap)
        put_zeros(recorded, sampled);
    if (!sampled->some)
        sampled->first = *entry;
    sampled->some = true;
    sampled->end = entry->end;
    for (size_t i = 0;
         i < entry->site->field_count && i < TRACE_ACTIVITY_FIELDS &&
         trace_values_next(&values, &value);
         i++)
        if (trace_number_of(&value, &number)) {
            sampled->counters[i].sum += number * ns;
            sampled->counters[i].ns += ns;
        }
}

/* ---- All ---- */

void test_log_counters_add(struct test_log_recorded *recorded,
                           const struct trace_entry *entry)
{
    if (entry->kind == TRACE_ENTRY_COUNTERS)
        add_sample(recorded, entry);
    else if (entry->kind == TRACE_ENTRY_DEVICE)
        add_memory(recorded, entry);
    else
        add_own(recorded, entry);
}

void test_log_counters_put(struct test_log_recorded *recorded)
{
    size_t cursor = 0;
    uintptr_t at;

    while (trace_table_next(&recorded->sampled, &cursor, &at)) {
        if (((struct test_log_sampled *)at)->some)
            put_samples(recorded, (struct test_log_sampled *)at);
        if (recorded->end != UINT64_MAX)
            put_zeros(recorded, (struct test_log_sampled *)at);
    }
}

void test_log_counters_free(struct test_log_recorded *recorded)
{
    size_t cursor = 0;
    uintptr_t at;

    while (trace_table_next(&recorded->sampled, &cursor, &at))
        free((void *)at);
    trace_table_free(&recorded->sampled);
}

/* lines.c: the lines of a log, and the values of counters. */
#include <math.h>
#include <string.h>

#include "harness/results/report/recorded.h"
#include "log/replay/entry_text.h"
#include "trace/base/text.h"

const struct test_log_table_kind test_log_line_kind = {
    "lines",
    7,
    {{"time", TEST_LOG_DELTA},
     {"track", TEST_LOG_NUMBER},
     {"site", TEST_LOG_NUMBER},
     {"slice", TEST_LOG_SIGNED},
     {"text", TEST_LOG_NUMBER},
     {"shown", TEST_LOG_NUMBER},
     {"fields", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_line_field_kind = {
    "line_fields", 2, {{"name", TEST_LOG_NUMBER}, {"value", TEST_LOG_NUMBER}}};

const struct test_log_table_kind test_log_counter_kind = {
    "counters",
    5,
    {{"time", TEST_LOG_DELTA},
     {"name", TEST_LOG_NUMBER},
     {"value", TEST_LOG_REAL},
     {"track", TEST_LOG_NUMBER},
     {"device", TEST_LOG_NUMBER}}};

/* ---- Counters ---- */

/* Stores a number that can be drawn. */
static bool number_of(const struct trace_value *value, double *number)
{
    switch (value->type) {
    case TRACE_TYPE_BOOL:
    case TRACE_TYPE_U64:
        *number = (double)value->as.u;
        return true;
    case TRACE_TYPE_I64:
        *number = (double)value->as.i;
        return true;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        *number = value->as.f;
        return isfinite(*number);
    default:
        return false;
    }
}

static void add_counter(struct test_log_recorded *recorded,
                        const struct trace_entry *entry, const char *name,
                        const struct trace_value *value)
{
    bool is_memory = entry->kind == TRACE_ENTRY_DEVICE;
    uint64_t device = is_memory ? (uint64_t)entry->at.device + 1 : 0;
    double number;

    if (number_of(value, &number))
        TEST_LOG_ROW(&recorded->tables[TEST_LOG_COUNTERS], entry->time,
                     test_log_strings_of(&recorded->strings, name),
                     test_log_real(number), test_log_track_of(recorded, entry),
                     device);
}

/* A counter has one field. An activity may tell how much memory of its device
 * is in use. */
static void add_counters(struct test_log_recorded *recorded,
                         const struct trace_entry *entry)
{
    bool device = entry->kind == TRACE_ENTRY_DEVICE;
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;
    struct trace_text name = {0};

    if (!device && site->kind != TRACE_SITE_COUNTER)
        return;
    trace_name_ordinal(&name, entry->at.device);
    trace_text_literal(&name, " memory");
    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        if (!device || !strcmp(site->fields[i], "in_use"))
            add_counter(recorded, entry,
                        device && name.data ? name.data : site->fields[i],
                        &value);
    trace_text_free(&name);
}

/* ---- Lines ---- */

static size_t add_fields(struct test_log_recorded *recorded,
                         const struct trace_entry *entry)
{
    struct trace_values values = log_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;
    size_t added = 0;

    if (entry->kind == TRACE_ENTRY_DEVICE)
        return 0; /* its slice has them */
    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        added += test_log_recorded_field(recorded, TEST_LOG_LINE_FIELDS,
                                         site->fields[i], &value);
    return added;
}

void test_log_lines_add(struct test_log_recorded *recorded,
                        const struct trace_entry *entry, uint32_t slice,
                        bool shown)
{
    struct trace_text *text = &recorded->text;
    size_t fields;
    uint32_t message;

    add_counters(recorded, entry);
    if (!log_is_event(entry) || test_log_cut_line(&recorded->cut))
        return;
    if (!slice)
        slice = test_log_slices_around(recorded, entry->span);
    fields = add_fields(recorded, entry);
    trace_text_clear(text);
    log_message_of(entry, text);
    message = test_log_strings_add(&recorded->strings, text->data, text->size);
    TEST_LOG_ROW(&recorded->tables[TEST_LOG_LINES], entry->time,
                 test_log_track_of(recorded, entry),
                 test_log_recorded_site(recorded, entry->site).row, slice,
                 message, shown, fields);
}

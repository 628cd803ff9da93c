/* lines.c: the lines of a log. */
#include <string.h>

#include "harness/run/page/recorded.h"
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

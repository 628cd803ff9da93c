/* entry.c: describes records as entries. */
#include <string.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/values.h"
#include "trace/format.h"

/* ---- Entries ---- */

bool trace_reader_activity(const struct trace_record *record,
                           struct trace_values *values,
                           struct trace_activity_place *at)
{
    struct trace_value value;

    *values = trace_values_in(record);
    if (!trace_values_next(values, &value) || value.type != TRACE_TYPE_BYTES ||
        value.size != sizeof(*at))
        return false;
    memcpy(at, value.as.bytes, sizeof(*at));
    return true;
}

const struct trace_site *trace_reader_site(const struct trace_reader *reader,
                                           uint32_t id)
{
    return id < reader->site_count ? reader->sites[id] : NULL;
}

static bool describe(struct trace_entry *entry,
                     const struct trace_record *record)
{
    switch (record->kind) {
    case TRACE_KIND_SPAN:
        entry->kind = TRACE_ENTRY_SPAN;
        entry->entered = !(record->flags & TRACE_FLAG_NOT_ENTERED);
        entry->beside = record->flags & TRACE_FLAG_BESIDE;
        return true;
    case TRACE_KIND_ENTER:
        entry->kind = TRACE_ENTRY_ENTER;
        return true;
    case TRACE_KIND_CLOSE:
        entry->kind = TRACE_ENTRY_CLOSE;
        return true;
    case TRACE_KIND_FIELDS:
        entry->kind = TRACE_ENTRY_FIELDS;
        return true;
    case TRACE_KIND_EVENT:
    case TRACE_KIND_COUNTER:
    case TRACE_KIND_SIGNPOST:
        entry->kind = TRACE_ENTRY_EVENT;
        entry->printf_ = record->flags & TRACE_FLAG_PRINTF;
        entry->message = record->flags & TRACE_FLAG_MESSAGE;
        return true;
    case TRACE_KIND_DEVICE:
        entry->kind = TRACE_ENTRY_DEVICE;
        return true;
    default:
        return false;
    }
}

/* A span's parent began before it. This check also prevents cycles in damaged
 * recordings. */
static uint32_t parent_of(const struct trace_reader *reader,
                          const struct trace_record *record)
{
    const struct trace_record *parent =
        record->span ? trace_reader_record(reader, record->span) : NULL;

    if (!parent || parent->kind != TRACE_KIND_SPAN ||
        (record->kind == TRACE_KIND_SPAN && parent->time >= record->time))
        return 0;
    return record->span;
}

/* An activity's span is in its record, and its thread is its call's. */
static bool describe_activity(const struct trace_reader *reader,
                              const struct trace_record *record,
                              struct trace_entry *entry)
{
    struct trace_values values;
    struct trace_value unused;
    uint32_t thread;

    if (!trace_reader_activity(record, &values, &entry->at))
        return false;
    entry->time = trace_reader_time(reader, entry->at.begin);
    if (entry->end == UINT64_MAX || entry->end < entry->time)
        entry->end = entry->time;
    if (entry->thread->tid != entry->at.thread &&
        trace_reader_find_thread(reader, reader->header.pid, entry->at.thread,
                                 entry->at.begin, &thread))
        entry->thread = &reader->threads[thread];
    entry->launch = entry->at.launched ? values.next : NULL;
    for (size_t i = 0; entry->launch && i < TRACE_LAUNCH_FIELDS; i++)
        if (!trace_values_next(&values, &unused))
            return false;
    entry->values = values.next;
    entry->values_size = (size_t)(values.end - values.next);
    if (entry->at.kind == TRACE_ACTIVITY_COUNTERS)
        entry->kind = TRACE_ENTRY_COUNTERS;
    return true;
}

bool trace_reader_entry(const struct trace_reader *reader, uint32_t place,
                        const struct trace_thread *thread,
                        struct trace_entry *entry)
{
    static const struct trace_site unknown = {
        .name = "?", .target = "?", .file = "?", .function = "?"};
    const struct trace_record *record = trace_reader_record(reader, place);
    struct trace_values values;
    uint32_t around;
    bool lasts;

    if (place & TRACE_CALL_NUMBER)
        return trace_calls_entry(reader, place, thread, entry);
    *entry = (struct trace_entry){0};
    if (!record || !describe(entry, record))
        return false;
    lasts = record->kind == TRACE_KIND_SPAN ||
            record->kind == TRACE_KIND_ENTER ||
            record->kind == TRACE_KIND_DEVICE;

    uint64_t end = lasts ? __atomic_load_n(&record->end, __ATOMIC_ACQUIRE) : 0;

    entry->time = trace_reader_time(reader, record->time);
    entry->end = end ? trace_reader_time(reader, end) : UINT64_MAX;
    entry->place = place;
    entry->id =
        record->kind == TRACE_KIND_SPAN || record->kind == TRACE_KIND_DEVICE
            ? place
            : 0;
    around = trace_calls_around(reader, place);
    entry->span = around ? around : parent_of(reader, record);
    entry->site = trace_reader_site(reader, record->site);
    if (!entry->site)
        entry->site = &unknown;
    entry->name = entry->site->name;
    entry->thread = thread;
    values = trace_values_in(record);
    entry->values = values.next;
    entry->values_size = (size_t)(values.end - values.next);
    return entry->kind != TRACE_ENTRY_DEVICE ||
           describe_activity(reader, record, entry);
}

bool trace_reader_span(const struct trace_reader *reader, uint32_t place,
                       struct trace_entry *entry)
{
    static const struct trace_thread nobody = {.name = ""};

    return trace_reader_entry(reader, place, &nobody, entry) &&
           entry->kind == TRACE_ENTRY_SPAN;
}

struct trace_values trace_values_of(const struct trace_entry *entry)
{
    const unsigned char *end =
        entry->values ? entry->values + entry->values_size : NULL;

    return (struct trace_values){entry->values, end, entry->name};
}

bool trace_entry_field(const struct trace_entry *entry, const char *name,
                       struct trace_value *value)
{
    struct trace_values values = trace_values_of(entry);

    for (size_t i = 0;
         i < entry->site->field_count && trace_values_next(&values, value); i++)
        if (!strcmp(entry->site->fields[i], name))
            return true;
    return false;
}

uint64_t trace_entry_duration(const struct trace_entry *entry)
{
    return entry->end == UINT64_MAX ? 0
                                    : trace_between(entry->time, entry->end);
}

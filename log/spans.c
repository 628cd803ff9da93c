/* spans.c: the spans that something happened in, and what they carry. */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

/* The next span outwards that is shown; 0 at the root. */
static uint32_t shown(struct log_replay *replay,
                      const struct trace_reader *reader, uint32_t place,
                      struct trace_entry *span)
{
    while (place && trace_reader_span(reader, place, span)) {
        if (log_replay_shows(replay, span))
            return place;
        place = span->span;
    }
    return 0;
}

void log_chain_of(struct log_chain *chain, struct log_replay *replay,
                  const struct trace_reader *reader, uint32_t place)
{
    struct trace_entry span;
    size_t count = 0;

    for (uint32_t at = place; (at = shown(replay, reader, at, &span));
         at = span.span)
        count++;
    chain->places = chain->few;
    chain->count = count;
    if (count > sizeof(chain->few) / sizeof(*chain->few))
        chain->places = malloc(count * sizeof(*chain->places));
    if (!chain->places) {
        chain->places = chain->few;
        chain->count = count = sizeof(chain->few) / sizeof(*chain->few);
    }
    for (uint32_t at = place; count && (at = shown(replay, reader, at, &span));
         at = span.span)
        chain->places[--count] = at;
}

void log_chain_free(struct log_chain *chain)
{
    if (chain->places != chain->few)
        free(chain->places);
}

/* Adds an entry's fields; a name that is there already gets the new value. */
static size_t gather(const struct trace_entry *entry, struct log_field *fields,
                     size_t count)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++) {
        size_t at = 0;

        if (value.type == TRACE_TYPE_EMPTY)
            continue;
        while (at < count && strcmp(fields[at].name, site->fields[i]))
            at++;
        if (at == LOG_FIELDS_MAX)
            continue;
        fields[at] = (struct log_field){site->fields[i], value};
        count += at == count;
    }
    return count;
}

size_t log_fields_of(const struct trace_reader *reader,
                     const struct trace_entry *span, uint64_t time,
                     struct log_field *fields)
{
    size_t count = gather(span, fields, 0), cursor = 0;
    struct trace_entry late;

    while (trace_reader_late(reader, span->id, time, &cursor, &late))
        count = gather(&late, fields, count);
    return count;
}

void log_message_of(const struct trace_entry *entry, struct trace_text *message)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    if (entry->printf_) {
        trace_format(message, entry->site->name, &values);
    } else if (entry->message) {
        /* A signpost's header stands before its message. */
        for (size_t i = 0; trace_values_next(&values, &value) &&
                           value.type == TRACE_TYPE_STRING;
             i++) {
            trace_text_string(message, i ? ": " : "");
            trace_text_add(message, value.as.text, value.size);
        }
    } else {
        trace_text_string(message, entry->site->name);
    }
}

struct trace_values log_values_of(const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);

    if (entry->printf_ || entry->message)
        values.next = values.end;
    return values;
}

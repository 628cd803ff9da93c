/* message.c: the message and the fields of an event. */
#include "entry_text.h"
#include "trace/read/reader.h"

void log_message_of(const struct trace_entry *entry, struct trace_text *message)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    if (entry->kind == TRACE_ENTRY_DEVICE) {
        trace_text_string(message, log_device_message(entry));
    } else if (entry->printf_) {
        trace_format(message, entry->site->name, &values);
    } else if (entry->message) {
        /* A signpost's header precedes its message. */
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

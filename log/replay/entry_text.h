/* entry_text.h: what an entry of a recording says. Private to the project. */
#ifndef LOG_ENTRY_TEXT_H
#define LOG_ENTRY_TEXT_H

#include "trace/base/values.h"
#include "trace/read/reader.h"

/* ---- value.c ---- */

/* log_value adds a value on one line, in the form of Rust's Debug. */
void log_value(struct trace_text *out, const struct trace_value *value);

/* ---- message.c ---- */

/* log_message_of adds an event's message. log_values_of returns its fields;
 * there are none if the message consumes the values. */
void log_message_of(const struct trace_entry *, struct trace_text *message);
struct trace_values log_values_of(const struct trace_entry *);

/* ---- device_events.c ---- */

/* log_device_message returns the message of an activity's line, "" if it has no
 * line. log_is_event returns whether an entry can have a line of its own; lines
 * about spans don't count. */
const char *log_device_message(const struct trace_entry *);
bool log_is_event(const struct trace_entry *);

#endif

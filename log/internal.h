/* internal.h: what the files of log/ share. Private. */
#ifndef LOG_INTERNAL_H
#define LOG_INTERNAL_H

#include <testlog/log.h>

/* ---- value.c ---- */

/* log_value adds a value as Rust's Debug writes it, on one line. */
void log_value(struct trace_text *out, const struct trace_value *value);

/* log_plain adds text as it is, but for what would break the line or command
 * the terminal. */
void log_plain(struct trace_text *out, const char *text, size_t size);

/* ---- full.c ---- */

/* A line that is to be laid out. */
struct log_parts {
    const struct log_filter *filter;
    const struct log_style *style;
    const struct trace_reader *reader;
    const struct trace_entry *entry;
};

void log_full(const struct log_parts *, struct trace_text *out);

/* ---- spans.c ---- */

/* The spans of a chain from the root on, those that the filter shows. */
struct log_chain {
    uint32_t *places;
    size_t count;
    uint32_t few[16];
};

void log_chain_of(struct log_chain *, const struct log_filter *,
                  const struct trace_reader *, uint32_t place);
void log_chain_free(struct log_chain *);

/* A field with the value that counts. */
struct log_field {
    const char *name;
    struct trace_value value;
};

enum { LOG_FIELDS_MAX = 64 };

/* log_fields_of gathers the fields of a span as they were at `time`. */
size_t log_fields_of(const struct trace_reader *,
                     const struct trace_entry *span, uint64_t time,
                     struct log_field *fields);

/* log_message_of adds an event's message; its fields are then the values that
 * `values` has left. */
void log_message_of(const struct trace_entry *, struct trace_values *values,
                    struct trace_text *message);

#endif

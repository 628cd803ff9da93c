/* layout_json.c: tracing-subscriber's JSON layout, one object per line.
 *
 *  {"test":..., "timestamp":..., "level":..., "fields":{...}, "target":...,
 *   "filename":..., "line_number":..., "span":{...}, "spans":[...],
 *   "threadName":..., "threadId":..., "pid":...}
 *
 * Absent members are left out. Unlike the original, an object never has the
 * same key twice: of equally named fields of an event the last counts, and a
 * field whose key is taken (as "message" by the message and "name" by the
 * span's name) is called "field.message".
 */
#include <math.h>
#include <string.h>

#include "layout.h"
#include "log/filter/filter.h"
#include "log/replay/entry_text.h"
#include "log/replay/replay.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

/* A comma follows a member or an element. */
static void separate(struct trace_text *out)
{
    char last = out->size ? out->data[out->size - 1] : '{';

    if (last != '{' && last != '[')
        trace_text_literal(out, ",");
}

static void put_string(struct trace_text *out, const char *text)
{
    trace_json_string(out, text, strlen(text));
}

static void put_key(struct trace_text *out, const char *key)
{
    separate(out);
    put_string(out, key);
    trace_text_literal(out, ":");
}

/* Our own keys need no escapes. */
#define PUT_KEY(out, key)                                                      \
    (separate(out), trace_text_literal(out, "\"" key "\":"))
#define PUT_MEMBER(out, key, text) (PUT_KEY(out, key), put_string(out, text))

/* ---- Values ---- */

static void put_value(struct trace_text *out, const struct trace_value *value)
{
    /* Where Ryu, which serde_json uses, switches to exponents. */
    static const struct log_decimals f32 = {-6, 13}, f64 = {-5, 16};
    struct trace_text text = {.ceiling = out->ceiling};
    bool is_float = value->type == TRACE_TYPE_F32;

    switch (value->type) {
    case TRACE_TYPE_BOOL:
    case TRACE_TYPE_I64:
    case TRACE_TYPE_U64:
        log_value(out, value);
        break;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        if (isfinite(value->as.f))
            log_real(out, value->as.f, is_float, is_float ? f32 : f64);
        else
            trace_text_literal(out, "null");
        break;
    case TRACE_TYPE_STRING:
    case TRACE_TYPE_DISPLAY:
        trace_json_string(out, value->as.text, value->size);
        break;
    default: /* as in text */
        log_value(&text, value);
        trace_json_string(out, text.data ? text.data : "", text.size);
        trace_text_free(&text);
    }
}

/* ---- Fields ---- */

static bool named(const struct trace_field *fields, size_t count,
                  const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (!strcmp(fields[i].name, name))
            return true;
    return false;
}

/* Adds field `i`, unless a later field has its name, or it would have to be
 * renamed away from `taken` and a field has that name. */
static void put_field(struct trace_text *out, const struct trace_field *fields,
                      size_t count, size_t i, const char *taken)
{
    const char *name = fields[i].name;
    char moved[64];

    if (named(fields + i + 1, count - i - 1, name))
        return;
    if (taken && !strcmp(name, taken)) {
        snprintf(moved, sizeof(moved), "field.%s", taken);
        if (named(fields, count, moved))
            return;
        name = moved;
    }
    put_key(out, name);
    put_value(out, &fields[i].value);
}

/* ---- Spans ---- */

static void sort(struct trace_field *fields, size_t count)
{
    for (size_t i = 1; i < count; i++) {
        struct trace_field moving = fields[i];
        size_t at = i;

        for (; at && strcmp(fields[at - 1].name, moving.name) > 0; at--)
            fields[at] = fields[at - 1];
        fields[at] = moving;
    }
}

static void put_span(const struct log_parts *parts,
                     const struct trace_entry *span, struct trace_text *out)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    size_t count =
        trace_reader_fields(parts->reader, span, parts->time, fields);

    sort(fields, count);
    trace_text_literal(out, "{");
    for (size_t i = 0; i < count; i++)
        put_field(out, fields, count, i, "name");
    PUT_MEMBER(out, "name", span->site->name);
    trace_text_literal(out, "}");
}

static void put_spans(const struct log_parts *parts, struct trace_text *out)
{
    const struct log_chain *chain = parts->chain;
    size_t from, to;

    if (!chain->count)
        return;
    PUT_KEY(out, "span");
    from = out->size;
    put_span(parts, &chain->spans[0], out);
    to = out->size;
    PUT_KEY(out, "spans");
    trace_text_literal(out, "[");
    for (size_t i = chain->count; i-- > parts->outside;) {
        separate(out);
        if (i)
            put_span(parts, &chain->spans[i], out);
        else
            trace_text_again(out, from, to);
    }
    trace_text_literal(out, "]");
}

/* ---- The line ---- */

static void put_thread(const struct log_parts *parts, struct trace_text *out)
{
    const struct trace_thread *thread = parts->thread;
    bool name = log_has(parts, LOG_DETAIL_THREAD_NAME);
    bool id = log_has(parts, LOG_DETAIL_THREAD_ID);
    char number[32];

    if (!name && !id)
        return;
    snprintf(number, sizeof(number), "ThreadId(%u)", thread->tid);
    if (name && (thread->name[0] || !id))
        PUT_MEMBER(out, "threadName", thread->name[0] ? thread->name : number);
    if (id)
        PUT_MEMBER(out, "threadId", number);
}

void log_json(const struct log_parts *parts, struct trace_text *out)
{
    const char *level = log_level_text(parts);
    const struct trace_site *site = parts->site;

    trace_text_literal(out, "{");
    if (parts->style->test)
        PUT_MEMBER(out, "test", parts->style->test);
    if (parts->style->time != LOG_TIME_NONE) {
        PUT_KEY(out, "timestamp");
        trace_text_literal(out, "\"");
        log_time(parts, out);
        trace_text_literal(out, "\"");
    }
    PUT_MEMBER(out, "level", level + strspn(level, " "));
    PUT_KEY(out, "fields");
    trace_text_literal(out, "{");
    if (parts->message) {
        PUT_KEY(out, "message");
        trace_json_string(out, parts->message, parts->message_size);
    }
    for (size_t i = 0; i < parts->field_count; i++)
        put_field(out, parts->fields, parts->field_count, i,
                  parts->message ? "message" : NULL);
    trace_text_literal(out, "}");
    PUT_MEMBER(out, "target", site->target);
    if (site->file[0] && log_has(parts, LOG_DETAIL_FILE))
        PUT_MEMBER(out, "filename", site->file);
    if (site->file[0] && log_has(parts, LOG_DETAIL_LINE)) {
        PUT_KEY(out, "line_number");
        trace_json_number(out, site->line);
    }
    put_spans(parts, out);
    put_thread(parts, out);
    if (log_has(parts, LOG_DETAIL_PID)) {
        PUT_KEY(out, "pid");
        trace_json_number(out, parts->thread->pid);
    }
    trace_text_literal(out, "}\n");
}

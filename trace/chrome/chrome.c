/* chrome.c: streams recordings as Chrome's trace events.
 *
 * "Trace Event Format", N. Duca and D. Sinclair. A span is a complete event
 * ("X"), an event an instant ("i"). Viewers want complete events of one track
 * nested, so a span that overlaps its neighbour goes to a track beside it.
 */
#include <stdlib.h>
#include <string.h>

#include "chrome.h"
#include "chrome_json.h"
#include "trace/read/reader_parts.h"

/* The JSON that all events of a call site share: one part up to `head`, then
 * those up to `place` and to `name`, and then the keys of the fields. The
 * user's own fields come before ours. */
struct prepared {
    struct trace_text text;
    size_t head;   /* level and location */
    size_t place;  /* our own arguments */
    size_t name;   /* the end of the arguments, and the name */
    size_t keys[]; /* of every field; empty if it is not written */
};

void trace_chrome_begin(struct trace_chrome *chrome, FILE *stream)
{
    *chrome = (struct trace_chrome){.stream = stream};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", stream);
}

/* ---- Call sites ---- */

/* Returns whether a key is one of our own. */
static bool reserved(const char *name)
{
    return !strcmp(name, "testlog.target") || !strcmp(name, "testlog.location");
}

static struct prepared *prepare(const struct trace_site *site)
{
    struct prepared *prepared = calloc(
        1, sizeof(*prepared) + site->field_count * sizeof(*prepared->keys));

    if (!prepared)
        return NULL;

    struct trace_text *text = &prepared->text;

    trace_text_printf(
        text, ",\"cat\":\"%s\",\"loc\":", trace_level_word(site->level));
    trace_chrome_place_text(text, site->file, site->line);
    trace_chrome_literal(text, ",\"args\":{");
    prepared->head = text->size;
    trace_chrome_literal(text, "\"testlog.target\":");
    trace_chrome_string(text, site->target);
    trace_chrome_literal(text, ",\"testlog.location\":");
    trace_chrome_place_text(text, site->file, site->line);
    prepared->place = text->size;
    trace_chrome_literal(text, "},\"name\":");
    trace_chrome_string(text, site->name);
    prepared->name = text->size;
    for (size_t i = 0; i < site->field_count; i++) {
        const char *name = site->fields[i];

        if (!reserved(name) && !trace_chrome_has(site, i + 1, name)) {
            trace_chrome_string(text, name);
            trace_text_char(text, ':');
        }
        prepared->keys[i] = text->size;
    }
    return prepared;
}

/* Returns NULL without memory. */
static const struct prepared *prepared_of(struct trace_exporter *export,
                                          const struct trace_site *site)
{
    struct prepared **at = &export->sites[site->id];

    if (!*at)
        *at = prepare(site);
    return *at && !(*at)->text.failed ? *at : NULL;
}

/* Adds the prepared text from `from` to `to`. */
static void put_prepared(struct trace_text *text,
                         const struct prepared *prepared, size_t from,
                         size_t to)
{
    trace_text_put(text, prepared->text.data + from, to - from);
}

/* ---- Events ---- */

/* Returns whether a key is one that we write for open spans. */
static bool is_ours(const struct trace_exporter *export, const char *name)
{
    return export->open && !strcmp(name, "unfinished");
}

static void put_fields(struct trace_exporter *export,
                       const struct trace_entry *entry)
{
    const struct trace_site *site = entry->site;
    const struct prepared *prepared = prepared_of(export, site);
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;
    size_t key, end = prepared ? prepared->name : 0;

    if (!prepared)
        return;
    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++) {
        key = end;
        end = prepared->keys[i];
        if (key == end || value.type == TRACE_TYPE_EMPTY ||
            is_ours(export, site->fields[i]))
            continue;
        put_prepared(&export->text, prepared, key, end);
        trace_json_value(&export->text, &value);
        trace_text_char(&export->text, ',');
    }
}

/* Writes each key once, with its last value. */
static void put_span_fields(struct trace_exporter *export,
                            const struct trace_entry *span)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct trace_text *text = &export->text;
    struct trace_entry late;
    size_t cursor = 0, count;

    if (!trace_reader_late(export->reader, span->id, UINT64_MAX, &cursor,
                           &late)) { /* as in most spans */
        put_fields(export, span);
        return;
    }
    count = trace_reader_fields(export->reader, span, UINT64_MAX, fields);
    for (size_t i = 0; i < count; i++) {
        if (reserved(fields[i].name) || is_ours(export, fields[i].name))
            continue;
        trace_chrome_string(text, fields[i].name);
        trace_text_char(text, ':');
        trace_json_value(text, &fields[i].value);
        trace_text_char(text, ',');
    }
}

/* Writes the start of every event: kind, place, time and call site. Arguments
 * follow, each with a comma behind it. */
static inline void put_head(struct trace_exporter *export, const char *phase,
                            uint32_t tid, uint64_t time,
                            const struct prepared *prepared)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_chrome_literal(text, phase);
    trace_json_number(text, export->pid);
    trace_chrome_literal(text, ",\"tid\":");
    trace_json_number(text, tid);
    trace_chrome_time(text, ",\"ts\":", time);
    put_prepared(text, prepared, 0, prepared->head);
}

static void put_span(struct trace_exporter *export,
                     const struct trace_entry *entry,
                     const struct trace_entry *span)
{
    const struct prepared *prepared = prepared_of(export, span->site);
    struct trace_text *text = &export->text;
    bool open = entry->end == UINT64_MAX;
    uint64_t end = open ? export->end : entry->end;

    if (!prepared)
        return;
    if (end < entry->time)
        end = entry->time;

    struct trace_chrome_row row = trace_chrome_span_row(export, entry);
    struct trace_chrome_extent extent = {entry->time, end, 0, 0};
    uint32_t tid = trace_chrome_place(export, &row, &extent);

    put_head(export, ",\n{\"ph\":\"X\",\"pid\":", tid, entry->time, prepared);
    export->open = open;
    put_span_fields(export, span);
    export->open = false;
    put_prepared(text, prepared, prepared->head, prepared->place);
    if (open)
        trace_chrome_literal(text, ",\"unfinished\":true");
    put_prepared(text, prepared, prepared->place, prepared->name);
    trace_chrome_time(text, ",\"dur\":", end - entry->time);
    trace_text_char(text, '}');
    trace_chrome_put(export);
    if (entry->kind == TRACE_ENTRY_SPAN)
        trace_chrome_created(export, span, tid);
    else
        trace_chrome_entered(export, entry, tid);
}

/* Draws the creation of a span that is not entered at once as an instant, where
 * arrows can begin. */
static void put_new(struct trace_exporter *export,
                    const struct trace_entry *span)
{
    const struct prepared *prepared = prepared_of(export, span->site);
    struct trace_text *text = &export->text, name = {0};
    uint32_t tid;

    if (!prepared)
        return;
    tid = trace_chrome_mark(export, span->thread);
    put_head(export, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":", tid, span->time,
             prepared);
    put_fields(export, span);
    put_prepared(text, prepared, prepared->head, prepared->place);
    trace_text_printf(&name, "new %s", span->site->name);
    trace_chrome_literal(text, "},\"name\":");
    trace_chrome_string(text, name.data ? name.data : "new");
    trace_text_char(text, '}');
    trace_text_free(&name);
    trace_chrome_put(export);
    trace_chrome_created(export, span, tid);
}

/* Draws a counter over time, once for all threads; some viewers name it by the
 * key. */
static void put_counter(struct trace_exporter *export,
                        const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_text *text = &export->text;
    const char *name = entry->site->field_count ? entry->site->fields[0] : "?";
    struct trace_value value;

    if (!trace_values_next(&values, &value) || !trace_chrome_is_number(&value))
        return;
    trace_text_clear(text);
    trace_text_printf(text, ",\n{\"ph\":\"C\",\"pid\":%u,\"tid\":%u",
                      export->pid,
                      trace_chrome_thread(export, entry->thread).tid);
    trace_chrome_time(text, ",\"ts\":", entry->time);
    trace_chrome_literal(text, ",\"name\":");
    trace_chrome_string(text, name);
    trace_chrome_literal(text, ",\"args\":{");
    trace_chrome_string(text, name);
    trace_text_char(text, ':');
    trace_json_value(text, &value);
    trace_chrome_literal(text, "}}");
    trace_chrome_put(export);
}

/* A signpost has the text of its line. */
static void put_signpost(struct trace_exporter *export,
                         const struct trace_entry *entry)
{
    const struct prepared *prepared = prepared_of(export, entry->site);
    struct trace_values values = trace_values_of(entry);
    struct trace_text *text = &export->text, name = {0};
    struct trace_value header, message;

    if (!prepared || !trace_values_next(&values, &header) ||
        !trace_values_next(&values, &message) ||
        header.type != TRACE_TYPE_STRING || message.type != TRACE_TYPE_STRING)
        return;
    trace_text_add(&name, header.as.text, header.size);
    trace_text_string(&name, ": ");
    trace_text_add(&name, message.as.text, message.size);
    put_head(export, ",\n{\"ph\":\"i\",\"s\":\"t\",\"pid\":",
             trace_chrome_mark(export, entry->thread), entry->time, prepared);
    trace_chrome_literal(text, "\"signpost\":");
    trace_json_value(text, &header);
    trace_chrome_literal(text, ",\"message\":");
    trace_json_value(text, &message);
    trace_text_char(text, ',');
    put_prepared(text, prepared, prepared->head, prepared->place);
    trace_chrome_literal(text, "},\"name\":");
    trace_json_string(text, name.data ? name.data : "", name.size);
    trace_text_char(text, '}');
    trace_text_free(&name);
    trace_chrome_put(export);
}

/* Adds the message of an event whose name is not its site's. */
static void put_message(struct trace_text *text,
                        const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_text message = {0};
    struct trace_value value;

    if (entry->printf_)
        trace_format(&message, entry->site->name, &values);
    else if (trace_values_next(&values, &value) &&
             value.type == TRACE_TYPE_STRING)
        trace_text_add(&message, value.as.text, value.size);
    trace_chrome_literal(text, "},\"name\":");
    trace_chrome_string(text, message.data ? message.data : "");
    trace_text_free(&message);
}

static void put_event(struct trace_exporter *export,
                      const struct trace_entry *entry)
{
    const struct prepared *prepared = prepared_of(export, entry->site);
    struct trace_text *text = &export->text;
    uint32_t tid;

    if (!prepared)
        return;
    tid = trace_chrome_mark(export, entry->thread);
    put_head(export, ",\n{\"ph\":\"i\",\"pid\":", tid, entry->time, prepared);
    if (entry->printf_ || entry->message) {
        put_prepared(text, prepared, prepared->head, prepared->place);
        put_message(text, entry);
    } else {
        put_fields(export, entry);
        put_prepared(text, prepared, prepared->head, prepared->name);
    }
    trace_chrome_literal(text, ",\"s\":\"t\"}");
    trace_chrome_put(export);
}

static void put_entry(struct trace_exporter *export,
                      const struct trace_entry *entry)
{
    struct trace_entry span;

    switch (entry->kind) {
    case TRACE_ENTRY_SPAN:
        if (entry->entered)
            put_span(export, entry, entry);
        else
            put_new(export, entry);
        break;
    case TRACE_ENTRY_ENTER:
        if (trace_reader_span(export->reader, entry->span, &span))
            put_span(export, entry, &span);
        break;
    case TRACE_ENTRY_EVENT:
        if (entry->site->kind == TRACE_SITE_COUNTER)
            put_counter(export, entry);
        else if (entry->site->kind == TRACE_SITE_SIGNPOST)
            put_signpost(export, entry);
        else
            put_event(export, entry);
        break;
    case TRACE_ENTRY_DEVICE:
        trace_chrome_device(export, entry);
        break;
    case TRACE_ENTRY_COUNTERS:
        trace_chrome_counters(export, entry, trace_chrome_count);
        break;
    default:
        break;
    }
}

static void release(struct trace_exporter *export)
{
    for (size_t i = 0; export->sites && i <= export->reader->site_count; i++) {
        if (export->sites[i])
            trace_text_free(&export->sites[i]->text);
        free(export->sites[i]);
    }
    free(export->sites);
    trace_chrome_tracks_free(export);
    trace_chrome_devices_free(export);
    trace_chrome_arrows_free(export);
    trace_text_free(&export->text);
}

/* ---- Metadata ---- */

static void put_pair(struct trace_text *text, const char *name,
                     const char *value)
{
    if (text->size)
        trace_text_char(text, ',');
    trace_chrome_string(text, name);
    trace_text_char(text, ':');
    trace_chrome_string(text, value);
}

void trace_chrome_added(const struct trace_exporter *export)
{
    const struct trace_reader *reader = export->reader;
    struct trace_chrome *chrome = export->chrome;
    const char *name, *value;
    size_t cursor = 0;

    if (chrome->recordings++)
        return;
    chrome->start = trace_reader_summary(reader).origin.wall;
    /* Keeps the metadata of devices, the last of each name. */
    while (trace_reader_metas(reader, &cursor, &name, &value))
        if (!strncmp(name, "gpu.", 4) && strcmp(name, "gpu.state") != 0 &&
            value == trace_reader_meta(reader, name))
            put_pair(&chrome->devices, name, value);
    value = trace_reader_meta(reader, "gpu.state");
    trace_text_string(&chrome->state, value ? value : "unused");
}

int trace_chrome_add(struct trace_chrome *chrome, struct trace_reader *reader,
                     uint32_t pid, const char *name)
{
    struct trace_exporter export = {.chrome = chrome,
                                    .reader = reader,
                                    .name = name,
                                    .pid = pid,
                                    .end = trace_reader_summary(reader).end,
                                    .named = trace_chrome_named};
    struct trace_entry entry;

    /* One more: call sites that were lost have number 0. */
    export.sites = calloc(reader->site_count + 1, sizeof(*export.sites));
    if (!export.sites || !trace_chrome_devices(&export) ||
        trace_reader_rewind(reader)) {
        release(&export);
        return -1;
    }
    trace_chrome_metadata(&export, "process_name", pid, 0, "name", name);
    trace_chrome_test(&export);
    while (trace_reader_next(reader, &entry))
        put_entry(&export, &entry);
    trace_chrome_counters_end(&export, trace_chrome_count);
    release(&export);
    trace_chrome_added(&export);
    return 0;
}

void trace_chrome_end(struct trace_chrome *chrome, const char *const *pairs)
{
    struct trace_text text = {0}, start = {0};
    bool one = chrome->recordings == 1, stated = false;

    for (; pairs && pairs[0]; pairs += 2) {
        put_pair(&text, pairs[0], pairs[1]);
        stated |= !strcmp(pairs[0], "gpu.state");
    }
    if (chrome->recordings) { /* the moment of time zero */
        trace_text_moment(&start, chrome->start);
        put_pair(&text, "start", start.data ? start.data : "");
    }
    if (one && !stated && chrome->state.data)
        put_pair(&text, "gpu.state", chrome->state.data);
    if (one && chrome->devices.data) {
        trace_text_string(&text, text.size ? "," : "");
        trace_text_string(&text, chrome->devices.data);
    }
    fprintf(chrome->stream, "\n],\"otherData\":{%s}}\n",
            text.data && !text.failed && !chrome->devices.failed ? text.data
                                                                 : "");
    trace_text_free(&start);
    trace_text_free(&text);
    trace_text_free(&chrome->state);
    trace_text_free(&chrome->devices);
}

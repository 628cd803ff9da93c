/* chrome.c: recordings as Chrome's trace events, streamed.
 *
 * "Trace Event Format", N. Duca and D. Sinclair. A span is a complete event
 * ("X"), an event an instant ("i"). Viewers want complete events of one track
 * nested, so a span that outlives its neighbour goes to a track beside.
 */
#include <stdlib.h>
#include <string.h>

#include "internal.h"

enum {
    BESIDE = 1 << 22, /* added to a tid, which Linux keeps below it */
    BESIDE_MOST = 64, /* tracks of one thread */
};

/* The ends of the spans that a track is in. */
struct track {
    uint32_t tid;
    const struct trace_thread *thread;
    uint64_t *ends;
    size_t depth, capacity;
};

/* What is the same in all events of a call site, as JSON: a piece up to `head`,
 * one from there to `name`, and then the fields' keys. */
struct prepared {
    struct trace_text text;
    size_t head;   /* level, location and target */
    size_t name;   /* the end of the fields, and the name */
    size_t keys[]; /* of every field; empty if it is not to be written */
};

struct exporter {
    struct trace_chrome *chrome;
    struct trace_reader *reader;
    uint32_t pid;
    uint64_t end; /* ns: where open spans are cut */
    bool open;    /* the span that is being written is */
    struct track *tracks;
    size_t count;
    struct prepared **sites; /* by id; NULL where not made yet */
    struct trace_text text;
};

void trace_chrome_begin(struct trace_chrome *chrome, FILE *stream)
{
    *chrome = (struct trace_chrome){.stream = stream};
    fputs("{\"displayTimeUnit\":\"ns\",\"traceEvents\":[", stream);
}

/* Writes what `text` holds as the next event; ",\n" stands before it, of which
 * the first one needs no comma. */
static void put(struct exporter *export)
{
    struct trace_chrome *chrome = export->chrome;
    size_t skip = chrome->some ? 0 : 1;

    if (export->text.failed)
        return;
    fwrite(export->text.data + skip, 1, export->text.size - skip,
           chrome->stream);
    chrome->some = true;
}

static inline void put_literal(struct trace_text *text, const char *literal)
{
    trace_text_put(text, literal, strlen(literal));
}

/* Microseconds with three decimals. */
static inline void put_time(struct trace_text *text, const char *key,
                            uint64_t ns)
{
    unsigned rest = (unsigned)(ns % 1000);
    char decimals[4] = {'.', (char)('0' + rest / 100),
                        (char)('0' + rest / 10 % 10), (char)('0' + rest % 10)};

    put_literal(text, key);
    trace_json_number(text, ns / 1000);
    trace_text_put(text, decimals, sizeof(decimals));
}

static void put_string(struct trace_text *text, const char *string)
{
    trace_json_string(text, string, strlen(string));
}

static void metadata(struct exporter *export, const char *kind, uint32_t tid,
                     const char *name)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    trace_text_printf(text,
                      ",\n{\"ph\":\"M\",\"pid\":%u,\"tid\":%u,\"ts\":0,"
                      "\"name\":\"%s\",\"args\":{\"name\":",
                      export->pid, tid, kind);
    put_string(text, name);
    put_literal(text, "}}");
    put(export);
}

/* ---- Tracks ---- */

static void name_track(struct exporter *export, const struct track *track)
{
    const struct trace_thread *thread = track->thread;
    struct trace_text name = {0};

    trace_text_printf(&name, "%s %u%s",
                      thread->name[0] ? thread->name : "thread", thread->tid,
                      track->tid >= BESIDE ? " (overlapping)" : "");
    if (thread->pid != trace_reader_summary(export->reader).pid)
        trace_text_printf(&name, " of child %u", thread->pid);
    if (name.data)
        metadata(export, "thread_name", track->tid, name.data);
    trace_text_free(&name);
}

static struct track *track_of(struct exporter *export,
                              const struct trace_thread *thread, uint32_t tid)
{
    for (size_t i = export->count; i-- > 0;)
        if (export->tracks[i].thread == thread && export->tracks[i].tid == tid)
            return &export->tracks[i];

    size_t size = (export->count + 1) * sizeof(*export->tracks);
    struct track *grown = realloc(export->tracks, size);

    if (!grown)
        return NULL;
    export->tracks = grown;
    grown[export->count] = (struct track){.tid = tid, .thread = thread};
    name_track(export, &grown[export->count]);
    return &export->tracks[export->count++];
}

/* Whether a span from `begin` to `end` nests in what the track is in; then it
 * is in that too. */
static bool nest(struct track *track, uint64_t begin, uint64_t end)
{
    while (track->depth && track->ends[track->depth - 1] <= begin)
        track->depth--;
    if (track->depth && track->ends[track->depth - 1] < end)
        return false;
    if (track->depth == track->capacity) {
        size_t capacity = track->capacity ? track->capacity * 2 : 16;
        uint64_t *grown = realloc(track->ends, capacity * sizeof(*grown));

        if (!grown)
            return false;
        track->ends = grown;
        track->capacity = capacity;
    }
    track->ends[track->depth++] = end;
    return true;
}

/* The tid that a span is drawn at. */
static uint32_t place_span(struct exporter *export,
                           const struct trace_thread *thread, uint64_t begin,
                           uint64_t end)
{
    uint32_t tid = thread->tid & (BESIDE - 1);

    for (int i = 0; i < BESIDE_MOST; i++, tid += BESIDE) {
        struct track *track = track_of(export, thread, tid);

        if (!track || nest(track, begin, end))
            return tid;
    }
    return tid - BESIDE;
}

/* ---- Call sites ---- */

static bool site_has(const struct trace_site *site, size_t from,
                     const char *name)
{
    for (size_t i = from; i < site->field_count; i++)
        if (!strcmp(site->fields[i], name))
            return true;
    return false;
}

/* Whether a key is one that we write ourselves. */
static bool reserved(const char *name)
{
    return !strcmp(name, "testlog.target") || !strcmp(name, "testlog.location");
}

static void prepare_head(struct trace_text *text, const struct trace_site *site)
{
    struct trace_text place = {0};

    trace_text_printf(&place, "%s:%u", site->file, site->line);
    trace_text_printf(
        text, ",\"cat\":\"%s\",\"loc\":", trace_level_word(site->level));
    put_string(text, place.data ? place.data : "");
    put_literal(text, ",\"args\":{\"testlog.target\":");
    put_string(text, site->target);
    put_literal(text, ",\"testlog.location\":");
    put_string(text, place.data ? place.data : "");
    trace_text_free(&place);
}

static struct prepared *prepare(const struct trace_site *site)
{
    struct prepared *prepared = calloc(
        1, sizeof(*prepared) + site->field_count * sizeof(*prepared->keys));

    if (!prepared)
        return NULL;

    struct trace_text *text = &prepared->text;

    prepare_head(text, site);
    prepared->head = text->size;
    put_literal(text, "},\"name\":");
    put_string(text, site->name);
    prepared->name = text->size;
    for (size_t i = 0; i < site->field_count; i++) {
        const char *name = site->fields[i];

        if (!reserved(name) && !site_has(site, i + 1, name)) {
            trace_text_char(text, ',');
            put_string(text, name);
            trace_text_char(text, ':');
        }
        prepared->keys[i] = text->size;
    }
    return prepared;
}

/* NULL without memory. */
static const struct prepared *prepared_of(struct exporter *export,
                                          const struct trace_site *site)
{
    struct prepared **at = &export->sites[site->id];

    if (!*at)
        *at = prepare(site);
    return *at && !(*at)->text.failed ? *at : NULL;
}

/* Adds what is prepared from `from` to `to`. */
static void put_prepared(struct trace_text *text,
                         const struct prepared *prepared, size_t from,
                         size_t to)
{
    trace_text_put(text, prepared->text.data + from, to - from);
}

/* ---- Events ---- */

/* Whether a span's field is recorded again behind `cursor`. */
static bool recorded_again(struct exporter *export, uint32_t span,
                           size_t cursor, const char *name)
{
    struct trace_entry late;

    while (span &&
           trace_reader_late(export->reader, span, UINT64_MAX, &cursor, &late))
        if (site_has(late.site, 0, name))
            return true;
    return false;
}

/* The fields of an entry that no later one of the same name replaces: a key
 * stands once. `span` is 0 for those of an event. */
static void put_fields(struct exporter *export, const struct trace_entry *entry,
                       uint32_t span, size_t cursor)
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
            (export->open && !strcmp(site->fields[i], "unfinished")) ||
            recorded_again(export, span, cursor, site->fields[i]))
            continue;
        put_prepared(&export->text, prepared, key, end);
        trace_json_value(&export->text, &value);
    }
}

static void put_span_fields(struct exporter *export,
                            const struct trace_entry *span)
{
    struct trace_entry late;
    size_t cursor = 0;

    put_fields(export, span, span->id, 0);
    while (
        trace_reader_late(export->reader, span->id, UINT64_MAX, &cursor, &late))
        put_fields(export, &late, span->id, cursor);
}

/* What every event begins with: kind, where, when, and its call site. */
static inline void put_head(struct exporter *export, const char *phase,
                            uint32_t tid, uint64_t time,
                            const struct prepared *prepared)
{
    struct trace_text *text = &export->text;

    trace_text_clear(text);
    put_literal(text, phase);
    trace_json_number(text, export->pid);
    put_literal(text, ",\"tid\":");
    trace_json_number(text, tid);
    put_time(text, ",\"ts\":", time);
    put_prepared(text, prepared, 0, prepared->head);
}

static void put_span(struct exporter *export, const struct trace_entry *entry,
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

    uint32_t tid = place_span(export, entry->thread, entry->time, end);

    put_head(export, ",\n{\"ph\":\"X\",\"pid\":", tid, entry->time, prepared);
    export->open = open;
    put_span_fields(export, span);
    export->open = false;
    if (open)
        put_literal(text, ",\"unfinished\":true");
    put_prepared(text, prepared, prepared->head, prepared->name);
    put_time(text, ",\"dur\":", end - entry->time);
    trace_text_char(text, '}');
    put(export);
}

/* A counter is drawn over time, once for all threads. */
static void put_counter(struct exporter *export,
                        const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_text *text = &export->text;
    const char *name = entry->site->field_count ? entry->site->fields[0] : "?";
    struct trace_value value;

    if (!trace_values_next(&values, &value))
        return;
    trace_text_clear(text);
    trace_text_printf(text, ",\n{\"ph\":\"C\",\"pid\":%u", export->pid);
    put_time(text, ",\"ts\":", entry->time);
    put_literal(text, ",\"name\":");
    put_string(text, name);
    put_literal(text, ",\"args\":{\"value\":");
    trace_json_value(text, &value);
    put_literal(text, "}}");
    put(export);
}

/* A signpost is a mark through all tracks of its process. */
static void put_signpost(struct exporter *export,
                         const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_text *text = &export->text;
    const struct trace_site *site = entry->site;
    struct trace_value header, message;

    if (!trace_values_next(&values, &header) ||
        !trace_values_next(&values, &message) ||
        header.type != TRACE_TYPE_STRING)
        return;
    trace_text_clear(text);
    trace_text_printf(text,
                      ",\n{\"ph\":\"i\",\"s\":\"p\",\"pid\":%u,\"tid\":%u",
                      export->pid, entry->thread->tid & (BESIDE - 1));
    put_time(text, ",\"ts\":", entry->time);
    put_literal(text, ",\"cat\":\"signpost\",\"name\":");
    trace_json_value(text, &header);
    put_literal(text, ",\"args\":{\"message\":");
    trace_json_value(text, &message);
    put_literal(text, ",\"testlog.target\":");
    put_string(text, site->target);
    put_literal(text, "}}");
    put(export);
}

/* The message of an event that is not its call site's. */
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
    put_literal(text, "},\"name\":");
    put_string(text, message.data ? message.data : "");
    trace_text_free(&message);
}

static void put_event(struct exporter *export, const struct trace_entry *entry)
{
    const struct prepared *prepared = prepared_of(export, entry->site);
    struct trace_text *text = &export->text;
    uint32_t tid = entry->thread->tid & (BESIDE - 1);

    if (!prepared)
        return;
    track_of(export, entry->thread, tid);
    put_head(export, ",\n{\"ph\":\"i\",\"pid\":", tid, entry->time, prepared);
    if (entry->printf_ || entry->message) {
        put_message(text, entry);
    } else {
        put_fields(export, entry, 0, 0);
        put_prepared(text, prepared, prepared->head, prepared->name);
    }
    put_literal(text, ",\"s\":\"t\"}");
    put(export);
}

static void put_entry(struct exporter *export, const struct trace_entry *entry)
{
    struct trace_entry span;

    switch (entry->kind) {
    case TRACE_ENTRY_SPAN:
        if (entry->entered)
            put_span(export, entry, entry);
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
        put_event(export, entry);
        break;
    default:
        break;
    }
}

static void release(struct exporter *export)
{
    for (size_t i = 0; i < export->count; i++)
        free(export->tracks[i].ends);
    for (size_t i = 0; i <= export->reader->site_count; i++) {
        if (export->sites[i])
            trace_text_free(&export->sites[i]->text);
        free(export->sites[i]);
    }
    free(export->tracks);
    free(export->sites);
    trace_text_free(&export->text);
}

int trace_chrome_add(struct trace_chrome *chrome, struct trace_reader *reader,
                     uint32_t pid, const char *name)
{
    struct exporter export = {.chrome = chrome,
                              .reader = reader,
                              .pid = pid,
                              .end = trace_reader_summary(reader).end};
    struct trace_entry entry;

    /* One more: calls whose site is lost have number 0. */
    export.sites = calloc(reader->site_count + 1, sizeof(*export.sites));
    if (!export.sites || trace_reader_rewind(reader)) {
        free(export.sites);
        return -1;
    }
    metadata(&export, "process_name", 0, name);
    while (trace_reader_next(reader, &entry))
        put_entry(&export, &entry);
    release(&export);
    return 0;
}

void trace_chrome_end(struct trace_chrome *chrome, const char *const *pairs)
{
    struct trace_text text = {0};

    for (; pairs && pairs[0]; pairs += 2) {
        if (text.size)
            trace_text_char(&text, ',');
        put_string(&text, pairs[0]);
        trace_text_char(&text, ':');
        put_string(&text, pairs[1]);
    }
    fprintf(chrome->stream, "\n],\"otherData\":{%s}}\n",
            text.data ? text.data : "");
    trace_text_free(&text);
}

/* perfetto.c: streams recordings as packets of Perfetto's TrackEvents.
 *
 * Tracks, their slices and arrows are those of Chrome's trace, so that both
 * look alike. Each recording is a packet sequence with interned names of its
 * own. A slice has two packets; Perfetto sorts all packets by time.
 */
#include "perfetto.h"
#include "trace/read/reader_parts.h"

#include <errno.h>
#include <stdlib.h>

#include "perfetto_packet.h"
#include "proto.h"
#include "trace/chrome/chrome_json.h"

/* The fields of the messages, from protos/perfetto/trace/. */
enum {
    DEFAULTS_CLOCK = 58, /* of time stamps */

    CLOCKS_CLOCK = 1,
    CLOCKS_PRIMARY = 2,
    CLOCK_ID = 1,
    CLOCK_TIMESTAMP = 2,

    TRACK_NAME = 2,
    TRACK_PARENT = 5,
    TRACK_COUNTER = 8,

    EVENT_CATEGORY = 3,
    EVENT_ANNOTATION = 4,
    EVENT_TYPE = 9,
    EVENT_NAME_IID = 10,
    EVENT_TRACK = 11,
    EVENT_NAME = 23,
    EVENT_COUNTER = 30,
    EVENT_LOCATION = 34,
    EVENT_COUNTER_DOUBLE = 44,
    EVENT_FLOW = 47,

    ANNOTATION_NAME = 1,
    ANNOTATION_BOOL = 2,
    ANNOTATION_UINT = 3,
    ANNOTATION_INT = 4,
    ANNOTATION_DOUBLE = 5,
    ANNOTATION_STRING = 6,
    ANNOTATION_POINTER = 7,

    /* Kinds of interned data, all of which begin with an id and a text. */
    INTERNED_CATEGORY = 1,
    INTERNED_NAME = 2,
    INTERNED_ANNOTATION = 3,
    INTERNED_LOCATION = 4,
    INTERNED_IID = 1,
    INTERNED_TEXT = 2,
    LOCATION_FUNCTION = 3,
    LOCATION_LINE = 4,
};

enum { REALTIME = 1, MONOTONIC = 3 };
enum { SLICE_BEGIN = 1, SLICE_END, INSTANT, COUNTER };

enum { RUN_TRACK = 1 };

/* The kind of a track or arrow, a part of its id. */
enum kind { TEST, DEVICE, ROW, COUNT, DEVICE_COUNT, ENTER, LAUNCH };

/* The recording that is added. `export` is first: title functions get it. */
struct adding {
    struct trace_exporter export;
    struct trace_chrome chrome; /* its number of recordings */
    struct runners_perfetto *perfetto;
    uint64_t monotonic; /* of time zero */
    struct trace_text packet, interned;
    size_t in_packet, in_event;
    struct trace_table iids;  /* by kind and text */
    struct trace_table known; /* tracks that have been described */
};

/* ---- Ids ---- */

/* Returns the id of a track or arrow in the trace; never 0 or RUN_TRACK. */
static uint64_t id_of(const struct adding *adding, enum kind kind, uint64_t a,
                      uint64_t b)
{
    const uint64_t parts[] = {adding->perfetto->recordings, kind, a, b};

    return trace_hash(TRACE_HASH, parts, sizeof(parts)) | UINT64_C(1) << 63;
}

static uint64_t test_of(const struct adding *adding)
{
    return id_of(adding, TEST, 0, 0);
}

static uint64_t track_of(const struct adding *adding,
                         const struct trace_chrome_row *row, uint32_t tid)
{
    uint64_t thread =
        row->thread ? (uint64_t)(row->thread - adding->export.reader->threads)
                    : row->pid;

    return id_of(adding, ROW, thread, tid);
}

/* Returns the number of a text, which it adds to the packet if it is new; 0
 * without memory. */
static uint64_t intern(struct adding *adding, unsigned kind, const char *string,
                       const struct trace_site *site)
{
    struct trace_text *interned = &adding->interned;
    uint64_t key =
        trace_hash_string(trace_hash(TRACE_HASH, &kind, sizeof(kind)), string);
    uintptr_t iid = adding->iids.count + 1;
    size_t place;

    if (site)
        key = trace_hash(key, &site->line, sizeof(site->line));
    if (trace_table_find(&adding->iids, key, &iid))
        return iid;
    if (!trace_table_set(&adding->iids, key, iid)) {
        adding->packet.failed = true;
        return 0;
    }
    place = runners_proto_begin(interned, kind);
    runners_proto_number(interned, INTERNED_IID, iid);
    runners_proto_string(interned, INTERNED_TEXT, string);
    if (site) {
        runners_proto_string(interned, LOCATION_FUNCTION, site->function);
        runners_proto_number(interned, LOCATION_LINE, site->line);
    }
    runners_proto_end(interned, place);
    return iid;
}

/* ---- Packets ---- */

static void begin_packet(struct adding *adding, unsigned flags)
{
    struct trace_text *packet = &adding->packet;

    trace_text_clear(packet);
    trace_text_clear(&adding->interned);
    adding->in_packet = runners_proto_begin(packet, PACKET);
    runners_proto_number(packet, PACKET_SEQUENCE, adding->perfetto->recordings);
    runners_proto_number(packet, PACKET_FLAGS, flags);
}

static void end_packet(struct adding *adding)
{
    struct trace_text *packet = &adding->packet;

    if (adding->interned.size)
        runners_proto_bytes(packet, PACKET_INTERNED, adding->interned.data,
                            adding->interned.size);
    runners_proto_end(packet, adding->in_packet);
    packet->failed |= adding->interned.failed;
    if (!packet->failed)
        fwrite(packet->data, 1, packet->size, adding->perfetto->stream);
}

static void put_clock(struct trace_text *packet, uint64_t id, uint64_t time)
{
    size_t place = runners_proto_begin(packet, CLOCKS_CLOCK);

    runners_proto_number(packet, CLOCK_ID, id);
    runners_proto_number(packet, CLOCK_TIMESTAMP, time);
    runners_proto_end(packet, place);
}

/* Time zero on two clocks. The time stamps are of the monotonic one. */
static void put_clocks(struct adding *adding, const struct trace_anchor *origin)
{
    struct trace_text *packet = &adding->packet;
    size_t place;

    begin_packet(adding, STATE_CLEARED);
    place = runners_proto_begin(packet, PACKET_DEFAULTS);
    runners_proto_number(packet, DEFAULTS_CLOCK, MONOTONIC);
    runners_proto_end(packet, place);
    place = runners_proto_begin(packet, PACKET_CLOCKS);
    put_clock(packet, MONOTONIC, origin->monotonic);
    put_clock(packet, REALTIME, origin->wall);
    runners_proto_number(packet, CLOCKS_PRIMARY, MONOTONIC);
    runners_proto_end(packet, place);
    end_packet(adding);
}

/* ---- Tracks ---- */

static void put_track(struct adding *adding, uint64_t id, uint64_t parent,
                      const char *name, bool counter)
{
    struct trace_text *packet = &adding->packet;
    size_t place;

    begin_packet(adding, 0);
    place = runners_proto_begin(packet, PACKET_TRACK);
    runners_proto_number(packet, TRACK_UUID, id);
    if (parent)
        runners_proto_number(packet, TRACK_PARENT, parent);
    runners_proto_string(packet, TRACK_NAME, name);
    if (counter)
        runners_proto_bytes(packet, TRACK_COUNTER, "", 0);
    runners_proto_end(packet, place);
    end_packet(adding);
}

/* Returns whether a track must still be described. */
static bool is_new(struct adding *adding, uint64_t id)
{
    uintptr_t unused;

    if (trace_table_find(&adding->known, id, &unused))
        return false;
    return trace_table_set(&adding->known, id, 0);
}

static uint64_t device_of(struct adding *adding, uint32_t device)
{
    uint64_t id = id_of(adding, DEVICE, device, 0);
    struct trace_text name = {0};

    if (!is_new(adding, id))
        return id;
    trace_name_device(&name, adding->export.reader, device);
    put_track(adding, id, test_of(adding), name.data ? name.data : "GPU",
              false);
    trace_text_free(&name);
    return id;
}

static void name_track(struct trace_exporter *export,
                       const struct trace_chrome_row *row, uint32_t tid,
                       const char *title)
{
    struct adding *adding = (struct adding *)export;
    uint64_t parent =
        row->entry ? device_of(adding, row->entry->at.device) : test_of(adding);

    put_track(adding, track_of(adding, row, tid), parent, title, false);
}

/* ---- Events ---- */

static void begin_event(struct adding *adding, unsigned type, uint64_t track,
                        uint64_t time)
{
    struct trace_text *packet = &adding->packet;

    begin_packet(adding, NEEDS_STATE);
    runners_proto_number(packet, PACKET_TIMESTAMP, adding->monotonic + time);
    adding->in_event = runners_proto_begin(packet, PACKET_EVENT);
    runners_proto_number(packet, EVENT_TYPE, type);
    runners_proto_number(packet, EVENT_TRACK, track);
}

static void end_event(struct adding *adding)
{
    runners_proto_end(&adding->packet, adding->in_event);
    end_packet(adding);
}

static void put_category(struct adding *adding, const char *category)
{
    runners_proto_number(&adding->packet, EVENT_CATEGORY,
                         intern(adding, INTERNED_CATEGORY, category, NULL));
}

static void put_name(struct adding *adding, const char *name)
{
    runners_proto_number(&adding->packet, EVENT_NAME_IID,
                         intern(adding, INTERNED_NAME, name, NULL));
}

/* The level and place of a call site. */
static void put_site(struct adding *adding, const struct trace_site *site)
{
    put_category(adding, trace_level_word(site->level));
    runners_proto_number(&adding->packet, EVENT_LOCATION,
                         intern(adding, INTERNED_LOCATION, site->file, site));
}

static void put_flow(struct adding *adding, enum kind kind, uint64_t a,
                     uint64_t b)
{
    runners_proto_fixed64(&adding->packet, EVENT_FLOW,
                          id_of(adding, kind, a, b));
}

/* ---- Annotations ---- */

/* A value that has no type of its own in Perfetto, as in JSON. */
static void put_other(struct trace_text *packet,
                      const struct trace_value *value)
{
    struct trace_text text = {0};

    trace_json_value(&text, value);
    packet->failed |= text.failed;
    if (text.size > 1 && text.data[0] == '"')
        runners_proto_bytes(packet, ANNOTATION_STRING, text.data + 1,
                            text.size - 2);
    else
        runners_proto_string(packet, ANNOTATION_STRING,
                             text.data ? text.data : "");
    trace_text_free(&text);
}

static void put_value(struct trace_text *packet,
                      const struct trace_value *value)
{
    switch (value->type) {
    case TRACE_TYPE_BOOL:
        runners_proto_number(packet, ANNOTATION_BOOL, value->as.u != 0);
        break;
    case TRACE_TYPE_U64:
        runners_proto_number(packet, ANNOTATION_UINT, value->as.u);
        break;
    case TRACE_TYPE_I64:
        runners_proto_number(packet, ANNOTATION_INT, value->as.u);
        break;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        runners_proto_double(packet, ANNOTATION_DOUBLE, value->as.f);
        break;
    case TRACE_TYPE_STRING:
    case TRACE_TYPE_DISPLAY:
        runners_proto_bytes(packet, ANNOTATION_STRING, value->as.text,
                            value->size);
        break;
    case TRACE_TYPE_POINTER:
        runners_proto_number(packet, ANNOTATION_POINTER, value->as.u);
        break;
    default:
        put_other(packet, value);
    }
}

static void annotate(struct adding *adding, const char *name,
                     const struct trace_value *value)
{
    struct trace_text *packet = &adding->packet;
    size_t place;

    if (value->type == TRACE_TYPE_EMPTY)
        return;
    place = runners_proto_begin(packet, EVENT_ANNOTATION);
    runners_proto_number(packet, ANNOTATION_NAME,
                         intern(adding, INTERNED_ANNOTATION, name, NULL));
    put_value(packet, value);
    runners_proto_end(packet, place);
}

static void annotate_text(struct adding *adding, const char *name,
                          const char *text)
{
    struct trace_value value = trace_text_(text);

    if (text)
        annotate(adding, name, &value);
}

static void annotate_fields(struct adding *adding,
                            const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_value value;

    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++)
        annotate(adding, site->fields[i], &value);
}

/* Annotates with the last value of each field. */
static void annotate_span(struct adding *adding, const struct trace_entry *span,
                          bool open)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    size_t count =
        trace_reader_fields(adding->export.reader, span, UINT64_MAX, fields);
    struct trace_value unfinished = trace_bool(true);

    for (size_t i = 0; i < count; i++)
        annotate(adding, fields[i].name, &fields[i].value);
    if (open)
        annotate(adding, "unfinished", &unfinished);
    annotate_text(adding, "testlog.target", span->site->target);
}

/* ---- Spans ---- */

static void put_end(struct adding *adding, uint64_t track, uint64_t time)
{
    begin_event(adding, SLICE_END, track, time);
    end_event(adding);
}

/* A span can be entered by as many other threads as there are; each gets an
 * arrow. One that nobody enters is not drawn. */
static void put_departures(struct adding *adding,
                           const struct trace_entry *span, uint32_t tid)
{
    struct trace_reader *reader = adding->export.reader;
    size_t arrows = trace_reader_later(reader, span->id);

    trace_chrome_created(&adding->export, span, tid);
    if (arrows > reader->thread_count)
        arrows = reader->thread_count;
    for (size_t i = 1; i <= arrows; i++)
        put_flow(adding, ENTER, span->id, i);
}

static void put_arrival(struct adding *adding, const struct trace_entry *entry)
{
    uint32_t arrow = trace_chrome_arrival(&adding->export, entry);

    if (arrow)
        put_flow(adding, ENTER, entry->span, arrow);
}

static void put_span(struct adding *adding, const struct trace_entry *entry,
                     const struct trace_entry *span)
{
    struct trace_exporter *export = &adding->export;
    bool open = entry->end == UINT64_MAX;
    uint64_t end = open ? export->end : entry->end, track;
    struct trace_chrome_row row = trace_chrome_span_row(export, entry);
    struct trace_chrome_extent extent = {entry->time, end, 0, 0};

    if (extent.end < extent.begin)
        extent.end = extent.begin;
    row.tid = trace_chrome_place(export, &row, &extent);
    track = track_of(adding, &row, row.tid);
    begin_event(adding, SLICE_BEGIN, track, extent.begin);
    put_name(adding, span->site->name);
    put_site(adding, span->site);
    annotate_span(adding, span, open);
    if (entry->kind == TRACE_ENTRY_SPAN)
        put_departures(adding, span, row.tid);
    else
        put_arrival(adding, entry);
    end_event(adding);
    put_end(adding, track, extent.end);
}

static uint64_t mark(struct adding *adding, const struct trace_thread *thread)
{
    struct trace_exporter *export = &adding->export;
    struct trace_chrome_row row = trace_chrome_thread(export, thread);

    return track_of(adding, &row, trace_chrome_mark(export, thread));
}

/* The creation of a span that is not entered at once. */
static void put_new(struct adding *adding, const struct trace_entry *span)
{
    struct trace_chrome_row row =
        trace_chrome_thread(&adding->export, span->thread);
    struct trace_text name = {0};

    begin_event(adding, INSTANT, mark(adding, span->thread), span->time);
    trace_text_printf(&name, "new %s", span->site->name);
    put_name(adding, name.data ? name.data : "new");
    put_site(adding, span->site);
    annotate_span(adding, span, false);
    put_departures(adding, span, row.tid);
    end_event(adding);
    trace_text_free(&name);
}

/* ---- Events of call sites ---- */

static bool put_number(struct trace_text *packet,
                       const struct trace_value *value)
{
    switch (value->type) {
    case TRACE_TYPE_BOOL:
    case TRACE_TYPE_I64:
    case TRACE_TYPE_U64:
        runners_proto_number(packet, EVENT_COUNTER, value->as.u);
        return true;
    case TRACE_TYPE_F32:
    case TRACE_TYPE_F64:
        runners_proto_double(packet, EVENT_COUNTER_DOUBLE, value->as.f);
        return true;
    default:
        return false;
    }
}

static void put_count(struct adding *adding, uint64_t track, uint64_t time,
                      const struct trace_value *value)
{
    begin_event(adding, COUNTER, track, time);
    if (put_number(&adding->packet, value))
        end_event(adding);
}

static void put_counter(struct adding *adding, const struct trace_entry *entry)
{
    const char *name = entry->site->field_count ? entry->site->fields[0] : "?";
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;
    uint64_t track =
        id_of(adding, COUNT, trace_hash_string(TRACE_HASH, name), 0);

    if (!trace_values_next(&values, &value))
        return;
    if (is_new(adding, track))
        put_track(adding, track, test_of(adding), name, true);
    put_count(adding, track, entry->time, &value);
}

/* Adds the text of an event whose name is not its site's. */
static void add_message(struct trace_text *text,
                        const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    if (entry->printf_) {
        trace_format(text, entry->site->name, &values);
        return;
    }
    while (trace_values_next(&values, &value))
        if (value.type == TRACE_TYPE_STRING) {
            trace_text_string(text, text->size ? ": " : "");
            trace_text_add(text, value.as.text, value.size);
        }
}

/* Messages are not interned: there may be as many as events. */
static void put_event(struct adding *adding, const struct trace_entry *entry)
{
    bool signpost = entry->site->kind == TRACE_SITE_SIGNPOST;
    struct trace_text message = {0};

    begin_event(adding, INSTANT, mark(adding, entry->thread), entry->time);
    if (signpost || entry->printf_ || entry->message) {
        add_message(&message, entry);
        runners_proto_bytes(&adding->packet, EVENT_NAME,
                            message.data ? message.data : "", message.size);
    } else {
        put_name(adding, entry->site->name);
        annotate_fields(adding, entry);
    }
    put_site(adding, entry->site);
    annotate_text(adding, "testlog.target", entry->site->target);
    end_event(adding);
    trace_text_free(&message);
}

/* ---- Devices ---- */

/* Puts a value of a device, such as "memory", from a time on. */
static void put_device_count(struct trace_exporter *export,
                             const struct trace_entry *entry, uint64_t time,
                             const char *name, const struct trace_value *value)
{
    struct adding *adding = (struct adding *)export;
    uint32_t device = entry->at.device;
    uint64_t track = id_of(adding, DEVICE_COUNT, device,
                           trace_hash_string(TRACE_HASH, name));
    struct trace_text whole = {0};

    if (is_new(adding, track)) {
        trace_name_ordinal(&whole, device);
        trace_text_printf(&whole, " %s", name);
        put_track(adding, track, device_of(adding, device),
                  whole.data ? whole.data : name, true);
        trace_text_free(&whole);
    }
    put_count(adding, track, time, value);
}

static void annotate_launch(struct adding *adding,
                            const struct trace_entry *entry)
{
    struct trace_values values = trace_values_of(entry);
    struct trace_value value;

    values.next = entry->launch;
    for (size_t i = 0; entry->launch && i < TRACE_LAUNCH_FIELDS &&
                       trace_values_next(&values, &value);
         i++)
        annotate(adding, trace_launch_fields[i], &value);
}

static void put_device(struct adding *adding, const struct trace_entry *entry)
{
    struct trace_exporter *export = &adding->export;
    struct trace_chrome_extent extent;
    struct trace_chrome_row row =
        trace_chrome_device_place(export, entry, &extent);
    uint64_t track = track_of(adding, &row, row.tid), arrow;
    struct trace_value memory;
    size_t cursor = 0;

    begin_event(adding, SLICE_BEGIN, track, extent.begin);
    put_name(adding, entry->site->name);
    put_category(adding, trace_chrome_category(entry));
    annotate_launch(adding, entry);
    annotate_fields(adding, entry);
    annotate_text(adding, "testlog.target", entry->site->target);
    while (trace_chrome_flows(export, entry, &cursor, &arrow))
        put_flow(adding, LAUNCH, arrow, 0);
    end_event(adding);
    put_end(adding, track, extent.end);
    if (trace_chrome_memory(entry, &memory))
        put_device_count(export, entry, entry->time, "memory", &memory);
}

/* ---- Recordings ---- */

static void put_entry(struct adding *adding, const struct trace_entry *entry)
{
    struct trace_entry span;

    switch (entry->kind) {
    case TRACE_ENTRY_SPAN:
        if (entry->entered)
            put_span(adding, entry, entry);
        else
            put_new(adding, entry);
        break;
    case TRACE_ENTRY_ENTER:
        if (trace_reader_span(adding->export.reader, entry->span, &span))
            put_span(adding, entry, &span);
        break;
    case TRACE_ENTRY_EVENT:
        if (entry->site->kind == TRACE_SITE_COUNTER)
            put_counter(adding, entry);
        else
            put_event(adding, entry);
        break;
    case TRACE_ENTRY_DEVICE:
        put_device(adding, entry);
        break;
    case TRACE_ENTRY_COUNTERS:
        trace_chrome_counters(&adding->export, entry, put_device_count);
        break;
    default:
        break;
    }
}

/* The test has a slice on its own track, above its threads. */
static void put_test(struct adding *adding, const char *name)
{
    const struct trace_chrome_test *test = adding->perfetto->test;
    uint64_t begin = trace_reader_summary(adding->export.reader).begin;
    uint64_t end = adding->export.end, track = test_of(adding);

    put_track(adding, track, RUN_TRACK, name, false);
    if (!test)
        return;
    begin_event(adding, SLICE_BEGIN, track, begin);
    put_name(adding, test->name);
    put_category(adding, "test");
    annotate_text(adding, "outcome", test->outcome ? test->outcome : "unknown");
    annotate_text(adding, "reason", test->reason);
    end_event(adding);
    put_end(adding, track, end > begin ? end : begin);
}

void runners_perfetto_begin(struct runners_perfetto *perfetto, FILE *stream,
                            const char *run)
{
    struct adding adding = {.perfetto = perfetto};

    *perfetto = (struct runners_perfetto){.stream = stream, .recordings = 1};
    put_track(&adding, RUN_TRACK, 0, run, false);
    trace_text_free(&adding.packet);
}

static void release(struct adding *adding)
{
    trace_chrome_tracks_free(&adding->export);
    trace_chrome_devices_free(&adding->export);
    trace_chrome_arrows_free(&adding->export);
    trace_text_free(&adding->packet);
    trace_text_free(&adding->interned);
    trace_table_free(&adding->iids);
    trace_table_free(&adding->known);
}

int runners_perfetto_add(struct runners_perfetto *perfetto,
                         struct trace_reader *reader, const char *name)
{
    struct trace_summary summary = trace_reader_summary(reader);
    struct adding adding = {.export = {.reader = reader,
                                       .pid = ++perfetto->recordings,
                                       .end = summary.end,
                                       .named = name_track},
                            .perfetto = perfetto,
                            .monotonic = summary.origin.monotonic};
    struct trace_entry entry;
    bool ok;

    adding.chrome.recordings = perfetto->recordings;
    adding.export.chrome = &adding.chrome;
    ok = trace_chrome_devices(&adding.export);
    if (ok && trace_reader_rewind(reader)) {
        release(&adding);
        return -1;
    }
    put_clocks(&adding, &summary.origin);
    put_test(&adding, name);
    while (ok && !adding.packet.failed && trace_reader_next(reader, &entry))
        put_entry(&adding, &entry);
    trace_chrome_counters_end(&adding.export, put_device_count);
    ok = ok && !adding.packet.failed &&
         runners_perfetto_put_samples(perfetto, reader);
    release(&adding);
    if (!ok)
        errno = ENOMEM;
    return ok ? 0 : -1;
}

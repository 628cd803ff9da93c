/* derive.c: derives records from those that a driver's library wrote into the
 * recording. They are in memory, behind the file's, as if a thread had recorded
 * them there.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cupti/notes.h"
#include "reader_parts.h"
#include "trace/base/values.h"
#include "trace/format.h"

/* A buffer, and how many bytes of it were decoded. */
struct buffer {
    uint32_t place;
    bool decoded; /* all of it */
    /* When it was last looked at: */
    uint64_t completed; /* ticks; 0: not yet */
    uint64_t noted;     /* bytes */
    uint64_t done;
};

/* The point up to which buffers are decoded: how far the process had read them
 * at that time. */
struct cut {
    const struct cupti_noted_cut *buffers;
    size_t count;
    uint64_t time; /* 0: all there is */
};

enum {
    RANGES = 64,
    ROUND = 8 << 20,       /* bytes: only a limited number of calls is kept */
    SITES_APART = 1 << 15, /* ids that the process has not reached yet */
    GROWTH = 1 << 20,      /* bytes */
};

struct trace_derived {
    struct cupti_noted noted; /* the context of its source begins here */
    struct cupti_decoder decoder;
    struct trace_reader *reader;
    struct buffer *buffers;
    size_t buffer_count, buffer_capacity;
    uint32_t *notes; /* places */
    size_t note_count, note_capacity;
    uint32_t thread; /* its index; the records are as if of that one */
    bool has_layout, last;
    uint32_t version; /* of the library */
    uint64_t over;    /* ticks when the process had noted its end; 0: not yet */

    struct cupti_range ranges[RANGES];
    size_t range_count, range_bytes;

    unsigned char *begin, *next; /* what is derived */
    unsigned char *end, *most;   /* its memory, its addresses */
    uint64_t time;               /* of the last record */
    struct trace_table sites;    /* ids, by trace_activity_key */
    struct trace_table given;    /* how many activities, by given_key */
    uint32_t site_count;         /* the last id */
    uint64_t lost;
    bool failed; /* no memory */
};

/* ---- Records ---- */

/* Turns more of the reserved addresses into memory. */
static bool grow(struct trace_derived *derived, size_t size)
{
    size_t left = (size_t)(derived->most - derived->end);
    size_t more = size > GROWTH ? size + GROWTH : GROWTH;

    more = more / GROWTH * GROWTH;
    more = more < left ? more : left;
    if (!more || mprotect(derived->end, more, PROT_READ | PROT_WRITE))
        return false;
    derived->end += more;
    return (size_t)(derived->end - derived->next) >= size;
}

static struct trace_record *put(struct trace_derived *derived,
                                enum trace_kind kind, size_t count,
                                const struct trace_value *values)
{
    size_t size = sizeof(struct trace_record) +
                  (trace_values_size(count, values) + TRACE_SLOT_SIZE - 1) /
                      TRACE_SLOT_SIZE * TRACE_SLOT_SIZE;
    struct trace_record *record = (struct trace_record *)(void *)derived->next;

    if ((size_t)(derived->end - derived->next) < size && !grow(derived, size)) {
        derived->lost += kind == TRACE_KIND_DEVICE;
        return NULL;
    }
    derived->next += size;
    record->kind = (uint8_t)kind;
    record->count = (uint16_t)count;
    record->slots = (uint32_t)(size / TRACE_SLOT_SIZE);
    record->time = ++derived->time;
    trace_values_store(record + 1, count, values);
    return record;
}

/* Begins a range, of the thread that took the first buffer or made the first
 * note. */
static void put_thread(struct trace_derived *derived)
{
    const struct trace_thread *owner =
        &derived->reader->threads[derived->thread];
    struct trace_value name = trace_text_(owner->name);
    struct trace_record *record = put(derived, TRACE_KIND_THREAD, 1, &name);

    if (!record)
        return;
    record->end = (uint64_t)owner->pid << 32 | owner->tid;
    record->site = owner->start;
}

/* Returns the id of a new call site. */
static uint32_t put_site(struct trace_derived *derived,
                         const struct trace_site *site)
{
    struct trace_value values[4 + TRACE_ACTIVITY_FIELDS];
    size_t count = trace_site_values(site, values);
    struct trace_record *record = put(derived, TRACE_KIND_SITE, count, values);

    if (!record)
        return 0;
    record->site = ++derived->site_count;
    record->end = trace_site_facts(site);
    return derived->site_count;
}

static uint32_t site_of(struct trace_derived *derived,
                        const struct trace_activity *activity)
{
    uint64_t key = trace_activity_key(activity);
    struct trace_site site;
    uintptr_t id;

    if (trace_table_find(&derived->sites, key, &id))
        return (uint32_t)id;
    site = trace_activity_site(activity);
    id = put_site(derived, &site);
    derived->failed |= !trace_table_set(&derived->sites, key, id);
    return (uint32_t)id;
}

/* ---- A recording that is followed, and settled meanwhile ---- */

static uint64_t given_key(const struct trace_activity_place *at)
{
    return (uint64_t)at->kind << 32 | at->correlation;
}

static void count_given(struct trace_derived *derived,
                        const struct trace_activity_place *at)
{
    uintptr_t count = 0;

    trace_table_find(&derived->given, given_key(at), &count);
    derived->failed |=
        !trace_table_set(&derived->given, given_key(at), count + 1);
}

bool trace_derived_was_given(struct trace_reader *reader,
                             const struct trace_record *record, uint64_t place)
{
    struct trace_derived *derived = reader->derived;
    uint64_t settled = reader->header.settled;
    struct trace_activity_place at;
    struct trace_values unused;
    uintptr_t count = 0;

    if (!derived || !settled ||
        place < TRACE_FIRST_PLACE + settled * TRACE_CHUNK_SLOTS)
        return false;
    if (record->kind != TRACE_KIND_DEVICE)
        return derived->last;
    if (!trace_reader_activity(record, &unused, &at) ||
        !trace_table_find(&derived->given, given_key(&at), &count) || !count)
        return false;
    trace_table_set(&derived->given, given_key(&at), count - 1);
    return true;
}

/* ---- What the decoder gives ---- */

/* A kernel that was launched after the recording had ended is no part of it. */
static void put_activity(void *context, const struct trace_activity *activity)
{
    struct trace_derived *derived = context;
    const struct trace_header *header = &derived->reader->header;
    struct trace_value values[1 + TRACE_LAUNCH_FIELDS + TRACE_ACTIVITY_FIELDS];
    size_t count = activity->field_count +
                   (activity->at.launched ? TRACE_LAUNCH_FIELDS : 0);
    struct trace_record *record;
    uint32_t site;

    if (header->ended && activity->at.begin > header->end.ticks)
        return;
    values[0] = trace_bytes(&activity->at, sizeof(activity->at));
    if (count)
        memcpy(values + 1, activity->values, count * sizeof(*values));
    site = site_of(derived, activity);
    record = put(derived, TRACE_KIND_DEVICE, count + 1, values);
    if (!record)
        return;
    record->site = site;
    record->span = activity->span;
    record->end = activity->end;
    if (derived->reader->follow)
        count_given(derived, &activity->at);
}

static void note(void *context, const char *name, const char *value)
{
    const struct trace_value pair[] = {trace_text_(name), trace_text_(value)};

    put(context, TRACE_KIND_META, 2, pair);
}

/* A line has the time at which the process noted its end. */
static void say(void *context, unsigned level, const char *message)
{
    struct trace_derived *derived = context;
    struct trace_value value = trace_text_(message);
    struct trace_record *record;
    uint32_t site;

    if (derived->time < derived->over)
        derived->time = derived->over;
    put_thread(derived);
    site = put_site(derived, &(struct trace_site){.name = "",
                                                  .target = "gpu",
                                                  .file = "",
                                                  .level = (uint8_t)level});
    record = put(derived, TRACE_KIND_EVENT, 1, &value);
    if (!record)
        return;
    record->site = site;
    record->flags = TRACE_FLAG_MESSAGE;
}

static void note_strange(void *context)
{
    struct trace_derived *derived = context;
    char why[CUPTI_STRANGE_ROOM];

    cupti_say_strange(why, derived->version);
    note(context, "gpu.state", "too-old");
    note(context, "gpu.notice", why);
}

/* ---- Rounds ---- */

static void decode_round(struct trace_derived *derived, bool last)
{
    size_t count = derived->range_count;

    for (size_t i = 0; i + 1 < count; i++)
        derived->ranges[i].next = &derived->ranges[i + 1];
    if (count || last)
        cupti_decode(&derived->decoder, count ? derived->ranges : NULL, last);
    derived->range_count = derived->range_bytes = 0;
}

static void add_range(struct trace_derived *derived, const uint8_t *bytes,
                      size_t size)
{
    if (!size)
        return;
    derived->ranges[derived->range_count++] =
        (struct cupti_range){NULL, bytes, size};
    derived->range_bytes += size;
    if (derived->range_count == RANGES || derived->range_bytes >= ROUND)
        decode_round(derived, false);
}

/* Adds all that has been written of an incomplete buffer, but no records that
 * are not finished, which may be between others. */
static void add_written(struct trace_derived *derived, const uint8_t *bytes,
                        size_t size)
{
    const uint16_t *strides = derived->decoder.library.strides;
    struct cupti_record record = {0};
    const uint8_t *from = bytes, *end = bytes;

    while (cupti_next(strides, bytes, size, &record) && record.at &&
           record.kind) {
        if (!cupti_is_finished(&record)) {
            add_range(derived, from, (size_t)(record.at - from));
            from = record.at + record.stride;
        }
        end = record.at + record.stride;
    }
    add_range(derived, from, (size_t)(end - from));
}

/* ---- Buffers ---- */

/* The contents of a buffer. */
struct contents {
    struct trace_raw raw;
    const uint8_t *bytes; /* NULL: it is damaged */
    size_t size;
};

static struct contents contents_of(const struct trace_derived *derived,
                                   const struct buffer *buffer)
{
    const struct trace_record *record =
        trace_slot_at(derived->reader, buffer->place);
    struct trace_values all = trace_values_in(record);
    size_t size = (size_t)(all.end - all.next);
    struct contents contents = {.bytes = NULL};

    if (size < TRACE_RAW_HEAD)
        return contents;
    memcpy(&contents.raw, all.next, sizeof(contents.raw));
    contents.bytes = all.next + TRACE_RAW_HEAD;
    contents.size = size - TRACE_RAW_HEAD;
    if (buffer->completed && contents.raw.valid < contents.size)
        contents.size = contents.raw.valid;
    return contents;
}

/* Returns how much of a buffer comes before a cut, or, without one, how much
 * can be decoded so far. */
static uint64_t before_cut(const struct buffer *buffer,
                           const struct contents *contents, struct cut cut)
{
    if (!cut.time)
        return buffer->completed || buffer->noted > contents->size
                   ? contents->size
                   : buffer->noted;
    for (size_t i = 0; i < cut.count; i++)
        if (cut.buffers[i].number == contents->raw.number)
            return cut.buffers[i].size < contents->size ? cut.buffers[i].size
                                                        : contents->size;
    return buffer->completed && buffer->completed <= cut.time ? contents->size
                                                              : 0;
}

static void decode_buffer(struct trace_derived *derived, struct buffer *buffer,
                          struct cut cut)
{
    struct contents contents = contents_of(derived, buffer);
    uint64_t end = before_cut(buffer, &contents, cut);

    buffer->decoded = !contents.bytes || (buffer->completed && !cut.time);
    if (!contents.bytes)
        return;
    if (buffer->done < end) {
        add_range(derived, contents.bytes + buffer->done,
                  (size_t)(end - buffer->done));
        buffer->done = end;
    }
    if (derived->last && !buffer->completed && !cut.time)
        add_written(derived, contents.bytes + buffer->done,
                    contents.size - buffer->done);
}

static void decode_to(struct trace_derived *derived, struct cut cut)
{
    for (size_t i = 0; i < derived->buffer_count; i++)
        if (!derived->buffers[i].decoded)
            decode_buffer(derived, &derived->buffers[i], cut);
    decode_round(derived, false);
}

/* Those that are not complete are the last. */
static int by_completion(const void *a, const void *b)
{
    const struct buffer *x = a, *y = b;

    if (x->completed != y->completed)
        return x->completed - 1 < y->completed - 1 ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

void trace_derive_look(struct trace_reader *reader)
{
    struct trace_derived *derived = reader->derived;

    for (size_t i = 0; derived && i < derived->buffer_count; i++) {
        struct buffer *buffer = &derived->buffers[i];
        const struct trace_record *record =
            trace_slot_at(reader, buffer->place);
        const struct trace_raw *raw = (const struct trace_raw *)(record + 1);

        buffer->completed = __atomic_load_n(&record->end, __ATOMIC_ACQUIRE);
        if (record->slots > 1)
            buffer->noted = __atomic_load_n(&raw->noted, __ATOMIC_ACQUIRE);
    }
}

static void sort_buffers(struct trace_derived *derived)
{
    if (derived->buffer_count)
        qsort(derived->buffers, derived->buffer_count,
              sizeof(*derived->buffers), by_completion);
}

/* ---- Notes ---- */

static int by_time(const void *a, const void *b, void *reader)
{
    const uint32_t *x = a, *y = b;
    uint64_t s = trace_slot_at(reader, *x)->time;
    uint64_t t = trace_slot_at(reader, *y)->time;

    if (s != t)
        return s < t ? -1 : 1;
    return *x < *y ? -1 : *x > *y;
}

struct told {
    enum cupti_note what;
    uint64_t key, time;
    const void *bytes;
    size_t size;
};

static bool read_note(const struct trace_derived *derived, uint32_t place,
                      struct told *told)
{
    const struct trace_record *record = trace_slot_at(derived->reader, place);
    struct trace_values values = trace_values_in(record);
    struct trace_value key, bytes;

    if (!trace_values_next(&values, &key) || key.type != TRACE_TYPE_U64 ||
        !trace_values_next(&values, &bytes) || bytes.type != TRACE_TYPE_BYTES)
        return false;
    *told = (struct told){record->span, key.as.u, record->time, bytes.as.bytes,
                          bytes.size};
    return true;
}

static void take_layout(struct trace_derived *derived, const struct told *told)
{
    static const struct cupti_sink sink = {put_activity, note, say,
                                           note_strange};
    struct cupti_noted_layout layout;
    struct cupti_decoder *decoder = &derived->decoder;

    if (derived->has_layout || told->size != sizeof(layout))
        return;
    memcpy(&layout, told->bytes, sizeof(layout));
    derived->has_layout = true;
    derived->version = layout.version;
    decoder->source = &cupti_noted_source;
    decoder->sink = &sink;
    decoder->context = derived;
    decoder->library.system_threads = layout.system_threads != 0;
    memcpy(decoder->library.strides, layout.strides, sizeof(layout.strides));
    decoder->limits = layout.limits;
    cupti_clock_compare(&decoder->clock, layout.first);
    derived->time = told->time;
    put_thread(derived);
}

/* Buffers need these from their beginning, whenever they came. */
static void take_early(struct trace_derived *derived, const struct told *told)
{
    if (told->what == CUPTI_NOTE_LAYOUT)
        take_layout(derived, told);
    else if (told->what == CUPTI_NOTE_OWN &&
             told->size == sizeof(derived->decoder.own))
        memcpy(&derived->decoder.own, told->bytes, told->size);
}

static void take_note(struct trace_derived *derived, const struct told *told)
{
    switch (told->what) {
    case CUPTI_NOTE_RECORDS:
        add_range(derived, told->bytes, told->size);
        break;
    case CUPTI_NOTE_CUT:
        decode_to(derived,
                  (struct cut){told->bytes,
                               told->size / sizeof(struct cupti_noted_cut),
                               told->time});
        break;
    case CUPTI_NOTE_END:
        derived->over = told->time;
        derived->decoder.counts.dropped = told->key;
        break;
    default:
        derived->failed |= !cupti_noted_take(
            &derived->noted, told->what, told->key, told->bytes, told->size);
    }
}

static struct trace_anchor now(const struct trace_reader *reader)
{
    return reader->header.end.ticks ? reader->header.end : trace_anchor_now();
}

static void take_notes(struct trace_derived *derived)
{
    struct told told;

    if (derived->note_count)
        qsort_r(derived->notes, derived->note_count, sizeof(*derived->notes),
                by_time, derived->reader);
    for (size_t i = 0; i < derived->note_count; i++)
        if (read_note(derived, derived->notes[i], &told))
            take_early(derived, &told);
    if (!derived->has_layout)
        return;
    cupti_clock_compare(&derived->decoder.clock, now(derived->reader));
    for (size_t i = 0; i < derived->note_count; i++)
        if (read_note(derived, derived->notes[i], &told))
            take_note(derived, &told);
    derived->note_count = 0;
}

/* ---- The recording ---- */

static struct trace_derived *derived_of(struct trace_reader *reader,
                                        uint32_t thread)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    struct trace_derived *derived = reader->derived;

    if (derived || !(derived = calloc(1, sizeof(*derived))))
        return derived;
    derived->reader = reader;
    derived->thread = thread;
    derived->begin = (unsigned char *)reader->base +
                     (reader->mapped + page - 1) / page * page;
    derived->next = derived->end = derived->begin;
    derived->most = derived->begin + reader->extra;
    derived->site_count = reader->follow ? SITES_APART : reader->header.sites;
    return reader->derived = derived;
}

bool trace_derive_add(struct trace_reader *reader,
                      const struct trace_record *record, uint64_t place,
                      uint32_t thread)
{
    struct trace_derived *derived;

    if (reader->header.version < TRACE_FORMAT_RAW)
        return true;
    if (!(derived = derived_of(reader, thread)))
        return false;
    if (record->kind == TRACE_KIND_RAW) {
        if (!TRACE_ARRAY_RESERVE(derived->buffers, derived->buffer_capacity,
                                 derived->buffer_count + 1))
            return false;
        derived->buffers[derived->buffer_count++] =
            (struct buffer){.place = (uint32_t)place};
        return true;
    }
    if (!TRACE_ARRAY_RESERVE(derived->notes, derived->note_capacity,
                             derived->note_count + 1))
        return false;
    derived->notes[derived->note_count++] = (uint32_t)place;
    return true;
}

static void finish(struct trace_derived *derived)
{
    derived->last = true;
    decode_to(derived, (struct cut){.time = 0});
    decode_round(derived, true);
    if (!derived->over)
        return;
    cupti_note_losses(&derived->decoder);
    cupti_say_losses(&derived->decoder);
    cupti_note_limits(&derived->decoder);
}

bool trace_derive(struct trace_reader *reader, bool last)
{
    struct trace_derived *derived = reader->derived;

    if (!derived || derived->last || reader->header.settled)
        return true;
    if (!reader->follow && derived->site_count < reader->site_count)
        derived->site_count = (uint32_t)reader->site_count; /* it still runs */
    if (!reader->follow)
        trace_derive_look(reader);
    sort_buffers(derived);
    take_notes(derived);
    if (!derived->has_layout)
        return true;
    if (last || derived->over)
        finish(derived);
    else
        decode_to(derived, (struct cut){.time = 0});
    return !derived->failed;
}

static uint64_t place_of(const struct trace_derived *derived,
                         const unsigned char *at)
{
    return (uint64_t)(at - derived->reader->base) / TRACE_SLOT_SIZE;
}

struct trace_derived_records trace_derived_records(
    const struct trace_reader *reader)
{
    const struct trace_derived *derived = reader->derived;

    if (!derived)
        return (struct trace_derived_records){.begin = 0};
    return (struct trace_derived_records){
        .begin = place_of(derived, derived->begin),
        .end = place_of(derived, derived->next),
        .lost = derived->lost,
        .sites = derived->site_count,
        .complete =
            derived->has_layout && !derived->lost && !derived->decoder.off,
    };
}

bool trace_derived_buffer(const struct trace_reader *reader, size_t number,
                          uint64_t *from, uint64_t *to)
{
    const struct trace_derived *derived = reader->derived;
    const struct trace_record *record;

    if (number >= derived->buffer_count)
        return false;
    *from = derived->buffers[number].place;
    record = trace_slot_at(reader, *from);
    *to = (*from + record->slots) * TRACE_SLOT_SIZE;
    *from = (*from + 1) * TRACE_SLOT_SIZE;
    return true;
}

void trace_derive_free(struct trace_reader *reader)
{
    struct trace_derived *derived = reader->derived;

    if (!derived)
        return;
    cupti_decoder_free(&derived->decoder);
    cupti_noted_free(&derived->noted);
    trace_table_free(&derived->sites);
    trace_table_free(&derived->given);
    free(derived->buffers);
    free(derived->notes);
    free(derived);
    reader->derived = NULL;
}

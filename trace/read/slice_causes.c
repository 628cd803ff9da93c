/* slice_causes.c: reads the slices of a recording by thread and stream, with
 * the causes and possible waits of each.
 */
#include <stdlib.h>
#include <string.h>

#include "critical.h"
#include "slices.h"
#include "trace/base/strings.h"

/* The clocks of a device and of the host differ a little. */
enum { SKEW_NS = 1000 };

enum {
    SOON = 10,        /* joined work ends in the last tenth of the wait */
    AROUND_MOST = 64, /* how many spans around a slice are checked */
};

/* Things that a slice may wait for; the parts are those of `key_of`. */
enum end_kind {
    ANY,     /* - */
    CHILD,   /* parent, or 0: slices of its spans */
    AGAIN,   /* span: its enters after the first */
    CALL,    /* correlation: what a call launched */
    STREAM,  /* context, stream: work */
    CONTEXT, /* context: work; 0: on any */
};

/* A recording that is read. */
struct reading {
    struct trace_causes *slices;
    struct trace_reader *reader;
    struct trace_slices open; /* numbered by their places in their tracks */
    struct trace_table made;  /* from a span's place to its number in `at` */
    struct trace_moment *at;
    size_t at_count, at_capacity;
    struct trace_table calls; /* from a correlation to its first call */
    uint32_t number;          /* of the next span, enter or activity */
};

static uint64_t key_of(enum end_kind kind, uint32_t a, uint32_t b)
{
    const uint32_t parts[] = {kind, a, b};

    return trace_hash(TRACE_HASH, parts, sizeof(parts));
}

/* ---- Tracks ---- */

/* Returns the number of an entry's track, TRACE_NO_SLICE without memory. */
static uint32_t track_of(struct reading *reading,
                         const struct trace_entry *entry)
{
    struct trace_causes *slices = reading->slices;
    size_t number = trace_slices_track(&reading->open, trace_track_key(entry));
    struct trace_text name = {0};

    if (number < slices->track_count)
        return (uint32_t)number;
    if (trace_is_on_thread(entry)) {
        trace_name_thread(&name, reading->reader, entry->thread);
    } else {
        trace_name_device(&name, reading->reader, entry->at.device);
        trace_text_string(&name, ", ");
        trace_name_stream(&name, reading->reader, &entry->at);
    }
    if (number == SIZE_MAX || name.failed || !name.data ||
        !TRACE_ARRAY_RESERVE(slices->tracks, slices->track_capacity,
                             number + 1)) {
        trace_text_free(&name);
        return TRACE_NO_SLICE;
    }
    slices->tracks[slices->track_count++].name = name.data;
    return (uint32_t)number;
}

/* The thread in which the test runs may have no slices. */
static bool add_main(struct reading *reading)
{
    uint32_t pid = trace_reader_summary(reading->reader).pid;
    struct trace_thread main = {.pid = pid, .tid = pid, .name = ""};
    struct trace_entry entry = {.kind = TRACE_ENTRY_SPAN, .thread = &main};
    const struct trace_thread *thread;

    for (size_t i = 0; (thread = trace_reader_thread(reading->reader, i)); i++)
        if (thread->pid == pid && thread->tid == pid)
            entry.thread = thread;
    return track_of(reading, &entry) != TRACE_NO_SLICE;
}

/* ---- Slices ---- */

/* Notes the thread that created a span, because others may enter it. */
static bool note_made(struct reading *reading, const struct trace_entry *span)
{
    uint32_t track;

    if (!trace_reader_later(reading->reader, span->id))
        return true;
    track = track_of(reading, span);
    if (track == TRACE_NO_SLICE ||
        !TRACE_ARRAY_RESERVE(reading->at, reading->at_capacity,
                             reading->at_count + 1) ||
        !trace_table_set(&reading->made, span->id, reading->at_count))
        return false;
    reading->at[reading->at_count++] = (struct trace_moment){track, span->time};
    return true;
}

static void describe_span(struct reading *reading,
                          const struct trace_entry *entry,
                          struct trace_caused *slice)
{
    struct trace_entry span;
    uintptr_t number;

    if (entry->kind == TRACE_ENTRY_SPAN) {
        slice->span = entry->id;
        slice->parent = entry->span;
        return;
    }
    slice->span = entry->span;
    slice->again = true;
    if (trace_reader_span(reading->reader, entry->span, &span))
        slice->parent = span.span;
    if (trace_table_find(&reading->made, entry->span, &number) &&
        reading->at[number].track != slice->track) {
        slice->cause_track = reading->at[number].track;
        slice->cause = reading->at[number].time;
    }
}

static uint64_t within(const struct trace_causes *slices, uint64_t time)
{
    if (time < slices->begin)
        return slices->begin;
    return time > slices->end ? slices->end : time;
}

static bool add_slice(struct reading *reading, const struct trace_entry *entry,
                      const struct trace_site *site)
{
    struct trace_causes *slices = reading->slices;
    struct trace_caused slice = {.site = site,
                                 .begin = within(slices, entry->time),
                                 .end = within(slices, entry->end),
                                 .track = track_of(reading, entry),
                                 .number = reading->number,
                                 .cause_track = TRACE_NO_SLICE};
    const struct trace_slice *around, *begun;
    struct trace_cause_track *track;

    if (slice.track == TRACE_NO_SLICE ||
        !TRACE_ARRAY_RESERVE(slices->all, slices->capacity, slices->count + 1))
        return false;
    if (slice.end < slice.begin)
        slice.end = slice.begin;
    if (entry->kind == TRACE_ENTRY_DEVICE) {
        slice.activity = entry->at.kind;
        slice.on_device = entry->at.on_device;
        slice.context = entry->at.context;
        slice.stream = entry->at.stream;
        slice.correlation = entry->at.correlation;
    } else {
        describe_span(reading, entry, &slice);
    }
    track = &slices->tracks[slice.track];
    around = trace_slices_around(&reading->open, slice.track, slice.begin);
    /* Counts from the track's first one, until all are in order. */
    slice.around = around ? (uint32_t)around->number : TRACE_NO_SLICE;
    begun = trace_slices_begin(&reading->open, slice.track,
                               (struct trace_slice){.begin = slice.begin,
                                                    .end = slice.end,
                                                    .number = track->count});
    if (!begun)
        return false;
    slice.end = begun->end;
    track->count++;
    slices->all[slices->count++] = slice;
    return true;
}

static bool add_all(struct reading *reading)
{
    const struct trace_site *site;
    struct trace_entry entry;
    bool ok = add_main(reading);

    while (ok && trace_reader_next(reading->reader, &entry)) {
        if (entry.kind == TRACE_ENTRY_SPAN)
            ok = note_made(reading, &entry);
        site = trace_slice_site(reading->reader, &entry);
        if (ok && site)
            ok = add_slice(reading, &entry, site);
        reading->number += trace_has_slice(&entry);
    }
    return ok;
}

/* ---- Order ---- */

static bool sort_by_track(struct trace_causes *slices)
{
    struct trace_caused *sorted = calloc(slices->count + 1, sizeof(*sorted));
    size_t first = 0;

    if (!sorted)
        return false;
    for (size_t i = 0; i < slices->track_count; i++) {
        slices->tracks[i].first = first;
        first += slices->tracks[i].count;
        slices->tracks[i].count = 0;
    }
    for (size_t i = 0; i < slices->count; i++) {
        struct trace_caused *slice = &slices->all[i];
        struct trace_cause_track *track = &slices->tracks[slice->track];

        if (slice->around != TRACE_NO_SLICE)
            slice->around += (uint32_t)track->first;
        sorted[track->first + track->count++] = *slice;
    }
    free(slices->all);
    slices->all = sorted;
    return true;
}

uint32_t trace_causes_around(const struct trace_causes *slices,
                             struct trace_moment now, uint64_t *since)
{
    const struct trace_cause_track *track = &slices->tracks[now.track];
    size_t low = track->first, high = low + track->count;
    uint32_t at;

    *since = slices->begin;
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slices->all[middle].begin < now.time)
            low = middle + 1;
        else
            high = middle;
    }
    at = low > track->first ? (uint32_t)low - 1 : TRACE_NO_SLICE;
    while (at != TRACE_NO_SLICE && slices->all[at].end < now.time) {
        *since = slices->all[at].end;
        at = slices->all[at].around;
    }
    if (at != TRACE_NO_SLICE && slices->all[at].begin > *since)
        *since = slices->all[at].begin;
    return at;
}

/* ---- Causes ---- */

/* Keeps the first call of each correlation; calls that it makes have the same
 * correlation. */
static bool note_calls(struct reading *reading)
{
    const struct trace_causes *slices = reading->slices;

    for (size_t i = 0; i < slices->count; i++) {
        const struct trace_caused *slice = &slices->all[i];
        uintptr_t first;

        if (!slice->correlation || (slice->activity != TRACE_ACTIVITY_RUNTIME &&
                                    slice->activity != TRACE_ACTIVITY_DRIVER))
            continue;
        if (trace_table_find(&reading->calls, slice->correlation, &first) &&
            slices->all[first].begin <= slice->begin)
            continue;
        if (!trace_table_set(&reading->calls, slice->correlation, i))
            return false;
    }
    return true;
}

/* Work is submitted when its call ends, or when the work begins, if that is
 * earlier. */
static void find_launch(const struct reading *reading,
                        struct trace_caused *slice)
{
    uintptr_t number;
    uint64_t end;

    if (!slice->on_device || !slice->correlation ||
        !trace_table_find(&reading->calls, slice->correlation, &number))
        return;
    end = reading->slices->all[number].end;
    slice->cause_track = reading->slices->all[number].track;
    slice->cause = end < slice->begin ? end : slice->begin;
    slice->prepared = slice->cause;
}

/* The thread that creates a span prepares it until the thread's current slice
 * ends. */
static void find_preparation(const struct trace_causes *slices,
                             struct trace_caused *slice)
{
    struct trace_moment made = {slice->cause_track, slice->cause + 1};
    uint64_t since;
    uint32_t around = trace_causes_around(slices, made, &since);

    slice->prepared =
        around == TRACE_NO_SLICE ? slice->cause : slices->all[around].end;
    if (slice->prepared > slice->begin)
        slice->prepared = slice->begin;
}

static bool find_causes(struct reading *reading)
{
    struct trace_causes *slices = reading->slices;

    if (!note_calls(reading))
        return false;
    for (size_t i = 0; i < slices->count; i++) {
        struct trace_caused *slice = &slices->all[i];

        if (slice->cause_track != TRACE_NO_SLICE && slice->cause > slice->begin)
            slice->cause_track = TRACE_NO_SLICE;
        if (slice->cause_track != TRACE_NO_SLICE)
            find_preparation(slices, slice);
        else
            find_launch(reading, slice);
    }
    return true;
}

/* ---- Ends ---- */

/* Ends by key, before those of a key are put together. */
struct gathered {
    struct trace_causes *slices;
    struct item {
        uint32_t group, slice;
    } * items;
    size_t count, capacity;
    size_t room; /* for sizes of groups */
};

static bool add_end(struct gathered *gathered, uint32_t slice, uint64_t key)
{
    struct trace_causes *slices = gathered->slices;
    uintptr_t group = slices->group_count;

    if (!trace_table_find(&slices->group_of, key, &group)) {
        if (!TRACE_ARRAY_RESERVE(slices->group_ends, gathered->room,
                                 group + 1) ||
            !trace_table_set(&slices->group_of, key, group))
            return false;
        slices->group_count++;
    }
    if (!TRACE_ARRAY_RESERVE(gathered->items, gathered->capacity,
                             gathered->count + 1))
        return false;
    slices->group_ends[group]++; /* the size, so far */
    gathered->items[gathered->count++] = (struct item){(uint32_t)group, slice};
    return true;
}

/* No thread waits for a part of a kernel. */
static bool add_ends(struct gathered *gathered, uint32_t number)
{
    const struct trace_caused *slice = &gathered->slices->all[number];
    uint32_t context = slice->context;
    bool works = slice->on_device && slice->activity != TRACE_ACTIVITY_ZONE;

    if (slice->end == slice->begin)
        return true;
    if (!add_end(gathered, number, key_of(ANY, 0, 0)))
        return false;
    if (!slice->activity &&
        !add_end(gathered, number, key_of(CHILD, slice->parent, 0)))
        return false;
    if (slice->again &&
        !add_end(gathered, number, key_of(AGAIN, slice->span, 0)))
        return false;
    if (!works)
        return true;
    if (slice->correlation &&
        !add_end(gathered, number, key_of(CALL, slice->correlation, 0)))
        return false;
    return add_end(gathered, number, key_of(STREAM, context, slice->stream)) &&
           add_end(gathered, number, key_of(CONTEXT, 0, 0)) &&
           (!context || add_end(gathered, number, key_of(CONTEXT, context, 0)));
}

static int by_end(const void *a, const void *b, void *context)
{
    const struct trace_caused *all = context;
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    if (all[x].end != all[y].end)
        return all[x].end < all[y].end ? -1 : 1;
    return x < y ? -1 : x > y;
}

/* Puts those of each key together; they stay in order. */
static bool group(const struct gathered *gathered)
{
    struct trace_causes *slices = gathered->slices;
    size_t first = 0;

    slices->ends = calloc(gathered->count + 1, sizeof(*slices->ends));
    if (!slices->ends)
        return false;
    for (size_t i = 0; i < slices->group_count; i++) {
        size_t size = slices->group_ends[i];

        slices->group_ends[i] = first;
        first += size;
    }
    for (size_t i = 0; i < gathered->count; i++) {
        const struct item *item = &gathered->items[i];

        slices->ends[slices->group_ends[item->group]++] = item->slice;
    }
    return true;
}

static bool sort_ends(struct trace_causes *slices)
{
    struct gathered gathered = {.slices = slices};
    uint32_t *order = calloc(slices->count + 1, sizeof(*order));
    bool ok = order != NULL;

    for (size_t i = 0; ok && i < slices->count; i++)
        order[i] = (uint32_t)i;
    if (ok)
        qsort_r(order, slices->count, sizeof(*order), by_end, slices->all);
    for (size_t i = 0; ok && i < slices->count; i++)
        ok = add_ends(&gathered, order[i]);
    ok = ok && group(&gathered);
    free(order);
    free(gathered.items);
    return ok;
}

/* The ends of a key until a time: from `first` up to the result. */
static size_t ends_until(const struct trace_causes *slices, uint64_t key,
                         uint64_t time, size_t *first)
{
    uintptr_t number;
    size_t low, high;

    *first = 0;
    if (!trace_table_find(&slices->group_of, key, &number))
        return 0;
    *first = low = number ? slices->group_ends[number - 1] : 0;
    high = slices->group_ends[number];
    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (slices->all[slices->ends[middle]].end <= time)
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

/* An end that is later than `now` by the skew of clocks counts as now. */
static void find_end(const struct trace_causes *slices, uint64_t key,
                     uint64_t skew, struct trace_moment now,
                     struct trace_moment *last)
{
    size_t first, i = ends_until(slices, key, now.time + skew, &first);

    for (; i > first; i--) {
        const struct trace_caused *slice = &slices->all[slices->ends[i - 1]];

        if (slice->end <= last->time)
            return;
        if (slice->track == now.track || slice->begin >= now.time)
            continue;
        last->track = slice->track;
        last->time = slice->end < now.time ? slice->end : now.time;
        return;
    }
}

static void find_below(const struct trace_causes *slices,
                       const struct trace_caused *slice,
                       struct trace_moment now, struct trace_moment *last)
{
    find_end(slices, key_of(CHILD, slice->span, 0), 0, now, last);
    if (!slice->again)
        find_end(slices, key_of(AGAIN, slice->span, 0), 0, now, last);
}

/* A thread may join others in a span of its own, beside the work that they do
 * for the spans around it. The join then ends soon after that work; otherwise
 * both only overlap. */
static void find_beside(const struct trace_causes *slices,
                        const struct trace_caused *slice,
                        struct trace_moment now, struct trace_moment *last)
{
    struct trace_moment beside = *last;
    uint64_t soon = now.time - (now.time - last->time) / SOON;
    uint32_t around = slice->around;

    find_end(slices, key_of(ANY, 0, 0), 0, now, &beside);
    if (beside.time < soon)
        return;
    beside = *last;
    for (int i = 0; i < AROUND_MOST && around != TRACE_NO_SLICE; i++) {
        const struct trace_caused *span = &slices->all[around];

        if (span->span && !span->again)
            find_below(slices, span, now, &beside);
        around = span->around;
    }
    if (now.track == TRACE_MAIN_TRACK)
        find_end(slices, key_of(CHILD, 0, 0), 0, now, &beside);
    if (beside.time >= soon && beside.time > last->time)
        *last = beside;
}

void trace_causes_waited(const struct trace_causes *slices, uint32_t number,
                         struct trace_moment now, struct trace_moment *last)
{
    const struct trace_caused *slice;
    uint64_t key;

    if (number == TRACE_NO_SLICE) {
        find_end(slices, key_of(ANY, 0, 0), 0, now, last);
        return;
    }
    slice = &slices->all[number];
    if (!slice->activity) {
        find_below(slices, slice, now, last);
        find_beside(slices, slice, now, last);
        return;
    }
    if (slice->on_device)
        return;
    if (slice->activity != TRACE_ACTIVITY_SYNC)
        key = key_of(CALL, slice->correlation, 0);
    else if (slice->stream)
        key = key_of(STREAM, slice->context, slice->stream);
    else
        key = key_of(CONTEXT, slice->context, 0);
    if (slice->activity == TRACE_ACTIVITY_SYNC || slice->correlation)
        find_end(slices, key, slice->end == now.time ? SKEW_NS : 0, now, last);
}

/* ---- Reading ---- */

/* A recording without phases begins with the test's time. */
struct trace_causes trace_causes_none(const struct trace_reader *reader,
                                      uint64_t zero)
{
    struct trace_phases phases = trace_reader_phases(reader);
    uint64_t begin = phases.setup ? phases.setup : zero;
    uint64_t end = phases.end ? phases.end : trace_reader_summary(reader).end;

    return (struct trace_causes){.phases = phases,
                                 .zero = zero,
                                 .begin = begin,
                                 .end = end > begin ? end : begin};
}

int trace_causes_read(struct trace_causes *slices, struct trace_reader *reader,
                      uint64_t zero)
{
    struct reading reading = {.slices = slices,
                              .reader = reader,
                              .open = {.outlasting = TRACE_OUTLASTING_ENDS}};
    bool ok;

    *slices = trace_causes_none(reader, zero);
    ok = !trace_reader_rewind(reader) && add_all(&reading) &&
         sort_by_track(slices) && find_causes(&reading) && sort_ends(slices);
    trace_slices_free(&reading.open);
    trace_table_free(&reading.made);
    trace_table_free(&reading.calls);
    free(reading.at);
    return ok ? 0 : -1;
}

void trace_causes_free(struct trace_causes *slices)
{
    for (size_t i = 0; i < slices->track_count; i++)
        free(slices->tracks[i].name);
    free(slices->tracks);
    free(slices->all);
    free(slices->ends);
    free(slices->group_ends);
    trace_table_free(&slices->group_of);
    *slices = (struct trace_causes){.count = 0};
}

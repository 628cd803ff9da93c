/* reader.c: reads a recording, which may contain any bytes.
 *
 * Opening makes one pass that finds the threads' segments, the call sites and
 * the late fields; merge_threads.c then walks the segments in order of time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/base/values.h"
#include "trace/format.h"
#include "trace/record/recorder.h"

/* ---- The pass at opening ---- */

static bool add_later(struct trace_reader *reader, uint32_t span)
{
    if (!TRACE_ARRAY_RESERVE(reader->later, reader->later_capacity,
                             reader->later_count + 1))
        return false;
    reader->later[reader->later_count++] = span;
    return true;
}

static bool add_segment(struct trace_reader *reader,
                        const struct trace_record *record, uint64_t place)
{
    struct trace_segment segment = {
        .place = (uint32_t)place,
        .end = (uint32_t)place,
        .time = record->time,
        .calls = record->flags & TRACE_FLAG_CALLS,
    };

    if (!TRACE_ARRAY_RESERVE(reader->segments, reader->segment_capacity,
                             reader->segment_count + 1) ||
        !trace_reader_add_thread(reader, record, &segment.thread))
        return false;
    reader->segments[reader->segment_count++] = segment;
    return true;
}

static const struct trace_segment *last_segment(
    const struct trace_reader *reader)
{
    return &reader->segments[reader->segment_count - 1];
}

static bool add_device(struct trace_reader *reader,
                       const struct trace_record *record, uint64_t place)
{
    struct trace_activity_place at;
    struct trace_values unused;

    if (!trace_reader_activity(record, &unused, &at))
        return true;
    if (!TRACE_ARRAY_RESERVE(reader->devices, reader->device_capacity,
                             reader->device_count + 1))
        return false;
    reader->devices[reader->device_count++] = (struct trace_begun){
        at.begin, (uint32_t)place, last_segment(reader)->thread};
    return true;
}

static bool add_crash(struct trace_reader *reader, uint64_t place)
{
    if (!TRACE_ARRAY_RESERVE(reader->crashes, reader->crash_capacity,
                             reader->crash_count + 1))
        return false;
    reader->crashes[reader->crash_count++] = (uint32_t)place;
    return true;
}

static bool index_record(struct trace_reader *reader,
                         const struct trace_record *record, uint64_t place,
                         bool first)
{
    uint64_t time = __atomic_load_n(&record->time, __ATOMIC_ACQUIRE);
    uint64_t end = record->kind == TRACE_KIND_SPAN ||
                           record->kind == TRACE_KIND_ENTER ||
                           record->kind == TRACE_KIND_DEVICE
                       ? record->end
                       : 0;

    if (!time)
        return true;
    reader->records++;
    reader->filled += record->kind == TRACE_KIND_RAW ? 0 : record->slots;
    reader->last = time > reader->last ? time : reader->last;
    reader->last = end > reader->last ? end : reader->last;
    switch (record->kind) {
    case TRACE_KIND_THREAD:
        return add_segment(reader, record, place);
    case TRACE_KIND_SITE:
        return trace_reader_add_site(reader, record);
    case TRACE_KIND_FIELDS:
        return first || trace_reader_add_late(reader, record, place);
    case TRACE_KIND_ENTER:
    case TRACE_KIND_CLOSE:
        return first || add_later(reader, record->span);
    case TRACE_KIND_META:
        return first || trace_reader_add_meta(reader, record, place);
    case TRACE_KIND_DEVICE:
        return first || add_device(reader, record, place);
    case TRACE_KIND_CRASH:
        return first || add_crash(reader, place);
    case TRACE_KIND_CALLS:
    case TRACE_KIND_CALL_END:
    case TRACE_KIND_MODULE:
        return first || trace_calls_add(reader, record, place,
                                        last_segment(reader)->thread);
    case TRACE_KIND_SAMPLES:
        return first || trace_reader_add_samples(reader, record, place,
                                                 last_segment(reader)->thread);
    case TRACE_KIND_RAW:
    case TRACE_KIND_RAW_NOTE:
        return first || trace_derive_add(reader, record, place,
                                         last_segment(reader)->thread);
    default:
        return true;
    }
}

/* Returns whether a record at a chunk's start belongs to those before it: to a
 * run of chunks that was taken for a long record. */
static bool goes_on(const struct trace_record *record)
{
    return record->time && record->kind != TRACE_KIND_THREAD;
}

/* Walks records from `place` to where writing stopped and returns the place
 * behind them. They may extend beyond `*end`, the end of the chunk, which then
 * becomes the end of the last chunk. */
static uint64_t index_piece(struct trace_reader *reader, uint64_t place,
                            uint64_t *end, bool *ok)
{
    bool first = true;
    const struct trace_record *record;

    while ((record = trace_reader_bounded(
                reader, place = trace_reader_past_gap(reader, place, first))) &&
           (place < *end || goes_on(record))) {
        if (first && !trace_begins_range(record))
            break; /* a hole */
        *ok = index_record(reader, record, place, first);
        if (!*ok)
            return place;
        first = false;
        place += record->slots;
        if (record->time && place > reader->used)
            reader->used = place;
        reader->segments[reader->segment_count - 1].end = (uint32_t)place;
        while (*end < place) /* a record of several chunks */
            *end += TRACE_CHUNK_SLOTS;
    }
    return place;
}

static bool index_all(struct trace_reader *reader)
{
    uint64_t limit =
        TRACE_FIRST_PLACE + reader->header.chunks * (uint64_t)TRACE_CHUNK_SLOTS;
    uint64_t place = TRACE_FIRST_PLACE;
    bool ok = true;

    if (reader->header.chunks > trace_place_limit(reader) ||
        limit > trace_place_limit(reader))
        limit = trace_place_limit(reader);
    while (ok && place < limit) { /* for each run of chunks */
        uint64_t begin = place, end = place + TRACE_CHUNK_SLOTS;
        size_t before = reader->segment_count;

        while (ok && place < end) {
            place = index_piece(reader, place, &end, &ok);
            place = (place / TRACE_PIECE_SLOTS + 1) * TRACE_PIECE_SLOTS;
        }
        trace_reader_drop(reader, begin, end);
        place = reader->segment_count == before
                    ? trace_reader_past_hole(reader, end)
                    : end;
    }
    return ok;
}

/* Takes the records that were derived from others. */
static bool index_derived(struct trace_reader *reader)
{
    struct trace_derived_records derived;
    uint64_t place;

    if (!trace_derive(reader, true))
        return false;
    derived = trace_derived_records(reader);
    if (derived.end)
        reader->size = derived.end * TRACE_SLOT_SIZE;
    place = derived.begin;
    while (place < derived.end) {
        const struct trace_record *record = trace_slot_at(reader, place);

        if (!index_record(reader, record, place, false))
            return false;
        place += record->slots;
        reader->segments[reader->segment_count - 1].end = (uint32_t)place;
    }
    return true;
}

static bool add_callers(struct trace_reader *reader)
{
    struct trace_activity_place at = {.thread = 0};
    struct trace_values unused;
    bool ok = true;

    for (size_t i = 0; ok && i < reader->device_count; i++) {
        const struct trace_begun *begun = &reader->devices[i];

        trace_reader_activity(trace_slot_at(reader, begun->place), &unused,
                              &at);
        ok = trace_reader_add_caller(reader, begun->thread, at.thread);
    }
    return ok;
}

static int by_thread(const void *a, const void *b)
{
    const struct trace_segment *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_begin(const void *a, const void *b)
{
    const struct trace_begun *x = a, *y = b;

    if (x->begin != y->begin)
        return x->begin < y->begin ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_time(const void *a, const void *b, void *context)
{
    const uint32_t *x = a, *y = b;
    uint64_t s = trace_slot_at(context, *x)->time;
    uint64_t t = trace_slot_at(context, *y)->time;

    return s < t ? -1 : s > t;
}

static int by_place(const void *a, const void *b)
{
    uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;

    return x < y ? -1 : x > y;
}

static void sort_all(struct trace_reader *reader)
{
    size_t kept = 0;

    /* Ranges of calls have no other entries. */
    for (size_t i = 0; i < reader->segment_count; i++)
        if (!reader->segments[i].calls)
            reader->segments[kept++] = reader->segments[i];
    reader->segment_count = kept;
    if (reader->segment_count)
        qsort(reader->segments, reader->segment_count,
              sizeof(*reader->segments), by_thread);
    if (reader->device_count)
        qsort(reader->devices, reader->device_count, sizeof(*reader->devices),
              by_begin);
    if (reader->crash_count)
        qsort_r(reader->crashes, reader->crash_count, sizeof(*reader->crashes),
                by_time, reader);
    if (reader->later_count)
        qsort(reader->later, reader->later_count, sizeof(*reader->later),
              by_place);
}

/* ---- Opening ---- */

/* False with errno. */
static bool header_ok(const struct trace_reader *reader)
{
    const struct trace_header *header = &reader->header;

    errno = EINVAL;
    return header->magic == TRACE_MAGIC && header->version >= 1 &&
           header->version <= TRACE_FORMAT_RAW &&
           header->header_size == TRACE_HEADER_SIZE &&
           header->chunk_size == TRACE_CHUNK_SIZE;
}

struct trace_reader *trace_reader_open(const char *path)
{
    return trace_reader_beneath(AT_FDCWD, path);
}

static struct trace_reader *new_reader(void)
{
    struct trace_reader *reader = calloc(1, sizeof(*reader));

    if (reader)
        reader->fd = -1;
    return reader;
}

/* Reads what has been mapped; false with errno. */
static bool read_all(struct trace_reader *reader)
{
    if (!header_ok(reader))
        return false;
    reader->last = reader->header.end.ticks;
    trace_reader_set_end(reader, reader->last ? reader->header.end
                                              : trace_anchor_now());
    if (!index_all(reader) || !index_derived(reader) || !add_callers(reader) ||
        !trace_reader_sort_late(reader, 0))
        return false;
    sort_all(reader);
    if (!trace_calls_prepare(reader))
        return false;
    trace_reader_rename_threads(reader);
    trace_fields_prepare(reader);
    reader->merge = trace_merge_new(reader);
    return reader->merge != NULL;
}

/* Returns the reader if it is `ready`; else frees it and preserves errno. */
static struct trace_reader *finish(struct trace_reader *reader, bool ready)
{
    int error = errno;

    trace_reader_leave_file(reader);
    if (ready)
        return reader;
    trace_reader_close(reader);
    errno = error;
    return NULL;
}

struct trace_reader *trace_reader_beneath(int folder, const char *name)
{
    struct trace_reader *reader = new_reader();

    return reader
               ? finish(reader, trace_reader_map(reader, folder, name, false) &&
                                    read_all(reader))
               : NULL;
}

/* A new recording gets its size before its header: only a file that has not
 * grown since it was mapped is mapped to its end. A part has its size. */
static bool has_grown(const struct trace_reader *reader)
{
    struct stat status;

    return !reader->is_part && !fstat(reader->fd, &status) &&
           (size_t)status.st_size > reader->mapped;
}

struct trace_reader *trace_reader_follow(const char *path)
{
    return trace_reader_follow_beneath(AT_FDCWD, path);
}

struct trace_reader *trace_reader_follow_beneath(int folder, const char *name)
{
    struct trace_reader *reader = new_reader();
    bool ready;

    if (!reader)
        return NULL;
    ready = trace_reader_map(reader, folder, name, true) && header_ok(reader);
    if (ready && has_grown(reader)) {
        finish(reader, false);
        return trace_reader_follow_beneath(folder, name);
    }
    return finish(reader, ready && trace_follow_begin(reader));
}

struct trace_reader *trace_reader_open_mapped(const void *base, size_t size)
{
    struct trace_reader *reader = new_reader();

    if (!reader)
        return NULL;
    trace_reader_use(reader, base, size);
    return finish(reader, read_all(reader));
}

void trace_reader_close(struct trace_reader *reader)
{
    if (!reader)
        return;
    trace_derive_free(reader);
    trace_reader_unmap(reader);
    for (size_t i = 0; i < reader->site_count; i++)
        trace_reader_free_site(reader->sites[i]);
    free(reader->sites);
    free(reader->threads);
    trace_table_free(&reader->thread_table);
    free(reader->segments);
    free(reader->late);
    free(reader->devices);
    free(reader->metas);
    free(reader->crashes);
    free(reader->samples);
    trace_table_free(&reader->meta_table);
    free(reader->later);
    trace_fields_free(reader);
    trace_calls_free(reader);
    trace_merge_free(reader->merge);
    trace_follow_free(reader);
    free(reader);
}

/* ---- Queries ---- */

const struct trace_thread *trace_reader_thread(
    const struct trace_reader *reader, size_t number)
{
    return number < reader->thread_count ? &reader->threads[number] : NULL;
}

/* Version 1 counted all losses together. */
static void count_losses(struct trace_summary *summary,
                         const struct trace_header *header, uint64_t derived)
{
    enum trace_loss old = !header->error            ? TRACE_LOSS_LIMIT
                          : header->error == ENOMEM ? TRACE_LOSS_MEMORY
                                                    : TRACE_LOSS_DISK;

    for (int i = 0; header->version > 1 && i < TRACE_LOSS_COUNT; i++)
        summary->lost[i] = header->losses.lost[i];
    for (int n = 0; header->version > 2 && n < TRACE_COUNTERS; n++)
        for (int i = 0; i < TRACE_LOSS_COUNT; i++)
            summary->lost[i] += header->counters[n].lost[i];
    if (header->version == 1)
        summary->lost[old] = header->dropped;
    summary->lost[TRACE_LOSS_MEMORY] += derived;
    for (int i = 0; i < TRACE_LOSS_COUNT; i++)
        summary->dropped += summary->lost[i];
}

struct trace_anchor trace_reader_origin(const struct trace_reader *reader)
{
    return reader->header.origin;
}

/* A recording that was settled is full of holes. */
static uint64_t size_of(const struct trace_reader *reader)
{
    uint64_t slots = reader->header.settled ? TRACE_FIRST_PLACE + reader->filled
                                            : reader->used;

    return slots * TRACE_SLOT_SIZE;
}

struct trace_summary trace_reader_summary(const struct trace_reader *reader)
{
    const struct trace_header *header = &reader->header;
    struct trace_summary summary = {
        .pid = header->pid,
        .ended = header->ended == 1,
        .begin = trace_reader_time(reader, header->start.ticks),
        .end = trace_reader_time(reader, reader->last),
        .size = size_of(reader),
        .error = header->error,
        .limit_reached = header->reached == 1,
        .refused = header->error && !header->limit,
        .disabled = header->disabled == 1,
        .origin = header->origin,
        .opened = header->start,
        .closed = header->end,
    };

    count_losses(&summary, header, trace_derived_records(reader).lost);
    return summary;
}

void trace_reader_rebase(struct trace_reader *reader, uint64_t wall,
                         uint64_t before)
{
    const uint64_t most = UINT64_C(1) << 62;

    reader->before = before < most ? before : most;
    reader->header.origin.wall = wall;
    reader->header.origin.monotonic = wall;
}

/* Returns how many of the sorted `places` are below `place`. */
static size_t below(const uint32_t *places, size_t count, uint64_t place)
{
    size_t low = 0;

    while (low < count) {
        size_t middle = low + (count - low) / 2;

        if (places[middle] < place)
            low = middle + 1;
        else
            count = middle;
    }
    return low;
}

size_t trace_reader_later(const struct trace_reader *reader, uint32_t place)
{
    const uint32_t *later = reader->later;
    size_t count = reader->later_count;

    return below(later, count, (uint64_t)place + 1) -
           below(later, count, place);
}

bool trace_reader_has_devices(const struct trace_reader *reader)
{
    return reader->device_count > 0;
}

bool trace_reader_next(struct trace_reader *reader, struct trace_entry *entry)
{
    return reader->follow ? trace_follow_next(reader, entry)
                          : trace_merge_next(reader->merge, entry);
}

int trace_reader_rewind(struct trace_reader *reader)
{
    struct trace_merge *merge = trace_merge_new(reader);

    if (!merge)
        return -1;
    trace_merge_free(reader->merge);
    reader->merge = merge;
    return 0;
}

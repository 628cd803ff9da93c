/* merge_threads.c: merges the entries of all threads in order of time.
 *
 * A thread's records are in order, but an exit is part of the record of its
 * enter. So each thread keeps its pending exits in a heap, and a heap of
 * threads tells which one is next.
 */
#include <stdlib.h>

#include "reader.h"
#include "reader_parts.h"
#include "trace/format.h"

struct exit_to_come {
    uint64_t ticks;
    uint32_t place;
};

struct track {
    const struct trace_segment *segment, *last; /* of this thread */
    uint32_t place;                             /* the next record */
    uint32_t thread;                            /* index */
    struct trace_call_cursor calls;
    struct trace_seen_call call; /* the next one, */
    bool has_call;               /* if there is one */
    struct exit_to_come *exits;  /* a heap, the earliest first */
    size_t exit_count, exit_capacity;
    uint64_t turn; /* ticks of the next entry */
};

struct trace_merge {
    const struct trace_reader *reader;
    const struct trace_begun *devices; /* activities, in order */
    size_t device_count;
    struct track *tracks;
    size_t count;
    size_t *heap; /* of tracks, the earliest first */
    size_t waiting;
    size_t device; /* the next activity */
    uint64_t last; /* ns: of the last entry */
};

/* ---- The exits of a thread ---- */

static bool push_exit(struct track *track, uint64_t ticks, uint32_t place)
{
    if (!TRACE_ARRAY_RESERVE(track->exits, track->exit_capacity,
                             track->exit_count + 1))
        return false;

    size_t i = track->exit_count++;

    for (; i && track->exits[(i - 1) / 2].ticks > ticks; i = (i - 1) / 2)
        track->exits[i] = track->exits[(i - 1) / 2];
    track->exits[i] = (struct exit_to_come){ticks, place};
    return true;
}

static struct exit_to_come pop_exit(struct track *track)
{
    struct exit_to_come first = track->exits[0];
    struct exit_to_come last = track->exits[--track->exit_count];
    size_t i = 0, child;

    while ((child = 2 * i + 1) < track->exit_count) {
        if (child + 1 < track->exit_count &&
            track->exits[child + 1].ticks < track->exits[child].ticks)
            child++;
        if (last.ticks <= track->exits[child].ticks)
            break;
        track->exits[i] = track->exits[child];
        i = child;
    }
    track->exits[i] = last;
    return first;
}

/* ---- A thread's turn ---- */

static void next_call(const struct trace_reader *reader, struct track *track)
{
    track->has_call = trace_calls_next(reader, &track->calls, &track->call);
}

/* Steps to the next finished record; NULL at the thread's end. */
static const struct trace_record *peek(const struct trace_reader *reader,
                                       struct track *track)
{
    while (track->segment < track->last) {
        while (track->place < track->segment->end) {
            const struct trace_record *record =
                trace_reader_record(reader, track->place);

            if (record)
                return record;

            /* A hole: its size was stored first. */
            const struct trace_record *hole =
                (const struct trace_record *)reader->base + track->place;

            track->place += hole->slots ? hole->slots : 1;
        }
        trace_reader_drop(reader, track->segment->place, track->segment->end);
        track->segment++;
        if (track->segment < track->last)
            track->place = track->segment->place;
    }
    return NULL;
}

static uint64_t turn_of(const struct trace_reader *reader, struct track *track)
{
    const struct trace_record *record = peek(reader, track);
    uint64_t turn = record ? record->time : UINT64_MAX;

    if (track->has_call && track->call.start < turn)
        turn = track->call.start;
    if (track->exit_count && track->exits[0].ticks < turn)
        turn = track->exits[0].ticks;
    return turn;
}

/* ---- The heap of threads ---- */

static bool sooner(const struct trace_merge *merge, size_t a, size_t b)
{
    const struct track *x = &merge->tracks[a], *y = &merge->tracks[b];

    return x->turn != y->turn ? x->turn < y->turn : a < b;
}

static void sink(struct trace_merge *merge, size_t i)
{
    size_t moving = merge->heap[i], child;

    while ((child = 2 * i + 1) < merge->waiting) {
        if (child + 1 < merge->waiting &&
            sooner(merge, merge->heap[child + 1], merge->heap[child]))
            child++;
        if (!sooner(merge, merge->heap[child], moving))
            break;
        merge->heap[i] = merge->heap[child];
        i = child;
    }
    merge->heap[i] = moving;
}

/* Makes the track of the thread that comes first in a part, and takes what it
 * has there from the part. */
static void make_track(struct trace_merge *merge, struct trace_part *part)
{
    const struct trace_reader *reader = merge->reader;
    struct track *track = &merge->tracks[merge->count];
    const struct trace_call_block *block = part->blocks;

    track->thread = part->segment_count ? part->segments->thread : UINT32_MAX;
    if (part->block_count && block->thread < track->thread)
        track->thread = block->thread;
    track->segment = track->last = part->segments;
    for (; part->segment_count && part->segments->thread == track->thread;
         part->segment_count--)
        track->last = ++part->segments;
    for (; part->block_count && part->blocks->thread == track->thread;
         part->block_count--)
        part->blocks++;
    if (track->segment < track->last)
        track->place = track->segment->place;
    track->calls = trace_calls_of(block, (size_t)(part->blocks - block));
    next_call(reader, track);
    track->turn = turn_of(reader, track);
    merge->heap[merge->count] = merge->count;
    merge->count++;
}

struct trace_merge *trace_merge_new(const struct trace_reader *reader)
{
    const struct trace_part all = {
        reader->segments,          reader->segment_count, reader->calls.blocks,
        reader->calls.block_count, reader->devices,       reader->device_count};

    return trace_merge_part(reader, &all);
}

struct trace_merge *trace_merge_part(const struct trace_reader *reader,
                                     const struct trace_part *part)
{
    struct trace_merge *merge = calloc(1, sizeof(*merge));
    struct trace_part left = *part; /* what has no track yet */
    size_t ranges = part->segment_count + part->block_count;
    size_t threads =
        1 + (ranges < reader->thread_count ? ranges : reader->thread_count);

    if (!merge)
        return NULL;
    merge->reader = reader;
    merge->devices = part->devices;
    merge->device_count = part->device_count;
    merge->tracks = calloc(threads, sizeof(*merge->tracks));
    merge->heap = calloc(threads, sizeof(*merge->heap));
    if (!merge->tracks || !merge->heap) {
        trace_merge_free(merge);
        return NULL;
    }
    while (left.segment_count || left.block_count)
        make_track(merge, &left);
    merge->waiting = merge->count;
    for (size_t i = merge->waiting / 2; i-- > 0;)
        sink(merge, i);
    return merge;
}

void trace_merge_free(struct trace_merge *merge)
{
    if (!merge)
        return;
    for (size_t i = 0; i < merge->count; i++)
        free(merge->tracks[i].exits);
    free(merge->tracks);
    free(merge->heap);
    free(merge);
}

/* ---- Entries ---- */

/* Returns whether a device's activity is next. */
static bool device_is_next(const struct trace_merge *merge)
{
    return merge->device < merge->device_count &&
           (!merge->waiting || merge->devices[merge->device].begin <
                                   merge->tracks[merge->heap[0]].turn);
}

static bool take_exit(struct trace_merge *merge, struct track *track,
                      const struct trace_thread *thread,
                      struct trace_entry *entry)
{
    struct exit_to_come exit = pop_exit(track);

    if (!trace_reader_entry(merge->reader, exit.place, thread, entry))
        return false;
    entry->span = entry->kind == TRACE_ENTRY_SPAN ? entry->id : entry->span;
    entry->kind = TRACE_ENTRY_EXIT;
    entry->time = trace_reader_time(merge->reader, exit.ticks);
    return true;
}

static bool take_record(struct trace_merge *merge, struct track *track,
                        const struct trace_record *record,
                        const struct trace_thread *thread,
                        struct trace_entry *entry)
{
    uint32_t place = track->place;
    bool enters = record->kind == TRACE_KIND_ENTER ||
                  (record->kind == TRACE_KIND_SPAN &&
                   !(record->flags & TRACE_FLAG_NOT_ENTERED));

    track->place += record->slots;
    /* An end before the beginning is damage; such a span stays open. */
    if (enters && record->end > record->time)
        push_exit(track, record->end, place);
    return record->kind != TRACE_KIND_DEVICE && /* ordered apart */
           trace_reader_entry(merge->reader, place, thread, entry);
}

static bool take_call(struct trace_merge *merge, struct track *track,
                      const struct trace_thread *thread,
                      struct trace_entry *entry)
{
    const struct trace_seen_call call = track->call;

    next_call(merge->reader, track);
    if (call.end > call.start)
        push_exit(track, call.end, call.number);
    return trace_calls_describe(merge->reader, &call, thread, entry);
}

/* Takes what is next of a thread; false if that is no entry. */
static bool take_next(struct trace_merge *merge, struct track *track,
                      const struct trace_record *record,
                      struct trace_entry *entry)
{
    const struct trace_thread *thread = &merge->reader->threads[track->thread];
    uint64_t time = record ? record->time : UINT64_MAX;
    bool calls = track->has_call && (!record || track->call.start < time);

    if (calls)
        time = track->call.start;
    if (track->exit_count &&
        (track->exits[0].ticks < time || (!record && !track->has_call)))
        return take_exit(merge, track, thread, entry);
    return calls ? take_call(merge, track, thread, entry)
                 : take_record(merge, track, record, thread, entry);
}

bool trace_merge_next(struct trace_merge *merge, struct trace_entry *entry)
{
    const struct trace_reader *reader = merge->reader;
    bool found = false;

    while (!found && (merge->waiting || device_is_next(merge))) {
        if (device_is_next(merge)) {
            const struct trace_begun *begun = &merge->devices[merge->device++];

            found = trace_reader_entry(reader, begun->place,
                                       &reader->threads[begun->thread], entry);
            continue;
        }

        struct track *track = &merge->tracks[merge->heap[0]];
        const struct trace_record *record = peek(reader, track);

        if (!record && !track->has_call && !track->exit_count) {
            merge->heap[0] = merge->heap[--merge->waiting];
            if (merge->waiting)
                sink(merge, 0);
            continue;
        }
        found = take_next(merge, track, record, entry);
        track->turn = turn_of(reader, track);
        sink(merge, 0);
    }
    /* A time that steps back is damage. */
    if (found && entry->time < merge->last)
        entry->time = merge->last;
    if (found)
        merge->last = entry->time;
    return found;
}

/* tracks.c: splits a recording into its threads and the streams of its devices.
 */
#include <stdlib.h>

#include "reader.h"
#include "reader_parts.h"
#include "slices.h"

enum { NONE = UINT32_MAX };

static bool add_track(struct trace_tracks *tracks, struct trace_table *by_key,
                      struct trace_track track, uint64_t key)
{
    if (!TRACE_ARRAY_RESERVE(tracks->all, tracks->capacity,
                             tracks->count + 1) ||
        !trace_table_set(by_key, key, tracks->count))
        return false;
    tracks->all[tracks->count++] = track;
    return true;
}

static bool add_threads(struct trace_tracks *tracks, struct trace_table *by_key,
                        const struct trace_reader *reader)
{
    size_t segment = 0, block = 0;

    for (size_t i = 0; i < reader->thread_count; i++) {
        struct trace_track track = {.thread = &reader->threads[i]};

        if (segment < reader->segment_count)
            track.part.segments = reader->segments + segment;
        for (; segment < reader->segment_count &&
               reader->segments[segment].thread == i;
             segment++)
            track.part.segment_count++;
        if (block < reader->calls.block_count)
            track.part.blocks = reader->calls.blocks + block;
        for (; block < reader->calls.block_count &&
               reader->calls.blocks[block].thread == i;
             block++)
            track.part.block_count++;
        if (!add_track(tracks, by_key, track, trace_thread_key(track.thread)))
            return false;
    }
    return true;
}

/* Copies the activities of each track to its range of `begun`. */
static void place_devices(struct trace_tracks *tracks,
                          const struct trace_reader *reader,
                          const uint32_t *numbers)
{
    struct trace_begun *next = tracks->begun;

    for (size_t i = 0; i < tracks->count; i++) {
        struct trace_part *part = &tracks->all[i].part;

        part->devices = next;
        next += part->device_count;
        part->device_count = 0;
    }
    for (size_t i = 0; i < reader->device_count; i++) {
        struct trace_part *part;

        if (numbers[i] == NONE)
            continue;
        part = &tracks->all[numbers[i]].part;
        next = tracks->begun + (part->devices - tracks->begun);
        next[part->device_count++] = reader->devices[i];
    }
}

static bool add_devices(struct trace_tracks *tracks, struct trace_table *by_key,
                        const struct trace_reader *reader)
{
    size_t count = reader->device_count;
    uint32_t *numbers; /* of the tracks of activities; NONE: it is damaged */
    bool ok;

    if (!count)
        return true;
    numbers = calloc(count, sizeof(*numbers));
    tracks->begun = calloc(count, sizeof(*tracks->begun));
    ok = numbers && tracks->begun;
    for (size_t i = 0; ok && i < count; i++) {
        const struct trace_begun *begun = &reader->devices[i];
        uintptr_t number = tracks->count;
        struct trace_entry entry;
        uint64_t key;

        numbers[i] = NONE;
        if (!trace_reader_entry(reader, begun->place,
                                &reader->threads[begun->thread], &entry))
            continue;
        key = trace_track_key(&entry);
        ok = trace_table_find(by_key, key, &number) ||
             add_track(tracks, by_key, (struct trace_track){.at = entry.at},
                       key);
        if (!ok)
            break;
        numbers[i] = (uint32_t)number;
        tracks->all[number].part.device_count++;
    }
    if (ok)
        place_devices(tracks, reader, numbers);
    free(numbers);
    return ok;
}

int trace_tracks_find(struct trace_tracks *tracks,
                      const struct trace_reader *reader)
{
    struct trace_table by_key = {0};
    bool ok;

    *tracks = (struct trace_tracks){.count = 0};
    ok = add_threads(tracks, &by_key, reader) &&
         add_devices(tracks, &by_key, reader);
    trace_table_free(&by_key);
    return ok ? 0 : -1;
}

void trace_tracks_free(struct trace_tracks *tracks)
{
    free(tracks->all);
    free(tracks->begun);
    *tracks = (struct trace_tracks){.count = 0};
}

/* tracks.c: splits a recording into its threads and the streams of its devices.
 */
#include <stdlib.h>

#include "reader.h"
#include "reader_parts.h"
#include "slices.h"

enum { NONE = UINT32_MAX };

/* A recording that is being split. */
struct splitting {
    const struct trace_reader *reader;
    struct trace_tracks *tracks;
    struct trace_table by_key;
};

static bool add_track(struct splitting *splitting, struct trace_track track,
                      uint64_t key)
{
    struct trace_tracks *tracks = splitting->tracks;

    if (!TRACE_ARRAY_RESERVE(tracks->all, tracks->capacity,
                             tracks->count + 1) ||
        !trace_table_set(&splitting->by_key, key, tracks->count))
        return false;
    tracks->all[tracks->count++] = track;
    return true;
}

static bool add_threads(struct splitting *splitting)
{
    const struct trace_reader *reader = splitting->reader;
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
        if (!add_track(splitting, track, trace_thread_key(track.thread)))
            return false;
    }
    return true;
}

/* Finds the track of an activity, NONE if that is damaged; false without
 * memory. */
static bool find_track(struct splitting *splitting,
                       const struct trace_begun *begun, uint32_t *number)
{
    const struct trace_reader *reader = splitting->reader;
    struct trace_entry entry;
    uintptr_t found = splitting->tracks->count;
    uint64_t key;

    *number = NONE;
    if (!trace_reader_entry(reader, begun->place,
                            &reader->threads[begun->thread], &entry))
        return true;
    key = trace_track_key(&entry);
    if (!trace_table_find(&splitting->by_key, key, &found) &&
        !add_track(splitting, (struct trace_track){.at = entry.at}, key))
        return false;
    *number = (uint32_t)found;
    splitting->tracks->all[found].part.device_count++;
    return true;
}

/* Copies the activities of each track to its range of `begun`. */
static void place_devices(struct splitting *splitting, const uint32_t *numbers)
{
    const struct trace_reader *reader = splitting->reader;
    struct trace_tracks *tracks = splitting->tracks;
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

static bool add_devices(struct splitting *splitting)
{
    const struct trace_reader *reader = splitting->reader;
    struct trace_tracks *tracks = splitting->tracks;
    size_t count = reader->device_count;
    uint32_t *numbers;
    bool ok;

    if (!count)
        return true;
    numbers = calloc(count, sizeof(*numbers));
    tracks->begun = calloc(count, sizeof(*tracks->begun));
    ok = numbers && tracks->begun;
    for (size_t i = 0; ok && i < count; i++)
        ok = find_track(splitting, &reader->devices[i], &numbers[i]);
    if (ok)
        place_devices(splitting, numbers);
    free(numbers);
    return ok;
}

int trace_tracks_find(struct trace_tracks *tracks,
                      const struct trace_reader *reader)
{
    struct splitting splitting = {.reader = reader, .tracks = tracks};
    bool ok;

    *tracks = (struct trace_tracks){.count = 0};
    ok = add_threads(&splitting) && add_devices(&splitting);
    trace_table_free(&splitting.by_key);
    return ok ? 0 : -1;
}

void trace_tracks_free(struct trace_tracks *tracks)
{
    free(tracks->all);
    free(tracks->begun);
    *tracks = (struct trace_tracks){.count = 0};
}

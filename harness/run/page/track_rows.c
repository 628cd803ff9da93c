/* track_rows.c: the tracks of threads and of the streams of devices, and the
 * row of each slice in its track.
 *
 * A slice is drawn below those that enclose it. Slices of a track may also
 * overlap without being nested, for example spans that another thread ends.
 */
#include <stdlib.h>
#include <string.h>

#include "harness/run/page/recorded.h"

const struct test_log_table_kind test_log_track_kind = {
    "tracks",
    10,
    {{"kind", TEST_LOG_NUMBER},
     {"name", TEST_LOG_NUMBER},
     {"pid", TEST_LOG_NUMBER},
     {"tid", TEST_LOG_NUMBER},
     {"process", TEST_LOG_NUMBER},
     {"device", TEST_LOG_NUMBER},
     {"context", TEST_LOG_NUMBER},
     {"stream", TEST_LOG_NUMBER},
     {"depth", TEST_LOG_NUMBER},
     {"overlapping", TEST_LOG_NUMBER}}};

/* ---- Threads ---- */

/* A span that no thread entered has a track beside its thread's. */
static struct test_log_track make_thread(struct test_log_recorded *recorded,
                                         const struct trace_entry *entry)
{
    const struct trace_thread *thread = entry->thread;
    struct test_log_strings *strings = &recorded->strings;
    struct test_log_track track = {
        .pid = thread->pid, .tid = thread->tid, .overlapping = entry->beside};
    struct trace_text *text = &recorded->text;

    track.kind = test_log_strings_of(strings, "thread");
    trace_text_clear(text);
    trace_text_printf(text, "%s%s", thread->name,
                      entry->beside ? " (overlapping)" : "");
    track.name = test_log_strings_add(strings, text->data, text->size);
    trace_text_clear(text);
    if (thread->pid != trace_reader_summary(recorded->reader).pid)
        trace_text_printf(text, "child %u", thread->pid);
    track.process = test_log_strings_add(strings, text->data, text->size);
    return track;
}

/* ---- Devices ---- */

uint32_t test_log_track_process(struct test_log_recorded *recorded,
                                uint32_t device)
{
    struct trace_text *text = &recorded->text;

    trace_text_clear(text);
    trace_name_device(text, recorded->reader, device);
    return test_log_strings_add(&recorded->strings, text->data, text->size);
}

static uint32_t stream_name(struct test_log_recorded *recorded,
                            const struct trace_activity_place *at)
{
    struct trace_text *text = &recorded->text;

    trace_text_clear(text);
    trace_name_stream(text, recorded->reader, at);
    return test_log_strings_add(&recorded->strings, text->data, text->size);
}

static struct test_log_track make_stream(struct test_log_recorded *recorded,
                                         const struct trace_activity_place *at)
{
    struct test_log_strings *strings = &recorded->strings;
    bool stream = at->on_device && at->stream;
    struct test_log_track track = {.device = at->device + 1,
                                   .context = at->context,
                                   .stream = stream ? at->stream : 0};

    track.kind = test_log_strings_of(strings, stream ? "stream" : "device");
    track.name = stream_name(recorded, at);
    track.process = test_log_track_process(recorded, at->device);
    return track;
}

/* ---- All tracks ---- */

static uint64_t key_of(const struct trace_entry *entry)
{
    const struct trace_activity_place *at = &entry->at;
    const uint32_t stream[] = {1, at->device, at->context,
                               at->on_device ? at->stream : UINT32_MAX};
    const uint32_t beside = entry->beside;

    return trace_is_on_thread(entry)
               ? trace_hash(trace_thread_key(entry->thread), &beside,
                            sizeof(beside))
               : trace_hash(TRACE_HASH, stream, sizeof(stream));
}

uint32_t test_log_track_of(struct test_log_recorded *recorded,
                           const struct trace_entry *entry)
{
    size_t count = recorded->track_count;
    size_t number = trace_slices_track(&recorded->slices, key_of(entry));

    if (number < count)
        return (uint32_t)number;
    if (number == SIZE_MAX ||
        !TRACE_ARRAY_RESERVE(recorded->tracks, recorded->track_capacity,
                             count + 1))
        return 0;
    recorded->tracks[recorded->track_count++] =
        trace_is_on_thread(entry) ? make_thread(recorded, entry)
                                  : make_stream(recorded, &entry->at);
    return (uint32_t)number;
}

uint64_t test_log_track_depth(struct test_log_recorded *recorded,
                              uint32_t number, uint64_t begin, uint64_t end)
{
    struct trace_slices *slices = &recorded->slices;
    const struct trace_slice *slice;
    struct test_log_track *track;
    size_t depth;

    if (number >= recorded->track_count)
        return 0;
    slice = trace_slices_begin(
        slices, number,
        (struct trace_slice){
            .begin = begin,
            .end = end,
            .number = test_log_table_next(&recorded->tables[TEST_LOG_SLICES])});
    if (!slice)
        return TEST_LOG_ROWS_MOST - 1;
    depth = trace_slices_row(slices, number, slice);
    track = &recorded->tracks[number];
    if (track->most <= depth)
        track->most = depth + 1;
    return depth;
}

void test_log_tracks_put(struct test_log_recorded *recorded)
{
    struct test_log_table *tracks = &recorded->tables[TEST_LOG_TRACKS];

    for (size_t i = test_log_table_next(tracks); i < recorded->track_count;
         i++) {
        const struct test_log_track *track = &recorded->tracks[i];

        TEST_LOG_ROW(tracks, track->kind, track->name, track->pid, track->tid,
                     track->process, track->device, track->context,
                     track->stream, track->most, track->overlapping);
    }
}

void test_log_tracks_free(struct test_log_recorded *recorded)
{
    trace_slices_free(&recorded->slices);
    free(recorded->tracks);
}

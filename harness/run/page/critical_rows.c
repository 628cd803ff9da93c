/* critical_rows.c: the critical path of a recording as a table. The page finds
 * the slices on it: the innermost ones on the path's track.
 */
#include <stdlib.h>

#include "harness/run/page/recorded.h"
#include "trace/read/critical.h"

/* The path of a recording takes 200 bytes of memory for each slice, and a slice
 * takes 32 bytes at least. */
enum { RECORDS_MOST = 8 << 20 /* bytes */ };

const struct test_log_table_kind test_log_critical_kind = {
    "critical", 2, {{"begin", TEST_LOG_DELTA}, {"track", TEST_LOG_NUMBER}}};

/* ---- Finding ---- */

static bool add_stay(struct test_log_path *path, uint64_t begin, uint32_t track)
{
    if (path->count && path->stays[path->count - 1].track == track)
        return true;
    if (!TRACE_ARRAY_RESERVE(path->stays, path->capacity, path->count + 1))
        return false;
    path->stays[path->count++] = (struct test_log_stay){begin, track};
    return true;
}

static bool take_tracks(struct test_log_path *path,
                        const struct trace_causes *slices)
{
    path->tracks = calloc(slices->track_count, sizeof(*path->tracks));
    if (!path->tracks)
        return false;
    path->track_count = slices->track_count;
    for (size_t i = 0; i < slices->track_count; i++) {
        const struct trace_cause_track *track = &slices->tracks[i];

        path->tracks[i].number =
            track->count ? slices->all[track->first].number : UINT32_MAX;
    }
    return true;
}

/* The last stay is the end. */
static void take(struct test_log_path *path, const struct trace_causes *slices,
                 const struct trace_critical *critical)
{
    bool ok = take_tracks(path, slices);

    for (size_t i = 0; ok && i < critical->count; i++)
        ok = add_stay(path, critical->pieces[i].begin,
                      critical->pieces[i].track);
    if (!ok || !add_stay(path, slices->end, TRACE_NO_SLICE))
        path->count = 0;
}

/* A path without other threads and devices stays on its only track. */
static bool is_alone(const struct trace_reader *reader)
{
    const struct trace_thread *thread = trace_reader_thread(reader, 0);

    return thread && thread->pid == thread->tid &&
           thread->pid == trace_reader_summary(reader).pid &&
           !trace_reader_thread(reader, 1) && !trace_reader_has_devices(reader);
}

static void stay_alone(struct test_log_path *path,
                       const struct trace_reader *reader, uint64_t zero)
{
    const struct trace_causes slices = trace_causes_none(reader, zero);

    path->tracks = calloc(1, sizeof(*path->tracks));
    path->track_count = path->tracks ? 1 : 0;
    if (!path->tracks || !add_stay(path, slices.begin, TRACE_MAIN_TRACK) ||
        !add_stay(path, slices.end, TRACE_NO_SLICE))
        path->count = 0;
}

void test_log_path_find(struct test_log_recorded *recorded, uint64_t zero)
{
    struct trace_causes slices;
    struct trace_critical critical;

    if (is_alone(recorded->reader)) {
        stay_alone(&recorded->path, recorded->reader, zero);
        return;
    }
    if (trace_reader_summary(recorded->reader).size > RECORDS_MOST)
        return;
    if (!trace_causes_read(&slices, recorded->reader, zero)) {
        if (!trace_critical_find(&critical, &slices))
            take(&recorded->path, &slices, &critical);
        trace_critical_free(&critical);
    }
    trace_causes_free(&slices);
}

/* ---- Rows ---- */

void test_log_path_note(struct test_log_recorded *recorded,
                        const struct trace_entry *entry)
{
    struct test_log_path *path = &recorded->path;
    uint32_t number = recorded->number++;

    for (size_t i = 0; i < path->track_count; i++)
        if (path->tracks[i].number == number && !entry->beside)
            path->tracks[i].row = test_log_track_of(recorded, entry) + 1;
}

void test_log_path_put(struct test_log_recorded *recorded)
{
    const struct test_log_path *path = &recorded->path;

    for (size_t i = 0; i < path->count; i++) {
        const struct test_log_stay *stay = &path->stays[i];

        TEST_LOG_ROW(&recorded->tables[TEST_LOG_CRITICAL], stay->begin,
                     stay->track < path->track_count
                         ? path->tracks[stay->track].row
                         : 0);
    }
}

void test_log_path_free(struct test_log_path *path)
{
    free(path->stays);
    free(path->tracks);
    *path = (struct test_log_path){.count = 0};
}

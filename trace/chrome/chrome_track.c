/* chrome_track.c: chooses the track of each slice.
 *
 * Viewers want the slices of one track nested, so a slice that overlaps its
 * neighbour goes to a track beside it.
 */
#include <stdlib.h>

#include "chrome_json.h"
#include "trace/read/reader_parts.h"

enum {
    BESIDE = 1 << 22, /* added to a tid; Linux keeps tids below it */
    BESIDE_MOST = 64, /* tracks of one row */
};

struct trace_chrome_track {
    uint32_t tid;   /* in the trace */
    uint64_t last;  /* when the last slice began */
    uint64_t *ends; /* of the enclosing slices */
    size_t depth, capacity;
};

/* The key has the thread's number, so that threads with the same tid have
 * separate tracks. The processes of devices are beyond all such numbers. */
static uint64_t key_of(const struct trace_exporter *export,
                       const struct trace_chrome_row *row, uint32_t tid)
{
    uint64_t thread = row->thread
                          ? (uint64_t)(row->thread - export->reader->threads)
                          : row->pid;

    return thread << 32 | tid;
}

/* Takes a tid for a track. Threads with the same ids, of which one ended before
 * the next began, must not have the same one. */
static bool take_tid(struct trace_exporter *export,
                     const struct trace_chrome_row *row, uint32_t *tid)
{
    uint64_t process = (uint64_t)row->pid << 32;
    uint32_t wanted = *tid;
    uintptr_t number;

    while (trace_table_find(&export->tids, process | *tid, &number)) {
        *tid += row->beside;
        if (*tid == wanted)
            wanted = ++*tid;
    }
    return trace_table_set(&export->tids, process | *tid, export->count);
}

void trace_chrome_named(struct trace_exporter *export,
                        const struct trace_chrome_row *row, uint32_t tid,
                        const char *title)
{
    trace_chrome_metadata(export, "thread_name", row->pid, tid, "name", title);
    if (row->entry)
        trace_chrome_index(export, "thread_sort_index", row->pid, tid,
                           row->tid);
}

static struct trace_chrome_track *track_of(struct trace_exporter *export,
                                           const struct trace_chrome_row *row,
                                           uint32_t wanted)
{
    uint64_t key = key_of(export, row, wanted);
    struct trace_text title = {0};
    uint32_t tid = wanted;
    uintptr_t number;

    if (trace_table_find(&export->track_table, key, &number))
        return &export->tracks[number];
    number = export->count;
    if (!TRACE_ARRAY_RESERVE(export->tracks, export->capacity,
                             export->count + 1) ||
        !trace_table_set(&export->track_table, key, number) ||
        !take_tid(export, row, &tid))
        return NULL;
    export->tracks[export->count++] = (struct trace_chrome_track){.tid = tid};
    row->title(export, row, wanted, &title);
    export->named(export, row, tid, title.data ? title.data : "?");
    trace_text_free(&title);
    return &export->tracks[number];
}

void trace_chrome_tracks_free(struct trace_exporter *export)
{
    for (size_t i = 0; i < export->count; i++)
        free(export->tracks[i].ends);
    free(export->tracks);
    trace_table_free(&export->track_table);
    trace_table_free(&export->tids);
}

/* ---- Nesting ---- */

/* Finds the depth at which a slice nests, after cutting off what it may.
 * Returns false if it does not fit. */
static bool fit(const struct trace_chrome_track *track,
                struct trace_chrome_extent *extent, size_t *depth)
{
    uint64_t most = extent->begin + extent->off_begin;

    if (extent->begin < track->last) { /* it was cut off */
        if (track->last > most || track->last > extent->end)
            return false;
        extent->begin = track->last;
    }
    for (*depth = track->depth; *depth; --*depth) {
        uint64_t around = track->ends[*depth - 1];

        if (around <= extent->begin)
            continue;
        if (extent->end <= around)
            break;

        uint64_t late = around - extent->begin, over = extent->end - around;
        bool shorten = over <= extent->off_end;

        if (around <= most && !(shorten && over < late)) {
            extent->begin = around;
        } else if (shorten) {
            extent->end = around;
            break;
        } else {
            return false;
        }
    }
    return true;
}

/* Nests a slice in the track, if it fits. */
static bool nest(struct trace_chrome_track *track,
                 struct trace_chrome_extent *extent)
{
    struct trace_chrome_extent fitted = *extent;
    size_t depth;

    if (!fit(track, &fitted, &depth))
        return false;
    if (!TRACE_ARRAY_RESERVE(track->ends, track->capacity, depth + 1))
        return false;
    track->ends[depth] = fitted.end;
    track->depth = depth + 1;
    track->last = fitted.begin;
    *extent = fitted;
    return true;
}

uint32_t trace_chrome_place(struct trace_exporter *export,
                            const struct trace_chrome_row *row,
                            struct trace_chrome_extent *extent)
{
    struct trace_chrome_track *track = NULL;
    uint32_t tid = row->tid;

    for (int i = 0; i < BESIDE_MOST; i++, tid += row->beside) {
        track = track_of(export, row, tid);
        if (!track || nest(track, extent))
            break;
    }
    return track ? track->tid : row->tid;
}

/* ---- Threads ---- */

static void title_thread(struct trace_exporter *export,
                         const struct trace_chrome_row *row, uint32_t tid,
                         struct trace_text *title)
{
    trace_name_thread(title, export->reader, row->thread);
    trace_text_string(title, tid >= BESIDE ? " (overlapping)" : "");
}

struct trace_chrome_row trace_chrome_thread(const struct trace_exporter *export,
                                            const struct trace_thread *thread)
{
    return (struct trace_chrome_row){.pid = export->pid,
                                     .tid = thread->tid & (BESIDE - 1),
                                     .beside = BESIDE,
                                     .thread = thread,
                                     .title = title_thread};
}

struct trace_chrome_row trace_chrome_span_row(
    const struct trace_exporter *export, const struct trace_entry *entry)
{
    struct trace_chrome_row row = trace_chrome_thread(export, entry->thread);

    if (entry->beside)
        row.tid += BESIDE;
    return row;
}

uint32_t trace_chrome_mark(struct trace_exporter *export,
                           const struct trace_thread *thread)
{
    struct trace_chrome_row row = trace_chrome_thread(export, thread);
    const struct trace_chrome_track *track = track_of(export, &row, row.tid);

    return track ? track->tid : row.tid;
}

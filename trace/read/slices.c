/* slices.c: nests slices in each other and finds how much of its time each one
 * leaves to itself.
 *
 * A slice is nested in the innermost slice of its track that has not ended when
 * it begins. The own times of a track add up to the time during which any slice
 * was open.
 */
#include "slices.h"

#include <stdlib.h>

/* ---- Entries ---- */

const struct trace_site *trace_slice_site(const struct trace_reader *reader,
                                          const struct trace_entry *entry)
{
    struct trace_entry span;

    if (entry->kind == TRACE_ENTRY_DEVICE ||
        (entry->kind == TRACE_ENTRY_SPAN && entry->entered && !entry->beside))
        return entry->site;
    if (entry->kind == TRACE_ENTRY_ENTER &&
        trace_reader_span(reader, entry->span, &span))
        return span.site;
    return NULL;
}

uint64_t trace_slice_end(const struct trace_entry *entry, uint64_t last)
{
    uint64_t end = entry->end == UINT64_MAX ? last : entry->end;

    return end > entry->time ? end : entry->time;
}

bool trace_is_on_thread(const struct trace_entry *entry)
{
    return entry->kind != TRACE_ENTRY_DEVICE ||
           (!entry->at.on_device && entry->at.thread);
}

uint64_t trace_track_key(const struct trace_entry *entry)
{
    const struct trace_activity_place *at = &entry->at;
    const uint32_t parts[] = {1, at->device, at->context,
                              at->on_device ? at->stream : 0};

    return trace_is_on_thread(entry)
               ? trace_thread_key(entry->thread)
               : trace_hash(TRACE_HASH, parts, sizeof(parts));
}

/* ---- Tracks ---- */

size_t trace_slices_track(struct trace_slices *slices, uint64_t key)
{
    uintptr_t number = slices->track_count;

    if (trace_table_find(&slices->by_key, key, &number))
        return number;
    if (!TRACE_ARRAY_RESERVE(slices->tracks, slices->track_capacity,
                             number + 1) ||
        !trace_table_set(&slices->by_key, key, number))
        return SIZE_MAX;
    slices->tracks[number] = (struct trace_slice_track){.depth = 0};
    slices->track_count++;
    return number;
}

static void end_slice(const struct trace_slices *slices,
                      const struct trace_slice *slice)
{
    if (slices->ended)
        slices->ended(slices->context, slice);
}

struct trace_slice *trace_slices_around(struct trace_slices *slices,
                                        size_t track, uint64_t time)
{
    struct trace_slice_track *on = &slices->tracks[track];

    for (; on->depth; on->depth--) {
        struct trace_slice *innermost = &on->open[on->depth - 1];

        if (innermost->end > time)
            return innermost;
        end_slice(slices, innermost);
    }
    return NULL;
}

/* Ends slices that lie below others, which outlast them. */
static void end_below(const struct trace_slices *slices,
                      struct trace_slice_track *on, uint64_t time)
{
    size_t kept = 0;

    for (size_t i = 0; i < on->depth; i++) {
        if (on->open[i].end > time)
            on->open[kept++] = on->open[i];
        else
            end_slice(slices, &on->open[i]);
    }
    on->depth = kept;
}

/* ---- Slices ---- */

/* Returns the row of a slice: above the innermost one, or the first in which
 * nothing is open. */
static size_t find_row(const struct trace_slices *slices,
                       const struct trace_slice_track *on,
                       const struct trace_slice *slice)
{
    size_t row = 0;

    if (slices->outlasting != TRACE_OUTLASTING_MOVES || !on->depth ||
        on->open[on->depth - 1].end >= slice->end)
        return on->depth;
    while (row < on->depth && on->open[row].end > slice->begin)
        row++;
    return row;
}

const struct trace_slice *trace_slices_begin(struct trace_slices *slices,
                                             size_t track,
                                             struct trace_slice slice)
{
    struct trace_slice_track *on = &slices->tracks[track];
    struct trace_slice *around =
        trace_slices_around(slices, track, slice.begin);
    size_t row;

    if (slices->outlasting == TRACE_OUTLASTING_ENDS && around &&
        slice.end > around->end)
        slice.end = around->end;
    slice.own = slice.end - slice.begin;
    if (around)
        around->own -=
            (slice.end < around->end ? slice.end : around->end) - slice.begin;
    if (slices->outlasting == TRACE_OUTLASTING_STAYS &&
        on->depth == on->capacity)
        end_below(slices, on, slice.begin);
    row = find_row(slices, on, &slice);
    if ((slices->rows_most && row >= slices->rows_most) ||
        !TRACE_ARRAY_RESERVE(on->open, on->capacity, row + 1))
        return NULL;
    if (row == on->depth)
        on->depth++;
    else
        end_slice(slices, &on->open[row]);
    on->open[row] = slice;
    return &on->open[row];
}

size_t trace_slices_row(const struct trace_slices *slices, size_t track,
                        const struct trace_slice *slice)
{
    return (size_t)(slice - slices->tracks[track].open);
}

void trace_slices_end(struct trace_slices *slices, size_t track,
                      uintptr_t number, uint64_t end)
{
    struct trace_slice_track *on = &slices->tracks[track];

    for (size_t i = on->depth; i-- > 0;)
        if (on->open[i].number == number) {
            on->open[i].end = end;
            return;
        }
}

void trace_slices_free(struct trace_slices *slices)
{
    for (size_t i = 0; i < slices->track_count; i++) {
        trace_slices_around(slices, i, UINT64_MAX);
        free(slices->tracks[i].open);
    }
    free(slices->tracks);
    trace_table_free(&slices->by_key);
    slices->tracks = NULL;
    slices->track_count = slices->track_capacity = 0;
}

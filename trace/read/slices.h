/* slices.h: the slices of tracks, as they begin and end. Private to the
 * project.
 *
 * A track is a thread, or a stream of a device. Its slices come in order of
 * their beginnings, one at a time, so that a recording which still grows can be
 * read in steps.
 */
#ifndef TRACE_SLICES_H
#define TRACE_SLICES_H

#include "trace/read/reader.h"

/* trace_slice_site returns the call site of the span that an entry enters, or
 * that of an activity; NULL if the entry is no slice. */
const struct trace_site *trace_slice_site(const struct trace_reader *,
                                          const struct trace_entry *);

/* trace_slice_end returns when the slice of an entry ends, in ns: at `last` if
 * it is open, and never before it begins. */
uint64_t trace_slice_end(const struct trace_entry *, uint64_t last);

/* trace_has_slice returns whether an entry is a span, an enter or an activity.
 */
static inline bool trace_has_slice(const struct trace_entry *entry)
{
    return entry->kind == TRACE_ENTRY_SPAN ||
           entry->kind == TRACE_ENTRY_ENTER ||
           entry->kind == TRACE_ENTRY_DEVICE;
}

/* trace_is_on_thread returns whether a slice is drawn on its thread, and not on
 * the stream of a device. trace_track_key returns a key of that thread or
 * stream. */
bool trace_is_on_thread(const struct trace_entry *);
uint64_t trace_track_key(const struct trace_entry *);

/* What a slice does that would outlast the one in which it begins. */
enum trace_outlasting {
    TRACE_OUTLASTING_STAYS, /* it lies above that one all the same */
    TRACE_OUTLASTING_ENDS,  /* it ends with that one */
    TRACE_OUTLASTING_MOVES, /* it goes to the first row that is free */
};

/* A slice that has begun. */
struct trace_slice {
    uint64_t begin, end; /* ns */
    uint64_t own;        /* ns that no slice in it takes */
    uintptr_t number;    /* the caller's */
};

/* The slices of a track that have not ended, by row. */
struct trace_slice_track {
    struct trace_slice *open;
    size_t depth, capacity;
};

/* The zero value has no tracks. */
struct trace_slices {
    enum trace_outlasting outlasting;
    size_t rows_most; /* of a track; 0: any number */
    /* ended is called with each slice when it has ended; NULL: nothing is. */
    void (*ended)(void *context, const struct trace_slice *);
    void *context;
    struct trace_slice_track *tracks;
    size_t track_count, track_capacity;
    struct trace_table by_key;
};

/* trace_slices_track returns the number of the track with a key. A new one gets
 * the next number, from 0 on. SIZE_MAX without memory. */
size_t trace_slices_track(struct trace_slices *, uint64_t key);

/* trace_slices_around ends the slices of a track that have ended by `time`, in
 * ns, and returns the innermost one that has not; NULL if there is none. It is
 * valid until the next call. */
struct trace_slice *trace_slices_around(struct trace_slices *, size_t track,
                                        uint64_t time);

/* trace_slices_begin begins a slice, whose time the one around it loses.
 * Returns it, valid until the next call; NULL without memory, or in the row
 * beyond `rows_most`. trace_slices_row returns its row in the track. */
const struct trace_slice *trace_slices_begin(struct trace_slices *,
                                             size_t track, struct trace_slice);
size_t trace_slices_row(const struct trace_slices *, size_t track,
                        const struct trace_slice *);

/* trace_slices_end sets when the open slice with a number ends, which was not
 * known when it began. */
void trace_slices_end(struct trace_slices *, size_t track, uintptr_t number,
                      uint64_t end);

/* trace_slices_free ends all slices and frees the tracks. */
void trace_slices_free(struct trace_slices *);

#endif

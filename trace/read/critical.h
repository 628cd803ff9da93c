/* critical.h: the slices of a recording, and its critical path. Private. */
#ifndef TRACE_CRITICAL_H
#define TRACE_CRITICAL_H

#include "trace/read/reader.h"

enum {
    TRACE_NO_SLICE = UINT32_MAX, /* no slice, or no track */
    TRACE_MAIN_TRACK = 0,        /* of the main thread, which runs the test */
};

/* ---- slice_causes.c ---- */

/* A span that a thread is in, or an activity of a device or its driver. */
struct trace_caused {
    const struct trace_site *site; /* the reader's */
    uint64_t begin, end;           /* ns; it ends with the slice around it */
    uint32_t track;
    uint32_t around; /* the slice in which it is nested, or TRACE_NO_SLICE */
    /* When another thread created its span or submitted its launch, and until
     * when that thread then prepared the slice. */
    uint32_t cause_track; /* TRACE_NO_SLICE: the cause is unknown */
    uint32_t number;      /* among spans, enters and activities, as read */
    uint64_t cause, prepared;
    uint32_t span, parent;                 /* places; 0: none */
    uint32_t context, stream, correlation; /* of an activity; 0: none */
    uint16_t activity;                     /* enum trace_activity_kind, or 0 */
    bool again;                            /* the span was entered before */
    bool on_device;
};

/* A thread, or a stream of a device; its slices come in order. */
struct trace_cause_track {
    char *name;
    size_t first, count;
};

struct trace_moment {
    uint32_t track;
    uint64_t time;
};

struct trace_causes {
    struct trace_phases phases;
    uint64_t zero;            /* ns: of the test's time */
    uint64_t begin, end;      /* ns: of the setup, and of the teardown */
    struct trace_caused *all; /* by track, then by begin */
    size_t count, capacity;
    struct trace_cause_track *tracks;
    size_t track_count, track_capacity;
    uint32_t *ends; /* slices by what may wait for them, then by end */
    struct trace_table group_of; /* hash of what may wait to its group */
    size_t *group_ends;          /* in `ends`, by group */
    size_t group_count;
};

/* trace_causes_none returns from when until when a test ran, without slices.
 * trace_causes_read reads a test with the result of trace_reader_zero. The
 * reader must stay open. -1 without memory; call trace_causes_free in any case.
 */
struct trace_causes trace_causes_none(const struct trace_reader *,
                                      uint64_t zero);
int trace_causes_read(struct trace_causes *, struct trace_reader *,
                      uint64_t zero);
void trace_causes_free(struct trace_causes *);

/* trace_causes_around finds the innermost slice of a track just before a
 * moment, or TRACE_NO_SLICE, and since when no slice nested in it has run. */
uint32_t trace_causes_around(const struct trace_causes *, struct trace_moment,
                             uint64_t *since);

/* trace_causes_waited moves `last` to the latest end, up to `now`, of a slice
 * on another track that `slice` may have waited for; with TRACE_NO_SLICE, of
 * any slice. It moves nothing if none has ended since `last`. */
void trace_causes_waited(const struct trace_causes *, uint32_t slice,
                         struct trace_moment now, struct trace_moment *last);

/* ---- critical.c ---- */

/* A piece of the path, which lies in one phase of the test. */
struct trace_piece {
    uint64_t begin, end; /* ns */
    uint32_t track;
    uint32_t slice;         /* TRACE_NO_SLICE: nothing was recorded */
    enum trace_phase phase; /* 0: unknown */
};

/* The pieces with the same name. */
struct trace_piece_sum {
    const char *name;       /* the slices'; NULL: nothing was recorded */
    enum trace_phase phase; /* without a name */
    uint64_t total;         /* ns */
    size_t pieces;
};

struct trace_critical {
    struct trace_piece *pieces; /* in order of time, without gaps */
    size_t count, capacity;
    struct trace_piece_sum *sums; /* of trace_critical_sum; largest first */
    size_t sum_count, sum_capacity;
    uint64_t covered;                   /* ns that slices explain */
    uint64_t phases[TRACE_PHASE_COUNT]; /* ns of each */
};

/* trace_critical_find walks back from the end of the test; -1 without memory.
 * Call trace_critical_free in any case. */
int trace_critical_find(struct trace_critical *, const struct trace_causes *);

/* trace_critical_sum adds up the pieces by name; -1 without memory. */
int trace_critical_sum(struct trace_critical *, const struct trace_causes *);
void trace_critical_free(struct trace_critical *);

/* trace_phase_label returns what a piece is called in which nothing was
 * recorded: "(setup)". */
const char *trace_phase_label(enum trace_phase);

#endif

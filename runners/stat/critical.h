/* critical.h: the slices of a recording, and its critical path. Private. */
#ifndef TESTLOG_CRITICAL_H
#define TESTLOG_CRITICAL_H

#include "runners/find/find.h"
#include "stat.h"

enum {
    SLICES_NONE = UINT32_MAX, /* no slice, or no track */
    SLICES_MAIN = 0,          /* the track of the main thread, which tests */
};

/* ---- slice_causes.c ---- */

/* A span that a thread is in, or an activity of a device or its driver. */
struct slice {
    const struct trace_site *site; /* the reader's */
    uint64_t begin, end;           /* ns; it ends with the slice around it */
    uint32_t track;
    uint32_t around; /* the slice in which it is nested, or SLICES_NONE */
    /* When another thread created its span or submitted its launch, and until
     * when that thread then prepared the slice. */
    uint32_t cause_track; /* SLICES_NONE: the cause is unknown */
    uint64_t cause, prepared;
    uint32_t span, parent;                 /* places; 0: none */
    uint32_t context, stream, correlation; /* of an activity; 0: none */
    uint16_t activity;                     /* enum trace_activity_kind, or 0 */
    bool again;                            /* the span was entered before */
    bool on_device;
};

/* A thread, or a stream of a device; its slices come in order. */
struct slice_track {
    char *name;
    size_t first, count;
};

/* Slices of one kind that have ended, in order. */
struct slice_end {
    uint64_t key, time;
    uint32_t slice;
};

struct slice_moment {
    uint32_t track;
    uint64_t time;
};

struct slices {
    uint64_t begin, end; /* ns: of the recording */
    struct slice *all;   /* by track, then by begin */
    size_t count, capacity;
    struct slice_track *tracks;
    size_t track_count, track_capacity;
    struct slice_end *ends;
    size_t end_count, end_capacity;
};

/* runners_slices_read reads a recording, whose reader must stay open; -1
 * without memory. Call runners_slices_free in any case. */
int runners_slices_read(struct slices *, struct trace_reader *);
void runners_slices_free(struct slices *);

/* runners_slices_around finds the innermost slice of a track just before a
 * moment, or SLICES_NONE, and since when no slice nested in it has run. */
uint32_t runners_slices_around(const struct slices *, struct slice_moment,
                               uint64_t *since);

/* runners_slices_waited moves `last` to the latest end, up to `now`, of a slice
 * on another track that `slice` may have waited for; with SLICES_NONE, of any
 * slice. It moves nothing if none has ended since `last`. */
void runners_slices_waited(const struct slices *, uint32_t slice,
                           struct slice_moment now, struct slice_moment *last);

/* ---- critical.c ---- */

/* A piece of the path. */
struct piece {
    uint64_t begin, end; /* ns */
    uint32_t track;
    uint32_t slice; /* SLICES_NONE: nothing was recorded */
};

/* The pieces with the same name. */
struct piece_sum {
    const char *name; /* the slices'; NULL: nothing was recorded */
    uint64_t total;   /* ns */
    size_t pieces;
};

struct critical {
    struct piece *pieces; /* in order of time, without gaps */
    size_t count, capacity;
    struct piece_sum *sums; /* the largest first */
    size_t sum_count, sum_capacity;
    uint64_t covered; /* ns that slices explain */
};

/* runners_critical_find walks back from the end of the recording; -1 without
 * memory. Call runners_critical_free in any case. */
int runners_critical_find(struct critical *, const struct slices *);
void runners_critical_free(struct critical *);

/* ---- critical_table.c ---- */

/* The paths of a run's tests: all pieces of a single one, otherwise a row for
 * each test. */
struct critical_table {
    enum runners_form form;
    bool several; /* tests */
    struct runners_table tests;
};

/* runners_critical_put prints the path of a test, or adds its row.
 * runners_critical_end prints the rest about the run at `where`, and frees the
 * table. */
void runners_critical_put(struct critical_table *, const struct recording *,
                          const struct slices *, const struct critical *);
void runners_critical_end(struct critical_table *, const char *where);

#endif

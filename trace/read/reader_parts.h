/* reader_parts.h: what the files of the reader share. Private to them. */
#ifndef TRACE_READER_PARTS_H
#define TRACE_READER_PARTS_H

#include "call_index.h"
#include "reader.h"
#include "trace/format.h"

/* ---- reader.c ---- */

struct trace_late {
    uint32_t span, place;
};

/* An activity of a device, by its beginning. */
struct trace_begun {
    uint64_t begin; /* ticks */
    uint32_t place;
    uint32_t thread; /* that recorded it */
};

/* Samples of a thread. */
struct trace_sample_block {
    uint32_t place, count;
    uint32_t thread; /* index in `threads` */
};

/* A range of a thread's records. */
struct trace_segment {
    uint32_t thread; /* index in `threads` */
    uint32_t place, end;
    uint64_t time; /* ticks of its first record */
    bool calls;    /* it has calls of functions */
};

struct trace_reader {
    int fd;        /* of the file, while opening; -1: none */
    uint64_t from; /* where in the file the recording begins */
    bool is_part;  /* others may follow it there */
    bool is_compact;
    size_t records; /* records found */
    const unsigned char *base;
    size_t size;   /* readable bytes */
    size_t mapped; /* bytes */
    size_t extra;  /* addresses behind these, for derived records */
    struct trace_derived *derived; /* NULL: nothing is */
    struct trace_header header;
    struct trace_site **sites; /* by id; NULL where there is none */
    size_t site_count;
    struct trace_thread *threads;
    size_t thread_count, thread_capacity;
    struct trace_table thread_table; /* by trace_thread_key */
    struct trace_segment *segments;  /* by thread, then time */
    size_t segment_count, segment_capacity;
    struct trace_late *late; /* by span, then time */
    size_t late_count, late_capacity;
    struct trace_begun *devices; /* in order */
    size_t device_count, device_capacity;
    uint32_t *metas; /* places, in the order of recording */
    size_t meta_count, meta_capacity;
    struct trace_table meta_table;      /* the last of each name, by name_key */
    uint64_t phases[TRACE_PHASE_COUNT]; /* ticks; 0: unknown */
    struct trace_call_index calls;
    struct trace_sample_block *samples;
    size_t sample_count, sample_capacity;
    uint32_t *crashes; /* places */
    size_t crash_count, crash_capacity;
    uint32_t *later; /* the span of each ENTER and CLOSE, in order */
    size_t later_count, later_capacity;
    struct trace_merge *merge;
    struct trace_follow *follow;     /* instead of `merge` */
    struct trace_gathered *gathered; /* fields.c */
    uint64_t last;                   /* ticks: the last known moment */
    uint64_t used;    /* the place behind the last finished record */
    uint64_t filled;  /* slots of finished records, without buffers */
    long double rate; /* ns of a tick; 0: ticks are ns */
    uint64_t scale;   /* the same as a fixed-point number; 0: none */
    uint64_t before;  /* ns from time zero to the origin */
};

/* ---- index.c ---- */

/* trace_reader_add_... take a record into a reader; false without memory.
 * trace_reader_add_thread finds the index of its thread. */
bool trace_reader_add_thread(struct trace_reader *, const struct trace_record *,
                             uint32_t *index);
bool trace_reader_add_site(struct trace_reader *, const struct trace_record *);
bool trace_reader_add_meta(struct trace_reader *, const struct trace_record *,
                           uint64_t place);
bool trace_reader_add_late(struct trace_reader *, const struct trace_record *,
                           uint64_t place);

void trace_reader_free_site(struct trace_site *);

/* trace_reader_add_caller adds the thread of an activity, which may have no
 * records of its own; `recorder` is the index of the one that recorded it. */
bool trace_reader_add_caller(struct trace_reader *, uint32_t recorder,
                             uint32_t tid);

/* trace_reader_sort_late sorts late fields, of which the first `sorted` are. */
bool trace_reader_sort_late(struct trace_reader *, size_t sorted);

/* trace_reader_rename_threads gives threads the names in the metadata. */
void trace_reader_rename_threads(struct trace_reader *);

/* trace_reader_past_gap skips a gap in the chunk for errors; with `first`, up
 * to the beginning of a range. */
uint64_t trace_reader_past_gap(const struct trace_reader *, uint64_t place,
                               bool first);

/* trace_reader_add_samples takes a SAMPLES record into a reader; false without
 * memory. */
bool trace_reader_add_samples(struct trace_reader *,
                              const struct trace_record *, uint64_t place,
                              uint32_t thread);

/* ---- derive.c ---- */

/* trace_derive_add takes a RAW or RAW_NOTE record of a thread into a reader;
 * false without memory. trace_derive then derives records from what was added
 * since, and from what the process has written since; `last` also from what
 * waits for more. A reader that follows a recording calls trace_derive_look
 * before it reads notes: records that are written later may need later notes.
 */
bool trace_derive_add(struct trace_reader *, const struct trace_record *,
                      uint64_t place, uint32_t thread);
bool trace_derive(struct trace_reader *, bool last);
void trace_derive_look(struct trace_reader *);

/* All zero: nothing is derived. */
struct trace_derived_records {
    uint64_t begin, end; /* places */
    uint64_t lost;       /* activities without space */
    uint32_t sites;      /* the last id of a call site */
    bool complete;       /* the layout is known, and nothing was lost */
};
struct trace_derived_records trace_derived_records(const struct trace_reader *);

/* trace_derived_was_given returns whether a reader that follows a recording has
 * derived a record before it found it in the file: the recording was settled
 * meanwhile. */
bool trace_derived_was_given(struct trace_reader *, const struct trace_record *,
                             uint64_t place);

/* trace_derived_buffer finds the bytes of the file that the records of a buffer
 * take; false if there are not so many buffers. */
bool trace_derived_buffer(const struct trace_reader *, size_t number,
                          uint64_t *from, uint64_t *to);
void trace_derive_free(struct trace_reader *);

/* ---- seal.c ---- */

/* trace_end_chunks lets nobody take chunks any more, and reads the header: a
 * surviving child may still record. -1 with errno. */
int trace_end_chunks(int fd, struct trace_header *);

/* ---- functions.c ---- */

/* trace_resolve_place names the function that has a place in a file, as the
 * resolver does; false if it is unknown. */
bool trace_resolve_place(const struct trace_module_file *, uint64_t place,
                         struct trace_function_name *);

/* ---- follow.c ---- */

/* trace_follow_begin reads the metadata at the beginning; false with errno. */
bool trace_follow_begin(struct trace_reader *);
bool trace_follow_next(struct trace_reader *, struct trace_entry *);
void trace_follow_free(struct trace_reader *);

/* ---- entry.c: records and entries ---- */

static inline uint64_t trace_place_limit(const struct trace_reader *reader)
{
    return reader->size / TRACE_SLOT_SIZE;
}

static inline const struct trace_record *trace_slot_at(
    const struct trace_reader *reader, uint64_t place)
{
    return (const struct trace_record *)reader->base + place;
}

/* trace_reader_bounded returns the record at `place` if it lies inside the
 * file, finished or not; otherwise NULL. */
static inline const struct trace_record *trace_reader_bounded(
    const struct trace_reader *reader, uint64_t place)
{
    uint64_t limit = trace_place_limit(reader);

    if (place < TRACE_FIRST_PLACE || place >= limit)
        return NULL;

    const struct trace_record *record = trace_slot_at(reader, place);

    if (!record->slots || record->slots > limit - place)
        return NULL;
    return record;
}

/* trace_values_in returns the values of a record: none if the file was
 * truncated meanwhile, because its slots then read as 0. */
static inline struct trace_values trace_values_in(
    const struct trace_record *record)
{
    const unsigned char *from = (const unsigned char *)(record + 1);
    uint32_t slots = record->slots;

    return (struct trace_values){
        from, from + (slots ? (size_t)(slots - 1) * TRACE_SLOT_SIZE : 0), NULL};
}

/* trace_reader_record returns the finished record at `place`, NULL if there is
 * none. */
const struct trace_record *trace_reader_record(const struct trace_reader *,
                                               uint32_t place);

/* trace_reader_entry describes a record; false if its kind has no entry. */
bool trace_reader_entry(const struct trace_reader *, uint32_t place,
                        const struct trace_thread *, struct trace_entry *);

/* trace_reader_find_thread finds the index of the thread that had two ids at a
 * time in ticks, by when threads began to record; false if there is none. */
bool trace_reader_find_thread(const struct trace_reader *, uint32_t pid,
                              uint32_t tid, uint64_t ticks, uint32_t *index);

/* trace_reader_activity reads the start of a DEVICE record; false at damage.
 * `values` are what follows. */
bool trace_reader_activity(const struct trace_record *,
                           struct trace_values *values,
                           struct trace_activity_place *);

/* trace_reader_set_end sets a later anchor for times. */
void trace_reader_set_end(struct trace_reader *, struct trace_anchor end);

/* trace_reader_time converts ticks to ns since the origin. */
uint64_t trace_reader_time(const struct trace_reader *, uint64_t ticks);

/* trace_begins_range returns whether a record may begin a range of a thread. */
static inline bool trace_begins_range(const struct trace_record *record)
{
    return record->time && record->kind == TRACE_KIND_THREAD;
}

/* ---- mapping.c ---- */

/* trace_reader_map maps a file, by a name as for trace_beneath; false with
 * errno. A recording that will be followed may still get what records are
 * derived from. trace_reader_use takes one that is mapped already.
 * trace_reader_leave_file closes the file and preserves errno. */
bool trace_reader_map(struct trace_reader *, int folder, const char *name,
                      bool follows);
void trace_reader_use(struct trace_reader *, const void *base, size_t size);
void trace_reader_leave_file(struct trace_reader *);
void trace_reader_unmap(struct trace_reader *);

/* trace_reader_read_header copies the header, and cuts `size` to what has space
 * on the disk. */
void trace_reader_read_header(struct trace_reader *);

/* trace_reader_drop releases the memory of a range of a large recording;
 * reading it again loads it again. */
void trace_reader_drop(const struct trace_reader *, uint64_t from, uint64_t to);

/* trace_reader_past_hole returns the first chunk from `place` on that has data:
 * a sparse file may be of any size. */
uint64_t trace_reader_past_hole(const struct trace_reader *, uint64_t place);

/* ---- fields.c ---- */

/* trace_fields_prepare allocates the cache of gathered fields once there are
 * late fields; trace_fields_free frees it. */
void trace_fields_prepare(struct trace_reader *);
void trace_fields_free(struct trace_reader *);

/* ---- merge_threads.c ---- */

/* Segments and calls by thread, then time, and activities in order. */
struct trace_part {
    const struct trace_segment *segments;
    size_t segment_count;
    const struct trace_call_block *blocks;
    size_t block_count;
    const struct trace_begun *devices;
    size_t device_count;
};

/* trace_merge_new merges a whole recording, trace_merge_part a part of it,
 * which the caller keeps. */
struct trace_merge *trace_merge_new(const struct trace_reader *);
struct trace_merge *trace_merge_part(const struct trace_reader *,
                                     const struct trace_part *);
void trace_merge_free(struct trace_merge *);
bool trace_merge_next(struct trace_merge *, struct trace_entry *);

/* ---- tracks.c ---- */

/* A thread or stream that has slices, and all that was recorded there. */
struct trace_track {
    const struct trace_thread *thread; /* NULL: a stream */
    struct trace_activity_place at;    /* a stream's device and context */
    struct trace_part part;
};

struct trace_tracks {
    struct trace_track *all; /* threads before streams */
    size_t count, capacity;
    struct trace_begun *begun; /* all activities, by track */
};

/* trace_tracks_find splits a recording; -1 without memory. Call
 * trace_tracks_free in any case. */
int trace_tracks_find(struct trace_tracks *, const struct trace_reader *);
void trace_tracks_free(struct trace_tracks *);

#endif

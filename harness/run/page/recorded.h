/* recorded.h: a test's recording as tables. Private. */
#ifndef TESTLOG_RECORDED_H
#define TESTLOG_RECORDED_H

#include <testlog/log.h>

#include "harness/run/page/columns.h"
#include "trace/read/slices.h"

/* ---- counts.c: how much a recording has ---- */

/* Durations are counted in eight buckets for each power of two. */
enum { TEST_LOG_BUCKETS = 62 * 8 };

/* A test's time in which any of its threads compiles, and the rest of the time
 * in which its first thread waits for a device. */
struct test_log_busy {
    uint64_t compiling, waiting;    /* ns, until `now` */
    uint64_t compiles_to, waits_to; /* ns: the end of what has begun */
    uint64_t now;                   /* ns: the last moment that counts */
    uint32_t first;                 /* the thread's id */
};

struct test_log_counts {
    struct test_log_busy busy;
    uint64_t spans, lines, slices, kernels, copies, compiles;
    uint64_t begin;                       /* ns: the first record */
    bool some;                            /* there is a record */
    uint64_t durations[TEST_LOG_BUCKETS]; /* of slices */
};

/* test_log_count_begin begins to count, test_log_count adds an entry in order
 * of time, test_log_count_end completes the counts. */
void test_log_count_begin(struct test_log_counts *,
                          const struct trace_reader *);
void test_log_count(struct test_log_counts *, const struct trace_entry *);
void test_log_count_end(struct test_log_counts *, const struct trace_reader *);

/* test_log_count_all counts a recording from its beginning; -1 with errno. */
int test_log_count_all(struct test_log_counts *, struct trace_reader *);

/* test_log_slice_duration returns ns, UINT64_MAX for an open slice. */
uint64_t test_log_slice_duration(const struct trace_entry *);

/* The parts of a large recording that are left out: slices that are shorter
 * than `width`, those without room, and the first lines. The zero value leaves
 * out nothing. */
struct test_log_cut {
    uint64_t width; /* ns */
    uint64_t room;
    uint64_t slices, lines; /* that are left out */
    uint64_t to_come;       /* of these lines */
};

/* test_log_cut_of returns what to leave out so that a page can draw the rest.
 */
struct test_log_cut test_log_cut_of(const struct test_log_counts *);

/* test_log_cut_slice and test_log_cut_line tell whether the next slice or line
 * is left out. */
bool test_log_cut_slice(struct test_log_cut *, uint64_t duration);
bool test_log_cut_line(struct test_log_cut *);

/* ---- recorded.c ---- */

#define TEST_LOG_RECORDED_TABLES(X)                                            \
    X(TRACKS, test_log_track_kind)                                             \
    X(SITES, test_log_site_kind)                                               \
    X(SLICES, test_log_slice_kind)                                             \
    X(SLICE_FIELDS, test_log_slice_field_kind)                                 \
    X(ENDED, test_log_ended_kind)                                              \
    X(ENDED_FIELDS, test_log_ended_field_kind)                                 \
    X(FLOWS, test_log_flow_kind)                                               \
    X(LINES, test_log_line_kind)                                               \
    X(LINE_FIELDS, test_log_line_field_kind)                                   \
    X(COUNTERS, test_log_counter_kind)                                         \
    X(CRITICAL, test_log_critical_kind)                                        \
    X(MEMORY, test_log_memory_kind)                                            \
    X(BLOCKING, test_log_blocking_kind)                                        \
    X(STACKS, test_log_stack_kind)                                             \
    X(SAMPLES, test_log_sample_kind)

enum test_log_recorded_table {
#define TEST_LOG_X(name, kind) TEST_LOG_##name,
    TEST_LOG_RECORDED_TABLES(TEST_LOG_X)
#undef TEST_LOG_X
        TEST_LOG_RECORDED_TABLE_COUNT
};

#define TEST_LOG_X(name, kind) extern const struct test_log_table_kind kind;
TEST_LOG_RECORDED_TABLES(TEST_LOG_X)
#undef TEST_LOG_X

/* A call site's row, and its name in the strings of a block. */
struct test_log_site_row {
    const struct trace_site *site; /* NULL: it has none yet */
    uint32_t row, name, block;
};

/* An end of an arrow between a call and the work that it launched. */
struct test_log_link {
    uint32_t correlation, row;
    bool on_device;
};

enum { TEST_LOG_ROWS_MOST = 512 /* of a track */ };

struct test_log_track {
    size_t most;                  /* rows of slices */
    uint32_t kind, name, process; /* strings */
    uint32_t pid, tid, device, context, stream;
    bool overlapping; /* spans that no thread entered */
};

/* A part of the critical path that stays on a track. */
struct test_log_stay {
    uint64_t begin; /* ns */
    uint32_t track; /* of the path */
};

/* A track of the path. */
struct test_log_path_track {
    uint32_t number; /* of one of its slices; UINT32_MAX: it has none */
    uint32_t row;    /* + 1; 0: unknown */
};

struct test_log_path {
    struct test_log_stay *stays;
    size_t count, capacity;
    struct test_log_path_track *tracks;
    size_t track_count;
};

struct test_log_recorded {
    struct trace_reader *reader;
    struct log_filter *shown;
    struct log_replay *replay; /* what LOG showed; NULL: everything */
    uint64_t end; /* ns: open slices end here; UINT64_MAX: it grows */
    struct test_log_counts counts;
    struct test_log_cut cut;
    uint32_t block; /* counts those of a recording that grows */
    struct test_log_strings strings;
    struct test_log_table tables[TEST_LOG_RECORDED_TABLE_COUNT];
    struct test_log_track *tracks;
    size_t track_count, track_capacity;
    struct trace_slices slices;      /* those that are open, by track */
    struct test_log_site_row *sites; /* by id */
    size_t site_count;
    struct trace_table spans;   /* from places to rows of slices */
    struct trace_table earlier; /* spans of which only these are known */
    uint32_t number;            /* of the next span, enter or activity */
    struct test_log_path path;
    struct test_log_link *links;
    size_t link_count, link_capacity;
    struct trace_table calls;   /* from correlations to rows of slices */
    struct trace_table sampled; /* struct test_log_sampled, by device */
    struct trace_text text;     /* for one value */
};

/* test_log_recorded_begin prepares the tables of a recording, whose lines
 * `filter` chose. test_log_recorded_add adds an entry in order of time.
 * test_log_recorded_block adds them as a block, with `members` as for
 * test_log_block_put, and with what is known of the whole recording.
 * test_log_recorded_continue empties the tables for the next block of a
 * recording that grows. test_log_recorded_free frees what they made. */
void test_log_recorded_begin(struct test_log_recorded *, struct trace_reader *,
                             const char *filter);
void test_log_recorded_add(struct test_log_recorded *,
                           const struct trace_entry *);
void test_log_recorded_block(struct trace_text *out, const char *members,
                             struct test_log_recorded *);
void test_log_recorded_continue(struct test_log_recorded *);
void test_log_recorded_free(struct test_log_recorded *);

/* test_log_recorded_put adds the block of a recording, with `members` as
 * test_log_block_put, and counts the recording. `filter` is the one that chose
 * its lines, `zero` the result of trace_reader_zero. -1 with errno. */
int test_log_recorded_put(struct trace_text *out, const char *members,
                          struct trace_reader *, const char *filter,
                          uint64_t zero, struct test_log_counts *);

/* ---- site_rows.c ---- */

/* test_log_recorded_site returns the row of a call site.
 * test_log_recorded_field adds a row of fields, unless the value is empty, and
 * returns how many it has added. */
struct test_log_site_row test_log_recorded_site(struct test_log_recorded *,
                                                const struct trace_site *);
size_t test_log_recorded_field(struct test_log_recorded *,
                               enum test_log_recorded_table, const char *name,
                               const struct trace_value *);

/* ---- track_rows.c: the rows on which slices are drawn ---- */

/* test_log_track_process returns the string that names a device.
 * test_log_track_of returns the track of an entry.
 * test_log_track_depth returns the row for a slice, below those that enclose
 * it. test_log_tracks_put adds the rows of tracks that have none yet. */
uint32_t test_log_track_process(struct test_log_recorded *, uint32_t device);
uint32_t test_log_track_of(struct test_log_recorded *,
                           const struct trace_entry *);
uint64_t test_log_track_depth(struct test_log_recorded *, uint32_t track,
                              uint64_t begin, uint64_t end);
void test_log_tracks_put(struct test_log_recorded *);
void test_log_tracks_free(struct test_log_recorded *);

/* ---- slice_rows.c ---- */

/* test_log_slices_add adds the slice of a span, of an enter or of an activity,
 * and returns its row + 1; 0 if it was left out. */
uint32_t test_log_slices_add(struct test_log_recorded *,
                             const struct trace_entry *);

/* For recordings that grow: test_log_slices_sum adds a slice for a sum of
 * spans. test_log_slices_end ends an open slice, which then has as many rows of
 * ENDED_FIELDS as given. test_log_slices_late adds those of a span, if some of
 * its fields were recorded late, and returns how many. test_log_slices_forget
 * forgets the rows of spans, except the last ones. */
void test_log_slices_sum(struct test_log_recorded *,
                         const struct trace_entry *);
void test_log_slices_end(struct test_log_recorded *, uint32_t track,
                         uint32_t row, uint64_t begin, uint64_t end,
                         size_t fields);
size_t test_log_slices_late(struct test_log_recorded *, uint32_t place);
void test_log_slices_forget(struct test_log_recorded *);

/* test_log_slices_around returns the row + 1 of the innermost span from `place`
 * outwards that has one, 0 if none has. */
uint32_t test_log_slices_around(const struct test_log_recorded *,
                                uint32_t place);

/* test_log_flows_put fills the table of arrows. */
void test_log_flows_put(struct test_log_recorded *);

/* ---- critical_rows.c ---- */

/* test_log_path_find finds the critical path of a recording, unless it is too
 * large. test_log_path_note notes the track of the next slice.
 * test_log_path_put fills the table. */
void test_log_path_find(struct test_log_recorded *, uint64_t zero);
void test_log_path_note(struct test_log_recorded *, const struct trace_entry *);
void test_log_path_put(struct test_log_recorded *);
void test_log_path_free(struct test_log_path *);

/* ---- counter_rows.c ---- */

/* test_log_counters_add adds the values of counters that an entry has.
 * test_log_counters_put adds the last ones of devices. */
void test_log_counters_add(struct test_log_recorded *,
                           const struct trace_entry *);
void test_log_counters_put(struct test_log_recorded *);
void test_log_counters_free(struct test_log_recorded *);

/* ---- memory_rows.c ---- */

/* test_log_memory_add adds an allocation, or a release that did not fail, whose
 * slice has the row + 1; 0: it has none. */
void test_log_memory_add(struct test_log_recorded *, const struct trace_entry *,
                         uint32_t slice);

/* ---- blocking_rows.c ---- */

/* test_log_blocking_put fills the table of what made the host wait; it reads
 * the recording from the start. */
void test_log_blocking_put(struct test_log_recorded *);

/* ---- sample_rows.c ---- */

/* test_log_samples_put fills the tables of stacks and samples, and may add
 * tracks. */
void test_log_samples_put(struct test_log_recorded *);

/* ---- lines.c ---- */

/* test_log_lines_add adds the line of an event, or of an activity whose slice
 * has the row + 1, and the value of a counter. */
void test_log_lines_add(struct test_log_recorded *, const struct trace_entry *,
                        uint32_t slice, bool shown);

#endif

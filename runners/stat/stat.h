/* stat.h: what the files of `testlog stat` share. Private. */
#ifndef TESTLOG_STAT_H
#define TESTLOG_STAT_H

#include "harness/run/model/usage.h"
#include "runners/runs/find.h"
#include "runners/table/table_printer.h"
#include "trace/read/slices.h"

/* ---- percentiles.c: how durations are spread ---- */

/* Half a bucket is at most 1/256 of a duration. */
enum { RUNNERS_PERCENTILES_STEPS = 7 };

/* Durations of one bucket. */
struct percentiles_bucket {
    size_t number;
    uint64_t count;
};

/* Its size depends on how different the durations are, not on their number. The
 * zero value has none. */
struct percentiles {
    uint64_t count, total, least, most;
    double mean, squares;               /* of the distances to the mean */
    struct percentiles_bucket *buckets; /* by number */
    size_t bucket_count, capacity;
};

/* runners_percentiles_add adds a duration; -1 without memory. */
int runners_percentiles_add(struct percentiles *, uint64_t duration);

/* runners_percentiles_quantile estimates the duration that a share of all, such
 * as 0.5, does not exceed; it is at most 0.4 % off.
 * runners_percentiles_deviation returns the standard deviation of the
 * population. */
uint64_t runners_percentiles_quantile(const struct percentiles *, double share);
double runners_percentiles_deviation(const struct percentiles *);
void runners_percentiles_free(struct percentiles *);

/* ---- time_range.c: parts of a test's time ---- */

/* A part of a test's time, in ns from its zero. The zero value is all of it. */
struct stat_range {
    bool starts, ends; /* it has a limit */
    int64_t from, to;
};

/* The same of a recording, in ns of it. */
struct stat_window {
    uint64_t from, to;
};

/* runners_read_time parses a flag's value, such as 1.2ms. -1 if it is no time,
 * which it has reported then. */
int runners_read_time(const char *flag, const char *text, int64_t *ns);

/* runners_window_of returns the window of a range in a recording with a zero.
 * runners_window_clip clips a slice to it; false if nothing is left. A slice of
 * 0 ns is in the window that begins with it, but not in one that ends there. */
struct stat_window runners_window_of(const struct stat_range *, uint64_t zero);
bool runners_window_clip(struct stat_window, uint64_t *begin, uint64_t *end);

/* ---- sums_by_name.c: sums by name ---- */

/* X(NAME, word): what is summed up; STAT_TABLES adds the tree of spans. */
#define STAT_BY(X)                                                             \
    X(SPAN, "span")                                                            \
    X(KERNEL, "kernel")                                                        \
    X(TARGET, "target")                                                        \
    X(TEST, "test")

#define STAT_TABLES(X)                                                         \
    STAT_BY(X)                                                                 \
    X(TREE, "tree")

enum stat_table {
#define STAT_X(name, word) STAT_##name,
    STAT_TABLES(STAT_X)
#undef STAT_X
        STAT_TABLE_COUNT
};

/* X(NAME, field): what sets launches of a kernel apart. */
#define STAT_SHAPES(X)                                                         \
    X(GRID, "count")                                                           \
    X(BLOCK, "block")                                                          \
    X(REGISTERS, "registers")                                                  \
    X(SHARED, "shared")                                                        \
    X(OCCUPANCY, "occupancy")

enum stat_text {
    STAT_NAME,
#define STAT_X(name, field) STAT_##name,
    STAT_SHAPES(STAT_X)
#undef STAT_X
        STAT_TEXTS,
    STAT_PROGRAM = STAT_NAME + 1, /* of a test */
};

struct sum {
    char *texts[STAT_TEXTS]; /* NULL: none */
    struct percentiles durations;
    struct percentiles run; /* of them, those since the caller freed it */
    uint64_t meters[TRACE_METER_COUNT]; /* of spans; 0: nothing was recorded */
    uint64_t self; /* ns that nested slices of the same thread don't explain */
    uint64_t once; /* ns in which threads were in spans of that name */
    uint64_t lines[TRACE_LEVEL_TRACE + 1]; /* by level; OFF: all */
    uint64_t spans, kernels;
    struct test_log_usage usage; /* of a test; peak 0: unknown */
    /* TREE: numbers start at 1, and a root has parent 0. */
    size_t number, parent;
    unsigned depth;
};

struct sums {
    enum stat_table table;
    bool apart;   /* each sum keeps `run` */
    bool metered; /* durations are what `meter` showed */
    enum trace_meter meter;
    struct stat_range range; /* of each test that is summed up */
    struct noted_times noted;
    struct sum *all;
    size_t count, capacity;
    struct trace_table by_key; /* hash of parent and texts to index */
    struct trace_table until;  /* ns: where a track's slices of a sum end */
    const char **path;         /* TREE: names of spans, the innermost first */
    size_t path_capacity;
    struct { /* spans whose sums were found last, by their ids */
        uint32_t span;
        size_t sum;
    } known[256];
    struct trace_slices slices; /* of the current recording */
    uint64_t end;               /* ns: its open slices end here */
    struct stat_window window;
};

/* runners_sums_add adds a recording; -1 without memory. */
int runners_sums_add(struct sums *, const struct recording *,
                     struct trace_reader *);

/* runners_sums_like returns the sum of the same name, or NULL;
 * runners_sums_below does so below the sum of a number in a tree. Both work
 * before the sums are sorted. */
const struct sum *runners_sums_like(const struct sums *, const struct sum *);
const struct sum *runners_sums_below(const struct sums *, size_t parent,
                                     const struct sum *);

/* runners_sums_sort sorts the largest first; in a tree, each sum is followed by
 * those below it. No more can be added then. -1 without memory. */
int runners_sums_sort(struct sums *);
void runners_sums_free(struct sums *);

/* ---- test_usage.c: what tests used ---- */

/* runners_usage_read adds what the tests of the run at `where` used to their
 * sums, which are not sorted yet. */
void runners_usage_read(struct sums *, const char *where);

/* ---- stat_table.c: sums as a table ---- */

/* runners_stat_put prints the sums of the run at `where`.
 * runners_stat_print_json prints rows as one JSON object about a run, and
 * deletes them; NULL: there are none. */
void runners_stat_put(const struct sums *, enum runners_form,
                      const char *where);
void runners_stat_print_json(const char *where, const char *by,
                             struct cJSON *rows);

#endif

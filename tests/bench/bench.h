/* bench.h: declarations of the benchmark's files. */
#ifndef TESTS_BENCH_BENCH_H
#define TESTS_BENCH_BENCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "tests/bench/peers/peer.h"

enum {
    BENCH_TIMES_MAX = 400,
    BENCH_SLOTS = 16 * 1024, /* of the floor's ring */
    BENCH_BATCH = 500,       /* spans or events that are measured at once, */
    BENCH_BATCHES = 400,     /* how often */
    BENCH_OF_THREAD = 8192,  /* spans of one of two threads, */
    BENCH_CHUNKS = 16,       /* and the chunks that hold them twice */
};

/* One way to do the work of a group. Ratios are to the first row of the group,
 * unless `against` names another. */
struct bench_row {
    const char *group, *name;
    double (*run)(size_t count); /* ns each; NULL: a peer's row */
    const char *peer, *work;     /* its command and its work */
    size_t count;
    int times;
    double budget;       /* the largest allowed ratio; 0: none */
    const char *against; /* another row of the group */
    bool counted;        /* callgrind can count its instructions */
};

/* The measurements of a row. Neighbors on a machine only ever add time, so the
 * least of many short measurements can be reproduced, and the median cannot. */
struct bench_result {
    bool there; /* false: not installed, or failed */
    double ns[BENCH_TIMES_MAX];
    int times;
    double least, ratio;         /* ratio 0: nothing to compare with */
    double median, median_ratio; /* of turns */
    double instructions;         /* 0: not counted */
};

/* A size, measured once. */
struct bench_size {
    const char *name, *unit;
    double value, budget; /* value below 0: not measured */
};

extern const struct bench_row bench_rows[];
extern const size_t bench_row_count;

/* The program's settings. */
extern struct bench_settings {
    const char *directory; /* where its files go */
    const char *programs;  /* where the peers and the suites are */
    bool quick;            /* little work, once */
    bool alone;            /* without peers */
    bool instructions;
    const char *group; /* only groups with this text; NULL: all */
    size_t events;     /* the number of rendered events */
} bench_settings;

/* ---- main.c ---- */

/* bench_stop prints errno's message and ends the program. */
__attribute__((noreturn)) void bench_stop(const char *what);

/* bench_path returns the path of this run's file. */
const char *bench_path(void);

/* bench_pin lets the process and its children run on one processor, or on
 * all. */
void bench_pin(bool one);

/* ---- floor.c: references ---- */

double bench_load_and_branch(size_t count);
double bench_floor(size_t count);
double bench_floor_fresh(size_t count);
double bench_two_fresh(size_t count);
double bench_clock_gettime(size_t count);
double bench_make_file(size_t count);
double bench_write_null(size_t count);
double bench_write_file(size_t count);
double bench_snprintf_null(size_t count);
double bench_snprintf_file(size_t count);

/* bench_store_spans is the floor, in a private ring; bench_ring maps one. */
struct trace_record;
void bench_store_spans(struct trace_record *ring, size_t count);
struct trace_record *bench_ring(void);

/* ---- record.c: ours, recording ---- */

double bench_off(size_t count);
double bench_outside(size_t count);
double bench_span(size_t count);
double bench_span_fields(size_t count);
double bench_span_late(size_t count);
double bench_event(size_t count);
double bench_line(size_t count);
double bench_span_lost(size_t count);
double bench_line_lost(size_t count);
double bench_span_fresh(size_t count);
double bench_start_and_end(size_t count);
double bench_no_gpu(size_t count);
double bench_set_filter(size_t count);

double bench_call(size_t count);
double bench_call_fresh(size_t count);
double bench_call_off(size_t count);
double bench_call_unwanted(size_t count);
double bench_call_short(size_t count);
double bench_call_lost(size_t count);

/* bench_calls calls an empty function that is recorded. */
double bench_calls(size_t count);

double bench_block(size_t count);
double bench_block_outside(size_t count);
double bench_block_off(size_t count);

/* bench_blocks runs blocks of lines that are recorded. */
double bench_blocks(size_t count);

/* bench_begin begins a recording; bench_begin_warm begins one whose chunks have
 * been touched, as bench_warm_up does. Both use the subscriber that wants
 * everything but level TRACE. bench_end ends the recording and frees its
 * memory. */
void bench_begin(uint64_t limit);
void bench_begin_warm(size_t chunks);
void bench_warm_up(size_t chunks);
void bench_end(void);

/* ---- threads.c ---- */

double bench_floor_two(size_t count);
double bench_span_two(size_t count);
double bench_floor_many(size_t count);
double bench_span_many(size_t count);

/* ---- live.c ---- */

double bench_live_null(size_t count);
double bench_live_seldom(size_t count);
double bench_live_file(size_t count);
double bench_live_fields(size_t count);

/* ---- render.c ---- */

/* bench_free_events frees the recording to render, which is made on first
 * use. */
void bench_free_events(void);
double bench_chrome(size_t count);
double bench_cjson(size_t count);
double bench_full(size_t count);
double bench_json(size_t count);
double bench_fprintf(size_t count);
double bench_snprintf(size_t count);
double bench_message(size_t count);

/* ---- sizes.c ---- */

enum { BENCH_SIZES_MAX = 16 };

/* bench_measure_sizes measures the sizes in bytes and returns their number. */
size_t bench_measure_sizes(struct bench_size *sizes);

/* bench_export writes the rendered recording as Chrome trace events. */
void bench_export(FILE *stream);

/* ---- suite.c ---- */

double bench_suite_plain(size_t count);
double bench_suite_logged(size_t count);

/* bench_suite_end removes the suites' runs together at the end: ext4 without a
 * journal skips recently freed inodes one by one for minutes, so that removing
 * a run would slow down the next. */
void bench_suite_end(void);

/* ---- merge.c: a row's count is that of tests ---- */

double bench_link_runs(size_t tests);
double bench_merge(size_t tests);

/* bench_merge_memory returns the peak memory of the last merge, in MiB.
 * bench_merge_end removes its runs. */
double bench_merge_memory(void);
void bench_merge_end(void);

/* ---- peers.c ---- */

/* bench_ask_peer returns the nanoseconds that a peer's work took, below 0 if
 * the peer is not available. */
double bench_ask_peer(const char *command, const char *work, size_t count);
void bench_end_peers(void);

/* bench_count_instructions counts the instructions of one unit of work with
 * callgrind; 0 if it cannot. */
double bench_count_instructions(const struct bench_row *);

/* ---- table.c ---- */

void bench_print_head(void);
void bench_print_row(const struct bench_row *, const struct bench_result *,
                     bool first);
void bench_print_size(const struct bench_size *);

/* bench_write_json writes all measurements. */
void bench_write_json(const char *path, const struct bench_result *results,
                      const struct bench_size *sizes, size_t size_count);

#endif

/* folded.h: folded stacks, which flamegraph.pl and inferno draw as a flame
 * graph. Private to the project.
 *
 * Each line is a path of frames and its own time: "main 7;outer;inner 1200".
 * "The Flame Graph", B. Gregg, describes the format.
 */
#ifndef TRACE_FOLDED_H
#define TRACE_FOLDED_H

#include "trace/read/reader.h"

struct trace_fold;

/* Deeper frames are summed up in the last one: each line has its whole path. */
enum { TRACE_FOLDED_DEPTH = 256 };

/* The zero value is empty. */
struct trace_folded {
    struct trace_fold *folds; /* parents come before their children */
    size_t count, capacity;
    struct trace_table by_path;
    bool cut;    /* a path was too deep */
    bool failed; /* memory was exhausted */
};

/* trace_folded_add sums up the time of each path of a recording: a thread or
 * the stream of a device, and its nested spans and activities. With a `name`,
 * that is the first frame. Returns -1 if the recording cannot be read or memory
 * is exhausted. */
int trace_folded_add(struct trace_folded *, struct trace_reader *,
                     const char *name);

/* trace_folded_add_samples does the same with the samples of a recording, whose
 * paths are the functions that a thread was in. */
int trace_folded_add_samples(struct trace_folded *, struct trace_reader *,
                             const char *name);

/* trace_folded_put writes each path that took time, in ns. Returns -1 if memory
 * is exhausted; other errors are the stream's. */
int trace_folded_put(const struct trace_folded *, FILE *);
void trace_folded_free(struct trace_folded *);

#endif

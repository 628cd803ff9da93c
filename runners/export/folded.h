/* folded.h: folded stacks, which flamegraph.pl and inferno draw as a flame
 * graph. Private to the project.
 *
 * Each line is a path of frames and its own time: "main 7;outer;inner 1200".
 * "The Flame Graph", B. Gregg, describes the format.
 */
#ifndef RUNNERS_FOLDED_H
#define RUNNERS_FOLDED_H

#include "trace/read/reader.h"

struct runners_fold;

/* Deeper frames are summed up in the last one: each line has its whole path. */
enum { RUNNERS_FOLDED_DEPTH = 256 };

/* The zero value is empty. */
struct runners_folded {
    struct runners_fold *folds; /* parents come before their children */
    size_t count, capacity;
    struct trace_table by_path;
    bool cut;    /* a path was too deep */
    bool failed; /* memory was exhausted */
};

/* runners_folded_add sums up the time of each path of a recording: a thread or
 * the stream of a device, and its nested spans and activities. With a `name`,
 * that is the first frame. Returns -1 if the recording cannot be read or memory
 * is exhausted. */
int runners_folded_add(struct runners_folded *, struct trace_reader *,
                       const char *name);

/* runners_folded_add_samples does the same with the samples of a recording,
 * whose paths are the functions that a thread was in. */
int runners_folded_add_samples(struct runners_folded *, struct trace_reader *,
                               const char *name);

/* runners_folded_put writes each path that took time, in ns. Returns -1 if
 * memory is exhausted; other errors are the stream's. */
int runners_folded_put(const struct runners_folded *, FILE *);
void runners_folded_free(struct runners_folded *);

#endif

/* speedscope.h: a trace in the format of speedscope, JSON. Private to the
 * project.
 *
 * Each thread, and each stream of a device, is a profile: it opens and closes
 * frames, which all profiles share. "Importing from custom sources" in
 * speedscope's wiki and its file-format-spec.ts describe the format.
 */
#ifndef RUNNERS_SPEEDSCOPE_H
#define RUNNERS_SPEEDSCOPE_H

#include "trace/read/reader.h"

struct runners_speedscope {
    FILE *stream;
    size_t profiles;            /* so far */
    struct trace_text frames;   /* as JSON; they follow the profiles */
    struct trace_table numbers; /* of frames, by name and place */
};

/* runners_speedscope_begin begins a file called `name`. Its errors, and those
 * of the functions below, are the stream's. */
void runners_speedscope_begin(struct runners_speedscope *, FILE *,
                              const char *name);

/* runners_speedscope_add streams the profiles of a recording. With a `name`,
 * theirs begin with it. Memory does not grow with the number of spans. Returns
 * -1 with errno if memory is exhausted. */
int runners_speedscope_add(struct runners_speedscope *, struct trace_reader *,
                           const char *name);

/* runners_speedscope_add_samples does the same with the samples of a recording:
 * a profile is a thread, and its weights are processor time. */
int runners_speedscope_add_samples(struct runners_speedscope *,
                                   struct trace_reader *, const char *name);

/* runners_speedscope_end ends the file; -1 with errno if memory was exhausted.
 */
int runners_speedscope_end(struct runners_speedscope *);

#endif

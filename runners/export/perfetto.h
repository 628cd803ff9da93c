/* perfetto.h: a trace in Perfetto's own format, protobuf. Private to the
 * project.
 *
 * Tracks are nested: the run, its tests, their threads and devices, and the
 * streams of these. "Synthetic Track Event", perfetto.dev/docs/reference,
 * describes the format.
 */
#ifndef RUNNERS_PERFETTO_H
#define RUNNERS_PERFETTO_H

#include "trace/chrome/chrome.h"
#include "trace/read/reader.h"

struct runners_perfetto {
    FILE *stream;
    uint32_t recordings; /* so far */
    /* The test of the recording that is added next; NULL: it is of none. */
    const struct trace_chrome_test *test;
};

/* runners_perfetto_begin begins the trace of a run; errors are the stream's. */
void runners_perfetto_begin(struct runners_perfetto *, FILE *, const char *run);

/* runners_perfetto_add streams a recording, whose track has that name. Its
 * memory does not grow with the number of events. Returns -1 with errno if the
 * recording cannot be read or memory is exhausted. */
int runners_perfetto_add(struct runners_perfetto *, struct trace_reader *,
                         const char *name);

#endif

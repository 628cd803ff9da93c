/* chrome.h: a trace in Chrome's trace event format. Private to the project. */
#ifndef TRACE_CHROME_H
#define TRACE_CHROME_H

#include <stdio.h>

#include "trace/read/reader.h"

#ifdef __cplusplus
extern "C" {
#endif

/* A test, as a trace shows it. Texts are the caller's. */
struct trace_chrome_test {
    const char *name;    /* "suite/test" */
    const char *outcome; /* NULL: unknown */
    const char *reason;  /* NULL: none */
    const char *stacks;  /* lines; NULL: none */
    const char *file;    /* NULL: unknown */
    unsigned line;
    uint64_t duration;   /* ns, as it was measured */
    uint64_t begin, end; /* ns since the run's start; for workers */
    const char *host;    /* NULL: unknown, or the only one */
    size_t host_number;  /* from 0 on */
};

/* A trace in Chrome's trace event format, JSON object form: "Trace Event
 * Format", by N. Duca and D. Sinclair. It has one or more recordings, each with
 * a process track of its own. */
struct trace_chrome {
    FILE *stream;
    bool some;    /* an event has been written */
    bool several; /* set before the first: several recordings follow */
    /* The test of the recording that is added next; NULL: it is of none. */
    const struct trace_chrome_test *test;
    uint32_t recordings;
    uint64_t start;            /* the first time zero, ns since 1970 */
    uint64_t flows;            /* recordings so far */
    struct trace_text devices; /* the first one's metadata of devices... */
    struct trace_text state;   /* ...and whether it has any */
};

void trace_chrome_begin(struct trace_chrome *, FILE *);

/* trace_chrome_add streams a recording as process `pid` called `name`. */
int trace_chrome_add(struct trace_chrome *, struct trace_reader *, uint32_t pid,
                     const char *name);

/* trace_chrome_add_counts adds only one slice for a recording, which counts its
 * spans, events, activities of devices, and threads; `hint` says how to see all
 * of it. */
int trace_chrome_add_counts(struct trace_chrome *, struct trace_reader *,
                            uint32_t pid, const char *name, const char *hint);

/* trace_chrome_workers draws when tests ran, in a row for each worker that had
 * to be there, and a process for each host; it sorts the tests. */
void trace_chrome_workers(struct trace_chrome *, struct trace_chrome_test *,
                          size_t count);

/* trace_chrome_end writes the metadata: a NULL-terminated list of names and
 * values, all as strings; time zero; and, for a single recording, its metadata
 * of devices. */
void trace_chrome_end(struct trace_chrome *, const char *const *metadata);

#ifdef __cplusplus
}
#endif

#endif

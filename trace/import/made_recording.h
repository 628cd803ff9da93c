/* made_recording.h: writes recordings of what another tool has recorded.
 * Private to the project.
 *
 * Times are in ns of a clock of the other tool's; a recording has them as they
 * are, and its time zero with them.
 */
#ifndef TRACE_IMPORT_H
#define TRACE_IMPORT_H

#include <testlog/trace.h>

#include "trace/base/containers.h"
#include "trace/format.h"

/* A recording in memory. The zero value has no records. */
struct trace_import {
    struct trace_record *slots; /* behind the header */
    size_t count, capacity;
    struct trace_table sites; /* ids, by a hash of the name */
    uint32_t site_count;
    uint32_t pid, tid;    /* of the thread that records come from */
    const char *thread;   /* its name */
    uint64_t first, last; /* times */
    bool failed;          /* without memory, or space in the format */
};

/* trace_import_thread begins the records of a thread. `name` must stay valid
 * until the next call. */
void trace_import_thread(struct trace_import *, uint32_t pid, uint32_t tid,
                         const char *name);

/* trace_import_begin begins a span that lies in `parent`, 0: in none. It
 * returns its place, 0 without memory. trace_import_end ends it. */
uint32_t trace_import_begin(struct trace_import *, const char *name,
                            uint64_t time, uint32_t parent);
void trace_import_end(struct trace_import *, uint32_t place, uint64_t time);

/* trace_import_meta adds a pair of metadata. */
void trace_import_meta(struct trace_import *, const char *name,
                       const char *value);

/* trace_import_write writes the recording of a process that ran from `first` to
 * `last`, with room for `samples` bytes of samples. -1 with errno. */
int trace_import_write(const struct trace_import *, const char *path,
                       uint32_t pid, uint64_t samples);
void trace_import_free(struct trace_import *);

#endif

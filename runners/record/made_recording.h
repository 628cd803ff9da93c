/* made_recording.h: writes recordings of what another tool has recorded.
 * Private to the project.
 *
 * Times are in ns of a clock of the other tool's; a recording has them as they
 * are, and its time zero with them.
 */
#ifndef RUNNERS_MADE_RECORDING_H
#define RUNNERS_MADE_RECORDING_H

#include <testlog/trace.h>

#include "trace/base/containers.h"
#include "trace/format.h"

/* A recording in memory. The zero value has no records. */
struct runners_made_recording {
    struct trace_record *slots; /* behind the header */
    size_t count, capacity;
    struct trace_table sites; /* ids, by a hash of the name */
    uint32_t site_count;
    uint32_t pid, tid;    /* of the thread that records come from */
    const char *thread;   /* its name */
    uint64_t first, last; /* times */
    bool failed;          /* without memory, or space in the format */
};

/* runners_made_thread begins the records of a thread. `name` must stay valid
 * until the next call. */
void runners_made_thread(struct runners_made_recording *, uint32_t pid,
                         uint32_t tid, const char *name);

/* runners_made_begin begins a span that lies in `parent`, 0: in none. It
 * returns its place, 0 without memory. runners_made_end ends it. */
uint32_t runners_made_begin(struct runners_made_recording *, const char *name,
                            uint64_t time, uint32_t parent);
void runners_made_end(struct runners_made_recording *, uint32_t place,
                      uint64_t time);

/* runners_made_meta adds a pair of metadata. */
void runners_made_meta(struct runners_made_recording *, const char *name,
                       const char *value);

/* runners_made_write writes the recording of a process that ran from `first` to
 * `last`, with room for `samples` bytes of samples. -1 with errno. */
int runners_made_write(const struct runners_made_recording *, const char *path,
                       uint32_t pid, uint64_t samples);
void runners_made_free(struct runners_made_recording *);

#endif

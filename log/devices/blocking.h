/* blocking.h: what made the host wait for devices, or devices for the host.
 * Private to the project. */
#ifndef LOG_BLOCKING_H
#define LOG_BLOCKING_H

#include "trace/read/reader.h"

/* Why one waited, and how to avoid it. */
struct log_blocking {
    struct trace_text text; /* a sentence */
    uint64_t time;          /* ns, in all */
    uint32_t place;    /* of the record of the longest, or behind that gap */
    uint64_t from, to; /* ns: the longest */
};

struct log_blockings {
    struct log_blocking *all; /* those that took longest first */
    size_t count, capacity;
};

/* log_blocking_find finds in a recording, whose entries it reads from the
 * start: copies of pageable memory, calls that wait for their copy,
 * allocations, releases and waits that a span repeats, and devices that were
 * idle for half of the time. They are the 16 that took longest; less than 1 %
 * of the time is left out. Returns -1 without memory. The caller frees them in
 * either case. */
int log_blocking_find(struct log_blockings *, struct trace_reader *);
void log_blockings_free(struct log_blockings *);

#endif

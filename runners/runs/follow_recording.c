/* follow_recording.c: when to look at a recording that processes write to.
 *
 * Records wait a moment, so that those of several threads get in order. While
 * they arrive, a look comes soon; otherwise breaks become longer and longer.
 */
#include <time.h>

#include "runners/runs/find.h"
#include "trace/base/clock.h"

#define MS UINT64_C(1000000) /* ns */

static const uint64_t settled_after = 50 * MS; /* a record is complete */
static const uint64_t shortest_pause = 10 * MS, longest_pause = 100 * MS;

int runners_follow_look(struct trace_reader *reader, bool *ended)
{
    struct trace_summary summary = trace_reader_summary(reader);
    uint64_t now =
        trace_between(summary.origin.monotonic, trace_anchor_now().monotonic);
    bool gone = runners_is_gone((int)summary.pid);
    int found = trace_reader_look(reader, trace_between(settled_after, now));

    *ended = gone || trace_reader_summary(reader).ended;
    return found >= 0 && *ended ? trace_reader_look(reader, UINT64_MAX) : found;
}

uint64_t runners_follow_pause(uint64_t last, uint64_t began, bool any)
{
    uint64_t busy = trace_clock_ns(CLOCK_MONOTONIC) - began;
    uint64_t next = any || !last ? shortest_pause : 2 * last;
    struct timespec time;

    next = next < longest_pause ? next : longest_pause;
    next = next > busy ? next : busy;
    time = (struct timespec){(time_t)(next / 1000000000),
                             (long)(next % 1000000000)};
    nanosleep(&time, NULL);
    return next;
}

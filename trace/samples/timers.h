/* timers.h: samples that processes take of themselves, by timers of processor
 * time: where the kernel refuses perf events. Private to the project.
 *
 * A library that is loaded into them (inject/sample.c) makes a timer for each
 * thread. Its signal comes while the thread runs, and the handler notes the
 * stack, by frame pointers.
 */
#ifndef TRACE_TIMERS_H
#define TRACE_TIMERS_H

#include "perf.h"

/* The kernel looks at timers of processor time in its own tick, which is often
 * one of 250 a second. */
enum { TRACE_TIMERS_HZ_MOST = 250 };

/* Names the memory to processes. */
#define TRACE_TIMERS_VARIABLE "TESTLOG_SAMPLE"

struct trace_timer_ring;

/* The zero value is closed. */
struct trace_timers {
    struct trace_timer_ring *ring;
    int id;          /* of the memory */
    uint64_t period; /* ns of processor time */
    bool taken;      /* the last event's slot is still in use */
    bool named;      /* the next event's thread has its name */
    uint64_t missed; /* the number of an event that has no end yet, */
    uint64_t since;  /* and when that was seen; ns */
    uint64_t lost;   /* events */
    bool impatient;  /* an event without its end has lost its writer */
};

/* trace_timers_open makes memory for at most `hz` samples a second of each
 * thread; -1 with errno. trace_timers_close frees it. */
int trace_timers_open(struct trace_timers *, unsigned hz);
void trace_timers_close(struct trace_timers *);

/* trace_timers_next reads the next event, as trace_perf_next does; false if
 * there is none. */
bool trace_timers_next(struct trace_timers *, struct trace_perf_event *);

#endif

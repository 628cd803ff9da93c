/* timer_ring.h: memory through which processes send samples of their own.
 * Private.
 *
 * Many threads write events to it, one reads them. A writer takes the next
 * slot, and stores its number last. A writer that dies in between leaves a slot
 * without it.
 */
#ifndef TRACE_TIMER_RING_H
#define TRACE_TIMER_RING_H

#include <stdint.h>

#include "perf.h"

#define TRACE_TIMER_MAGIC UINT64_C(0x72656d69742e6c74) /* "tl.timer" */

enum {
    TRACE_TIMER_SLOTS = 4096,
    TRACE_TIMER_FRAMES = 127, /* as many as the kernel notes */
    TRACE_TIMER_PATH = 1000   /* bytes; files with longer paths have no names */
};

/* An event, as struct trace_perf_event describes it. */
struct trace_timer_slot {
    uint64_t number; /* atomic: of the event that it has, from 1 on */
    uint64_t time;
    uint32_t kind; /* enum trace_perf_kind */
    uint32_t pid, tid, parent;
    uint32_t worker;   /* FORK: the process that the test is */
    uint32_t count;    /* SAMPLE: of addresses */
    uint32_t overruns; /* SAMPLE: further periods that have passed */
    char name[16];     /* SAMPLE: of the thread */
    union {
        uint64_t addresses[TRACE_TIMER_FRAMES];
        struct {
            uint64_t low, size, place;
            char path[TRACE_TIMER_PATH];
        } map;
    } as;
};

struct trace_timer_ring {
    uint64_t magic;
    uint64_t period;     /* ns of processor time */
    uint64_t head, tail; /* atomic: events that were written, and read */
    uint64_t lost;       /* atomic: events without a free slot */
    struct trace_timer_slot slots[TRACE_TIMER_SLOTS];
};

#endif

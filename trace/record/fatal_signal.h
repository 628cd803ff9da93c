/* fatal_signal.h: signals that kill a process. Private.
 *
 * A child of a test cannot stop until the runner has looked at it: its parent
 * would see that. It copies a part of its stack and dies without delay.
 */
#ifndef TRACE_FATAL_SIGNAL_H
#define TRACE_FATAL_SIGNAL_H

#include "trace/record/crash_handler.h"

/* How crashes are watched. The first two as in trace_crash_hooks. */
struct trace_crash_watch {
    bool (*wants)(const struct sigaction *, int number);
    void (*begins)(int number, uint32_t thread);
    /* crashed is called in the signal handler; false: the process leaves its
     * stack in the recording. NULL: it always does. */
    bool (*crashed)(const struct trace_crash *, const void *context);
};

/* trace_crash_watch handles the signals of crashes. Each thread that records
 * gets a stack for handlers. */
void trace_crash_watch(const struct trace_crash_watch *);

/* trace_crash_leave leaves the stack of the process in the recording; signal
 * handlers may call it. */
void trace_crash_leave(const struct trace_crash *);

/* trace_crash_event records a crash as an event; signal handlers may call it.
 * trace_crash_prepare comes before: without it, there is no event. */
void trace_crash_prepare(void);
void trace_crash_event(const struct trace_crash *);

/* trace_crash_keep lets that many processes other than the recorded one, and
 * programs that they start, leave their stacks in the recording. */
void trace_crash_keep(uint32_t stacks);

#endif

/* fatal_signal.h: signals that kill a process. Private.
 *
 * A child of a test cannot stop until the runner has looked at it: its parent
 * would see that. It copies a part of its stack and dies without delay.
 */
#ifndef TRACE_FATAL_SIGNAL_H
#define TRACE_FATAL_SIGNAL_H

#include <stdbool.h>

#include "trace/crash.h"

struct sigaction;

struct trace_crash_hooks {
    /* wants tells whether to handle a signal that has this action; NULL: if it
     * has the default action. */
    bool (*wants)(const struct sigaction *, int number);
    /* begins is called first in the signal handler, with the thread's id if it
     * is known, otherwise 0. It makes no system call: in a sandbox, that may
     * kill the thread. NULL: there is nothing to call. */
    void (*begins)(int number, uint32_t thread);
    /* crashed is called in the signal handler; false: the process leaves its
     * stack in the recording. NULL: it always does. */
    bool (*crashed)(const struct trace_crash *, const void *context);
};

/* trace_crash_watch handles the signals of crashes, which then act as if they
 * had not been handled. Each thread that records gets a stack for handlers. */
void trace_crash_watch(const struct trace_crash_hooks *);

/* trace_crash_stack gives the calling thread a stack for signal handlers, if it
 * has none. */
void trace_crash_stack(void);

/* trace_crash_event records a crash as an event; signal handlers may call it.
 * trace_crash_prepare comes before: without it, there is no event. */
void trace_crash_prepare(void);
void trace_crash_event(const struct trace_crash *);

/* trace_crash_keep lets that many processes other than the recorded one, and
 * programs that they start, leave their stacks in the recording. */
void trace_crash_keep(uint32_t stacks);

#endif

/* crash_handler.h: handles the signals that kill a process, without a
 * recording. Private. */
#ifndef TRACE_CRASH_HANDLER_H
#define TRACE_CRASH_HANDLER_H

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
    /* crashed is called in the signal handler. */
    void (*crashed)(const struct trace_crash *, const void *context);
    bool on_valgrind; /* which executes this process */
};

/* trace_crash_handle handles the signals of crashes, which then act as if they
 * had not been handled. The calling thread gets a stack for handlers. */
void trace_crash_handle(const struct trace_crash_hooks *);

/* trace_crash_stack gives the calling thread a stack for signal handlers, if it
 * has none; trace_crash_stack_end takes it back. */
void trace_crash_stack(void);
void trace_crash_stack_end(void);

/* For `crashed`: */

/* trace_crash_is_first tells whether no other thread of the process has crashed
 * before. Others wait a moment, because their signals would end the process
 * while the first one is reported. */
bool trace_crash_is_first(void);

/* A crash, and what the process leaves of its memory. */
struct trace_crash_left {
    struct trace_crash crash;
    unsigned char bytes[TRACE_CRASH_STACK + TRACE_CRASH_MAPPINGS];
};

/* trace_crash_copy returns the crash, with `memory` with a copy of the stack
 * and of the list of mappings; it is valid until the next call.
 * trace_crash_left_size returns how many bytes of it are used. */
struct trace_crash_left *trace_crash_copy(const struct trace_crash *,
                                          bool memory);
size_t trace_crash_left_size(const struct trace_crash_left *);

#endif

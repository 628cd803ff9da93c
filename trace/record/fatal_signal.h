/* fatal_signal.h: signals that kill a process, and what it leaves in the
 * recording so that its stack can be read later. Private.
 *
 * A child of a test cannot stop until the runner has looked at it: its parent
 * would see that. It copies a part of its stack and dies without delay.
 */
#ifndef TRACE_FATAL_SIGNAL_H
#define TRACE_FATAL_SIGNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    TRACE_CRASH_REGISTERS = 32,
    TRACE_CRASH_NAME = 16,
    TRACE_CRASH_STACK = 32 * 1024,    /* bytes of it that are copied */
    TRACE_CRASH_MAPPINGS = 24 * 1024, /* bytes of /proc/self/maps */
};

/* The value of a CRASH record. `stack_size` bytes of the stack follow it, then
 * `mappings_size` bytes of text. */
struct trace_crash {
    uint32_t process, thread;
    int32_t signal, code;
    uint64_t address;     /* si_addr */
    uint64_t stack;       /* the stack pointer */
    uint64_t instruction; /* its address; 0: registers are unknown */
    uint64_t registers[TRACE_CRASH_REGISTERS]; /* by DWARF's numbers */
    uint64_t register_count;
    uint64_t begin; /* address of the copied stack */
    uint32_t stack_size, mappings_size;
    char name[TRACE_CRASH_NAME]; /* of the thread */
};

/* ---- fatal_signal.c: in the process ---- */

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

/* ---- crashes.c: in the recording ---- */

struct trace_reader;

/* trace_reader_crashes returns how many processes left a crash or tried to.
 * trace_reader_crash visits those that are recorded: start with a cursor of 0.
 * `*stack` is followed by the mappings. */
size_t trace_reader_crashes(const struct trace_reader *);
bool trace_reader_crash(const struct trace_reader *, size_t *cursor,
                        struct trace_crash *, const unsigned char **stack);

/* trace_erase_stacks overwrites the copied stacks, which may hold secrets. */
int trace_erase_stacks_beneath(int folder, const char *name);

#endif

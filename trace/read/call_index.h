/* call_index.h: the calls of functions in a recording. Private to trace/read/.
 *
 * A call is an entry like a span, of a call site that stands for its function.
 * It has no record that names its parent: what encloses it on its thread is
 * found when the recording is opened, and so is the call around each span and
 * event.
 */
#ifndef TRACE_CALL_INDEX_H
#define TRACE_CALL_INDEX_H

#include "reader.h"
#include "trace/format.h"

/* A CALLS record. */
struct trace_call_block {
    uint64_t time;       /* ticks; starts count from it */
    uint32_t place, end; /* of the record and behind it */
    uint32_t thread;     /* index */
};

/* A MODULE record. */
struct trace_seen_module {
    uint64_t time, low, size, bias;
    struct trace_module_file file;
    bool shares; /* its addresses, with another module */
};

/* A function that was called, or a block of lines. */
struct trace_called {
    uint64_t address;                       /* and TRACE_CALL_LINE */
    const struct trace_seen_module *module; /* NULL: none is known */
    struct trace_site *site;                /* NULL: not named yet */
};

struct trace_call_index {
    struct trace_call_block *blocks; /* by thread, then time */
    size_t block_count, block_capacity;
    uint32_t *by_place;      /* indexes of `blocks` */
    struct trace_table ends; /* the places of CALL_END records, by call */
    struct trace_seen_module *modules; /* in order of time */
    size_t module_count, module_capacity;
    struct trace_called *functions;
    size_t function_count, function_capacity;
    struct trace_table by_address; /* indexes of `functions` */
    uint32_t first_site;           /* the id of the first function */
    /* The call or span around a call, a span or an event, for each half slot:
     * a call's number, a span's place, or 0. NULL without memory for it. */
    uint32_t *around;
};

/* A call, as it was recorded. */
struct trace_seen_call {
    uint32_t number;
    uint64_t function; /* its address, and TRACE_CALL_LINE */
    uint64_t start;    /* ticks */
    uint64_t end;      /* ticks; 0: open */
    bool resumed;      /* the rest of one that a coroutine had suspended */
    bool cut;          /* left before its end */
};

/* A walk through a thread's calls, in order. */
struct trace_call_cursor {
    const struct trace_call_block *block, *last;
    uint32_t at; /* the next entry of the block */
};

/* ---- call_index.c ---- */

/* trace_calls_add takes a CALLS, CALL_END or MODULE record into a reader; false
 * without memory. */
bool trace_calls_add(struct trace_reader *, const struct trace_record *,
                     uint64_t place, uint32_t thread);

/* trace_calls_of begins a walk through the calls of a range of blocks.
 * trace_calls_next steps to the next call; false at the end. */
struct trace_call_cursor trace_calls_of(const struct trace_call_block *,
                                        size_t count);
bool trace_calls_next(const struct trace_reader *, struct trace_call_cursor *,
                      struct trace_seen_call *);

/* trace_calls_describe describes a call as an entry, trace_calls_entry finds it
 * by its number; false if there is none. */
bool trace_calls_describe(const struct trace_reader *,
                          const struct trace_seen_call *,
                          const struct trace_thread *, struct trace_entry *);
bool trace_calls_entry(const struct trace_reader *, uint32_t number,
                       const struct trace_thread *, struct trace_entry *);

/* trace_calls_around returns the call that a span or event at `place` happened
 * in, if that is nearer than the span that its record names; or else 0. */
uint32_t trace_calls_around(const struct trace_reader *, uint32_t place);

/* trace_lost_calls_add makes the functions known whose calls were only counted;
 * false without memory. */
bool trace_lost_calls_add(struct trace_reader *);

/* ---- call_prepare.c ---- */

/* trace_calls_prepare sorts what was added, finds the functions and what
 * encloses what; false without memory. */
bool trace_calls_prepare(struct trace_reader *);
void trace_calls_free(struct trace_reader *);

/* ---- call_nest.c ---- */

/* trace_calls_nest fills `around`; false without memory. */
bool trace_calls_nest(struct trace_reader *);

/* ---- functions.c ---- */

/* trace_functions_module adds a MODULE record; false without memory.
 * trace_functions_sort sorts them. */
bool trace_functions_module(struct trace_call_index *,
                            const struct trace_record *);
void trace_functions_sort(struct trace_call_index *);

/* trace_functions_add makes a function known that was called at `time`; false
 * without memory. */
bool trace_functions_add(struct trace_call_index *, uint64_t address,
                         uint64_t time);

/* trace_functions_site returns the call site that stands for a function, and
 * names it at first use; NULL if it is not known, or without memory. */
const struct trace_site *trace_functions_site(const struct trace_reader *,
                                              uint64_t address, uint64_t time);

/* trace_functions_free frees modules and functions; the reader frees their call
 * sites. */
void trace_functions_free(struct trace_call_index *);

#endif

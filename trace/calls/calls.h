/* calls.h: records calls of functions in code that was built with
 * -finstrument-functions, and lines in code that was built with
 * -fsanitize-coverage=trace-pc. Private.
 *
 * The compiler calls a hook at the beginning and at the end of each function. A
 * shadow stack has the open calls of a thread. An enter first removes the calls
 * that their functions have left without an exit: by longjmp, by an exception,
 * or out of a signal handler.
 *
 * A block of lines is like a call that lasts until another block of its frame
 * begins, or until its frame is gone.
 */
#ifndef TRACE_CALLS_H
#define TRACE_CALLS_H

#include "load_map.h"
#include "trace/record/write.h"

/* A function that was entered. */
struct trace_frame {
    uintptr_t frame;    /* its frame's address, which inlined functions share */
    uintptr_t site;     /* where it returns to */
    uintptr_t back;     /* where in the function the hook was called */
    uintptr_t function; /* its address */
    uint64_t start;
    struct trace_call_entry *call; /* its entry; NULL: it is not recorded */
};

/* A block of lines has the address where it called the hook as its function. */
static inline bool trace_is_line(const struct trace_frame *open)
{
    return open->function == open->back;
}

/* Compilers call the hook of a function's first block before the function's
 * own.
 */
static inline bool trace_line_is_first(const struct trace_frame *top,
                                       uintptr_t frame)
{
    return trace_is_line(top) && top->frame == frame && top[-1].frame != frame;
}

static inline uint64_t trace_line_flag(const struct trace_frame *open)
{
    return trace_is_line(open) ? TRACE_CALL_LINE : 0;
}

/* A thread's calls. */
struct trace_calls {
    struct trace_call_entry *next, *end; /* of the current CALLS record */
    uint64_t base;                       /* the record's time */
    uint64_t least;                     /* ticks of a call that calls nothing */
    const struct trace_record *written; /* the writer's, at the last call */
    struct trace_frame *top;            /* the innermost open call */
    struct trace_frame *last;           /* the deepest call that it may have */
    struct trace_frame *bottom;         /* its first, which is no call */
    size_t bytes;                       /* of the shadow stack's memory */
    const struct trace_loaded *module;  /* of the last call */
    uintptr_t ended;      /* where the last function called its exit's hook, */
    uintptr_t ended_site; /* and where it returned to */
    struct trace_record *record; /* the current CALLS record; NULL: none */
    struct trace_record *free, *room_end; /* without one: its range's rest */
    uint32_t pieces;                      /* of the last range */
    uint32_t generation;                  /* of the recording; 0: none yet */
    uint32_t returns; /* trace_room_returns when there was no space */
    bool full;        /* there was no space */
};

extern _Thread_local struct trace_calls trace_calls TRACE_TLS_;

/* ---- shadow.c: the shadow stack ---- */

/* trace_calls_begin makes a thread ready for a recording; false without
 * memory. */
bool trace_calls_begin(struct trace_writer *);

/* trace_calls_grow makes room for another open call. */
bool trace_calls_grow(void);

/* trace_calls_repair removes calls that have been left when a function enters:
 * its frame, its return address, and where it called the hook. Returns whether
 * one was a function's. */
bool trace_calls_repair(struct trace_writer *, uintptr_t frame, uintptr_t site,
                        uintptr_t back);

/* trace_calls_pop ends the innermost call. trace_calls_cut does so if it was
 * left before its end. */
void trace_calls_pop(struct trace_writer *);
void trace_calls_cut(struct trace_writer *);

/* trace_calls_leave ends a call that is not the innermost one, and those within
 * it; none if it is not open. */
void trace_calls_leave(struct trace_writer *, uintptr_t frame,
                       uintptr_t function);

/* ---- call_room.c: entries ---- */

/* trace_call_find_room begins a CALLS record at `now`; without space it counts
 * a call of the function and returns false. */
bool trace_call_find_room(struct trace_writer *, uint64_t now,
                          uint64_t function);

/* trace_call_end_long records the end of a call that is too long for its entry.
 * trace_call_end_short removes the entry of a call that is shorter than what
 * is recorded, if nothing was recorded since. */
void trace_call_end_long(struct trace_writer *, const struct trace_frame *,
                         uint64_t now);
void trace_call_end_short(const struct trace_writer *,
                          const struct trace_frame *, uint64_t now);

/* trace_call_give_room returns the space of an ending thread. */
void trace_call_give_room(struct trace_writer *);

/* trace_call_take_room takes a chunk if there are few free slots. */
void trace_call_take_room(struct trace_writer *);

/* ---- line_spans.c: blocks of lines ---- */

/* trace_line_visit begins a block: its frame, and where it called the hook. */
void trace_line_visit(uintptr_t frame, uintptr_t back);

/* trace_line_put_inside makes the innermost line one of the function that has
 * just called its hook. */
void trace_line_put_inside(struct trace_writer *, uintptr_t back,
                           uintptr_t function);

/* ---- call_counts.c ---- */

/* trace_call_count counts a call that has no space. */
void trace_call_count(struct trace_writer *, uint64_t function);

/* ---- Inline ---- */

/* trace_call_open begins the entry of a call; NULL without space. */
static inline struct trace_call_entry *trace_call_open(
    struct trace_writer *writer, uint64_t now, uintptr_t function,
    uint64_t flags)
{
    struct trace_calls *calls = &trace_calls;

    if (unlikely(calls->next == calls->end || now - calls->base > UINT32_MAX) &&
        !trace_call_find_room(writer, now,
                              function | (flags & TRACE_CALL_LINE)))
        return NULL;

    struct trace_call_entry *call = calls->next;

    calls->next = call + 1;
    calls->written = writer->next;
    call->start = (uint32_t)(now - calls->base);
    call->duration = 0;
    __atomic_store_n(&call->function, (function & TRACE_CALL_ADDRESS) | flags,
                     __ATOMIC_RELEASE);
    return call;
}

/* trace_call_close ends the entry of a call. */
static inline void trace_call_close(struct trace_writer *writer,
                                    const struct trace_frame *frame)
{
    if (unlikely(!frame->call))
        return;

    uint64_t now = trace_stamp(writer), duration = now - frame->start;
    uint64_t least = trace_calls.least;

    if (likely(duration - least < UINT32_MAX - least))
        __atomic_store_n(&frame->call->duration, (uint32_t)duration,
                         __ATOMIC_RELEASE);
    else if (duration < least)
        trace_call_end_short(writer, frame, now);
    else
        trace_call_end_long(writer, frame, now);
}

/* trace_frame_outer returns the address of the frame that called one. */
static inline __attribute__((no_sanitize("address"))) uintptr_t
trace_frame_outer(uintptr_t frame)
{
    return *(volatile uintptr_t *)frame;
}

#endif

/* stack.h: the spans that a thread has entered, and what they hold. Private. */
#ifndef TRACE_STACK_H
#define TRACE_STACK_H

#include "record.h"

/* A span that is not recorded, but takes levels from what is within: its place,
 * where no record can be, says how many, and how it began. */
enum {
    TRACE_TAKES = 7,
    TRACE_BEGAN_NOT_ENTERED = 8,
    TRACE_BEGAN_GUARD = 16,
};

static inline bool trace_unrecorded(uint32_t place)
{
    return place - 1 < TRACE_FIRST_PLACE - 1;
}

static inline struct trace_scope trace_joined(struct trace_scope a,
                                              struct trace_scope b)
{
    return (struct trace_scope){a.adds > b.adds ? a.adds : b.adds,
                                a.takes > b.takes ? a.takes : b.takes};
}

/* trace_drop_strays takes out of the stack what other threads ended below its
 * top. */
void trace_drop_strays(struct trace_writer *, uint32_t strays);

/* trace_patch ends an entering; trace_leave_at that at `at` of the stack and
 * the guards above it, which only a jump can have left behind. */
void trace_patch(struct trace_writer *, uint32_t place);
void trace_leave_at(struct trace_writer *, uint32_t at, bool guard);

/* trace_find returns where in the stack the entering is whose handle has
 * `place`; its depth if it is not. */
uint32_t trace_find(const struct trace_writer *, uint32_t place);

/* trace_enter_again enters a span that is recorded, as `entered` was, which it
 * completes; false without room. */
bool trace_enter_again(struct trace_writer *, struct trace_entered entered);

/* trace_tells tells whether somebody is told of what threads enter;
 * trace_tell tells them what this one is in now. */
static inline bool trace_tells(unsigned told)
{
    return __atomic_load_n(&trace_recording.told, __ATOMIC_RELAXED) & told;
}

void trace_tell(struct trace_writer *);

static inline void trace_pop(struct trace_writer *writer)
{
    writer->depth--;
    if (unlikely(trace_tells(~0u)))
        trace_tell(writer);
}

/* Where the thread is. An entering that another thread ended is gone. */
static inline uint32_t trace_current(struct trace_writer *writer)
{
    while (writer->depth) {
        const struct trace_entered *top = &writer->stack[writer->depth - 1];

        if (likely(!__atomic_load_n(&trace_record_at(top->record)->end,
                                    __ATOMIC_RELAXED)) ||
            writer->depth <= writer->inherited || trace_unrecorded(top->record))
            return top->span;
        trace_pop(writer);
    }
    return 0;
}

/* Brings the thread's scope up to date. */
static inline void trace_settle(struct trace_writer *writer)
{
    uint32_t strays =
        __atomic_load_n(&trace_recording.strays, __ATOMIC_ACQUIRE);

    if (unlikely(writer->strays != strays))
        trace_drop_strays(writer, strays);
}

/* Puts an entering on top. */
static inline bool trace_push(struct trace_writer *writer,
                              struct trace_entered entered)
{
    struct trace_entered *top;

    if (unlikely(writer->depth == writer->capacity) &&
        !trace_stack_grow(writer))
        return false;
    /* One by one: a copy would wait for the stores that made the original. */
    top = &writer->stack[writer->depth];
    top->record = entered.record;
    top->span = entered.span;
    top->place = entered.place;
    top->back = entered.back;
    top->frame = entered.frame;
    top->own = entered.own;
    top->inside = trace_joined(trace_scope_, entered.own);
    trace_barrier();
    writer->depth++;
    if (unlikely(trace_tells(~0u)))
        trace_tell(writer);
    return true;
}

/* Whether the span on top ends with a block that seems to have been left by a
 * jump: one begins in a frame further out, or at the same place again. */
static inline bool trace_seems_left(const struct trace_writer *writer,
                                    uintptr_t frame, uint32_t back)
{
    const struct trace_entered *top = &writer->stack[writer->depth - 1];

    return writer->depth > writer->inherited && top->frame - 1 < frame &&
           (top->frame != frame || top->back == back);
}

#endif

/* stack.h: the spans that a thread has entered, and their scope. Private. */
#ifndef TRACE_STACK_H
#define TRACE_STACK_H

#include "write.h"

/* A span that is not recorded but limits levels within it. Its place, where no
 * record can be, has the number of levels and its kind. */
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

/* trace_drop_strays removes spans from the stack that other threads ended below
 * its top. */
void trace_drop_strays(struct trace_writer *, uint32_t strays);

/* trace_leave_at ends the one at index `at` and the
 * guards above it, which only a jump can have left behind. */
void trace_leave_at(struct trace_writer *, uint32_t at, bool guard);

/* trace_find returns the index of the enter whose handle has `place`, the depth
 * if there is none. */
uint32_t trace_find(const struct trace_writer *, uint32_t place);

/* trace_enter_again enters a recorded span with `entered`, which it completes;
 * false without space. */
bool trace_enter_again(struct trace_writer *, struct trace_entered entered);

/* trace_is_followed returns whether anybody wants to know a thread's enters;
 * trace_report_spans tells them its current span. */
static inline bool trace_is_followed(unsigned by)
{
    return __atomic_load_n(&trace_recording.followers, __ATOMIC_RELAXED) & by;
}

void trace_report_spans(struct trace_writer *);

/* trace_report_enter does so after an enter, and notes what the meters show. */
void trace_report_enter(struct trace_writer *);

/* trace_patch ends an enter. */
static inline void trace_patch(struct trace_writer *writer, uint32_t place)
{
    struct trace_record *record = trace_record_at(writer, place);

    /* Another thread may have ended it already. */
    if (unlikely(trace_unrecorded(place) ||
                 __atomic_load_n(&record->end, __ATOMIC_RELAXED)))
        return;

    uint64_t now = trace_stamp(writer);

    __atomic_store_n(&record->end, now, __ATOMIC_RELEASE);
    if (unlikely(trace_is_live()))
        trace_live_exit(record, now);
}

/* trace_end_enter ends an enter of the calling thread, and records its meters.
 */
static inline void trace_end_enter(struct trace_writer *writer, uint32_t place)
{
    if (unlikely(trace_is_followed(TRACE_FOLLOWER_METERS)))
        trace_meters_leave(writer, place);
    trace_patch(writer, place);
}

static inline void trace_pop(struct trace_writer *writer)
{
    writer->depth--;
    if (unlikely(trace_is_followed(~0u)))
        trace_report_spans(writer);
}

/* Returns the thread's current span, after removing enters that another thread
 * ended. */
static inline uint32_t trace_current(struct trace_writer *writer)
{
    while (writer->depth) {
        const struct trace_entered *top = &writer->stack[writer->depth - 1];

        if (likely(!__atomic_load_n(&trace_record_at(writer, top->record)->end,
                                    __ATOMIC_RELAXED)) ||
            writer->depth <= writer->inherited || trace_unrecorded(top->record))
            return top->span;
        trace_pop(writer);
    }
    return 0;
}

/* Updates the thread's scope. */
static inline void trace_settle(struct trace_writer *writer)
{
    uint32_t strays =
        __atomic_load_n(&trace_recording.strays, __ATOMIC_ACQUIRE);

    if (unlikely(writer->strays != strays))
        trace_drop_strays(writer, strays);
}

/* Pushes an enter. */
static inline bool trace_push(struct trace_writer *writer,
                              struct trace_entered entered)
{
    struct trace_entered *top;

    if (unlikely(writer->depth == writer->capacity) &&
        !trace_stack_grow(writer))
        return false;
    /* Field by field: a struct copy would wait for the stores that made it. */
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
    if (unlikely(trace_is_followed(~0u)))
        trace_report_enter(writer);
    return true;
}

/* Returns whether the top span ends with a block that a jump seems to have
 * left: a block begins in an outer frame, or at the same place again. */
static inline bool trace_seems_left(const struct trace_writer *writer,
                                    uintptr_t frame, uint32_t back)
{
    const struct trace_entered *top = &writer->stack[writer->depth - 1];

    return writer->depth > writer->inherited && top->frame - 1 < frame &&
           (top->frame != frame || top->back == back);
}

#endif

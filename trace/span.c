/* span.c: spans become records here. */
#include <errno.h>
#include <string.h>

#include "stack.h"

/* Whether a span is of the recording that runs. */
static bool known(struct trace_span_ref ref)
{
    return ref.place && trace_recording.open &&
           (ref.generation == trace_generation() || trace_writer.forked);
}

/* How a span begins. */
struct beginning {
    const struct trace_span_ref *given; /* parent, if not that of the block */
    bool entered, guard;
};

static inline struct trace_record *put_span(struct trace_writer *writer,
                                            struct trace_site *site,
                                            struct beginning how, size_t count,
                                            const struct trace_value *values)
{
    uint32_t parent = !how.given || trace_unrecorded(how.given->place)
                          ? trace_current(writer)
                      : known(*how.given) ? how.given->place
                                          : 0;

    return trace_put_of(writer, TRACE_KIND_SPAN, site, parent, count, values,
                        trace_bytes_of(count, values));
}

static inline struct trace_span_ref publish_span(struct trace_writer *writer,
                                                 struct trace_record *record,
                                                 struct beginning how,
                                                 struct trace_scope own)
{
    struct trace_span_ref ref = {trace_place_of(record), writer->generation};

    if (!how.entered)
        record->flags = TRACE_FLAG_NOT_ENTERED;
    else if (unlikely(
                 !trace_push(writer, ref.place, ref.place, how.guard, own)))
        ref.place = 0;
    trace_publish(writer, record);
    return ref;
}

/* What is not recorded may still hold something for what is within. */
static struct trace_span_ref pass_over(struct trace_writer *writer,
                                       struct beginning how,
                                       struct trace_scope own)
{
    uint32_t began = !how.entered ? TRACE_BEGAN_NOT_ENTERED
                     : how.guard  ? TRACE_BEGAN_GUARD
                                  : 0;
    struct trace_span_ref ref = {own.takes | began, writer->generation};
    struct trace_scope takes = {0, own.takes};

    if (!own.takes ||
        (how.entered && !trace_push(writer, ref.place, trace_current(writer),
                                    how.guard, takes)))
        ref.place = 0;
    return ref;
}

/* Gives the room of the last record back. What stands in it must not be taken
 * for records behind those that come now. */
static void take_back(struct trace_writer *writer, struct trace_record *record)
{
    memset(record, 0, (size_t)record->slots * TRACE_SLOT_SIZE);
    writer->next = record;
}

static __attribute__((noinline)) struct trace_span_ref begin_judged(
    struct trace_writer *writer, struct trace_site *site, struct beginning how,
    size_t count, const struct trace_value *values)
{
    struct trace_value copy[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    struct trace_scope own = {0, 0};
    struct trace_span_ref ref = {0, 0};
    int error = errno;

    values = trace_values_print(count, values, copy, &text);
    trace_settle(writer);

    struct trace_record *record = put_span(writer, site, how, count, values);

    if (record) {
        if (trace_subscriber->span(site, trace_scope_, trace_place_of(record),
                                   count, values, &own)) {
            ref = publish_span(writer, record, how, own);
        } else {
            take_back(writer, record);
            ref = pass_over(writer, how, own);
        }
    }
    trace_text_free(&text);
    errno = error;
    return ref;
}

static inline struct trace_span_ref begin(struct trace_site *site,
                                          struct beginning how, size_t count,
                                          const struct trace_value *values)
{
    struct trace_span_ref ref = {0, 0};
    struct trace_writer *writer = trace_enter();

    if (unlikely(!writer))
        return ref;
    if (unlikely(trace_is_judged(site))) {
        ref = begin_judged(writer, site, how, count, values);
    } else {
        struct trace_record *record =
            put_span(writer, site, how, count, values);

        if (likely(record != NULL))
            ref = publish_span(writer, record, how, (struct trace_scope){0, 0});
    }
    trace_leave(writer);
    return ref;
}

struct trace_span_ref trace_span_open_(struct trace_site *site, size_t count,
                                       const struct trace_value *values)
{
    return begin(site, (struct beginning){NULL, true, true}, count, values);
}

struct trace_span_ref trace_span_begin_(struct trace_site *site, size_t count,
                                        const struct trace_value *values)
{
    return begin(site, (struct beginning){NULL, true, false}, count, values);
}

struct trace_span_ref trace_span_new_(struct trace_site *site, size_t count,
                                      const struct trace_value *values)
{
    return begin(site, (struct beginning){NULL, false, false}, count, values);
}

struct trace_span_ref trace_span_in_(struct trace_span_ref parent,
                                     struct trace_site *site, size_t count,
                                     const struct trace_value *values)
{
    return begin(site, (struct beginning){&parent, true, true}, count, values);
}

/* A record without a site that belongs to `span`. */
static struct trace_record *put_plain(struct trace_writer *writer,
                                      enum trace_kind kind, uint32_t span)
{
    struct trace_record *record = trace_put_now(writer, kind, span, 0, NULL, 0);

    if (record)
        trace_publish(writer, record);
    return record;
}

/* Enters a span that is recorded; returns the entering's place, 0 if that
 * failed. */
static uint32_t enter_span(struct trace_writer *writer, uint32_t span)
{
    struct trace_scope own = {0, 0};
    struct trace_record *record = put_plain(writer, TRACE_KIND_ENTER, span);

    if (record && trace_tells(TRACE_TOLD_SUBSCRIBER))
        own = trace_subscriber->entered(span);
    if (!record || !trace_push(writer, trace_place_of(record), span, true, own))
        return 0;
    return trace_place_of(record);
}

struct trace_span_ref trace_span_enter_(struct trace_span_ref span)
{
    struct beginning how = {NULL, true, true};
    struct trace_span_ref ref = {0, 0};
    struct trace_writer *writer =
        known(span) && !trace_writer.busy ? trace_enter() : NULL;

    if (!writer)
        return ref;
    if (trace_unrecorded(span.place))
        ref = pass_over(writer, how,
                        (struct trace_scope){0, span.place & TRACE_TAKES});
    else
        ref.place = enter_span(writer, span.place);
    if (ref.place)
        ref.generation = writer->generation;
    trace_leave(writer);
    return ref;
}

static __attribute__((noinline)) void tell_fields(
    const struct trace_site *site, uint32_t span, size_t count,
    const struct trace_value *values)
{
    struct trace_value copy[TRACE_ARGS_MAX];
    struct trace_text text = {.ceiling = 1 << 20};
    int error = errno;

    values = trace_values_print(count, values, copy, &text);
    trace_subscriber->fields(site, span, count, values);
    trace_text_free(&text);
    errno = error;
}

void trace_record_(struct trace_span_ref span, struct trace_site *site,
                   size_t count, const struct trace_value *values)
{
    struct trace_writer *writer =
        known(span) && !trace_unrecorded(span.place) ? trace_enter() : NULL;

    if (!writer)
        return;
    if (unlikely(trace_tells(TRACE_TOLD_SUBSCRIBER)))
        tell_fields(site, span.place, count, values);

    struct trace_record *record =
        trace_put_of(writer, TRACE_KIND_FIELDS, site, span.place, count, values,
                     trace_bytes_of(count, values));

    if (record)
        trace_publish(writer, record);
    trace_leave(writer);
}

/* ---- The end ---- */

/* Tells that nobody enters a span any more: the block that it is of has ended,
 * or trace_span_end was called. */
static inline void tell_closed(uint32_t place)
{
    if (unlikely(trace_tells(TRACE_TOLD_SUBSCRIBER)) &&
        !trace_unrecorded(place) &&
        trace_record_at(place)->kind == TRACE_KIND_SPAN)
        trace_subscriber->closed(place);
}

/* A jump out of the block that a guard stands in leaves the guard's entering on
 * the stack; a handle that was entered in between stays. */
void trace_span_leave_(struct trace_span_ref ref)
{
    struct trace_writer *writer = &trace_writer;

    if (unlikely(ref.generation != writer->generation ||
                 ref.generation != trace_generation() || writer->busy)) {
        /* A span of before the fork: the parent ends it in the recording. */
        if (writer->forked && trace_is_current(writer) &&
            trace_find(writer, ref.place) < writer->inherited)
            trace_leave_at(writer, trace_find(writer, ref.place), true);
        return;
    }
    writer->busy = true;
    trace_barrier();
    if (likely(writer->depth &&
               writer->stack[writer->depth - 1].record == ref.place &&
               writer->depth > writer->inherited)) {
        trace_pop(writer);
        trace_patch(writer, ref.place);
    } else {
        uint32_t at = trace_find(writer, ref.place);

        if (at < writer->depth)
            trace_leave_at(writer, at, true);
    }
    tell_closed(ref.place);
    trace_barrier();
    writer->busy = false;
}

struct trace_span_ref trace_span_current(void)
{
    struct trace_writer *writer = &trace_writer;
    struct trace_span_ref ref = {0, 0};

    if (!trace_recording.open || !trace_is_current(writer))
        return ref;
    ref.place = trace_current(writer);
    if (writer->depth &&
        trace_unrecorded(writer->stack[writer->depth - 1].record))
        ref.place = writer->stack[writer->depth - 1].record;
    if (ref.place)
        ref.generation = writer->generation;
    return ref;
}

/* Ends a span that another thread is in. */
static void end_stray(struct trace_writer *writer, uint32_t place)
{
    trace_patch(writer, place);
    if (trace_tells(TRACE_TOLD_SUBSCRIBER))
        __atomic_fetch_add(&trace_recording.strays, 1, __ATOMIC_RELEASE);
}

void trace_span_end(struct trace_span_ref span)
{
    struct trace_writer *writer =
        known(span) && !trace_writer.busy ? trace_enter() : NULL;

    if (!writer)
        return;

    struct trace_record *record = trace_record_at(span.place);
    uint32_t at = trace_find(writer, span.place);

    if (at < writer->depth)
        trace_leave_at(writer, at, false);
    else if (trace_unrecorded(span.place) ||
             span.generation != trace_generation())
        ; /* nobody's, or the parent's */
    else if (!(record->flags & TRACE_FLAG_NOT_ENTERED) && !record->end)
        end_stray(writer, span.place);
    else
        put_plain(writer, TRACE_KIND_CLOSE, span.place);
    tell_closed(span.place);
    trace_leave(writer);
}

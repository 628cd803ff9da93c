/* span.c: records spans. */
#include <errno.h>
#include <string.h>

#include "stack.h"

/* ---- Subscriber ---- */

/* The subscriber locks, and may call the program's own malloc. */
struct asking {
    struct trace_hold hold;
    uintptr_t busy;
    int error;
};

static void ask_begin(struct asking *asking)
{
    asking->error = errno;
    trace_hold(&asking->hold);
    asking->busy = trace_ours_begin(&trace_writer);
}

static void ask_end(const struct asking *asking)
{
    trace_ours_end(&trace_writer, asking->busy);
    trace_release(&asking->hold);
    errno = asking->error;
}

static __attribute__((noinline)) bool ask_span(const struct trace_site *site,
                                               uint32_t place, size_t count,
                                               const struct trace_value *values,
                                               struct trace_scope *own)
{
    struct asking asking;
    bool wanted;

    ask_begin(&asking);
    wanted =
        trace_subscriber->span(site, trace_scope_, place, count, values, own);
    ask_end(&asking);
    return wanted;
}

static __attribute__((noinline)) void tell_fields(
    const struct trace_site *site, uint32_t span, size_t count,
    const struct trace_value *values)
{
    struct asking asking;

    ask_begin(&asking);
    trace_subscriber->fields(site, span, count, values);
    ask_end(&asking);
}

static __attribute__((noinline)) struct trace_scope ask_entered(uint32_t span)
{
    struct asking asking;
    struct trace_scope own;

    ask_begin(&asking);
    own = trace_subscriber->entered(span);
    ask_end(&asking);
    return own;
}

static __attribute__((noinline)) void tell_end(uint32_t place)
{
    struct asking asking;

    ask_begin(&asking);
    trace_subscriber->closed(place);
    ask_end(&asking);
}

/* Reports that nobody enters a span any more: its block has ended, or
 * trace_span_end was called. */
static inline void report_closed(uint32_t place)
{
    if (unlikely(trace_is_followed(TRACE_FOLLOWER_SUBSCRIBER)) &&
        !trace_unrecorded(place) &&
        trace_record_at(&trace_writer, place)->kind == TRACE_KIND_SPAN)
        tell_end(place);
}

/* ---- The beginning ---- */

/* Inline: each caller has constants for it, which saves an eighth of a span. */
#define INLINE inline __attribute__((always_inline))

/* Returns whether a span belongs to the current recording. */
static bool known(struct trace_span_ref ref)
{
    return ref.place && trace_is_recording() &&
           (ref.generation == trace_generation() || trace_writer.forked);
}

/* The beginning of a span, which fits into two registers. */
struct beginning {
    uintptr_t frame; /* the caller's, if it ends with its block; or 0 */
    uint32_t back;   /* its return address */
    uint8_t flags;   /* of the record; 0: the thread enters the span */
};

/* The beginning of a block's span, for functions that the block calls. */
#define IN_BLOCK                                                               \
    (struct beginning)                                                         \
    {                                                                          \
        trace_frame(), (uint32_t)(uintptr_t)__builtin_return_address(0), 0     \
    }

static INLINE struct trace_record *put_span(struct trace_writer *writer,
                                            struct trace_site *site,
                                            const struct trace_span_ref *given,
                                            size_t count,
                                            const struct trace_value *values,
                                            size_t bytes)
{
    uint32_t parent = !given || trace_unrecorded(given->place)
                          ? trace_current(writer)
                      : known(*given) ? given->place
                                      : 0;

    return trace_put_of(writer, TRACE_KIND_SPAN, site, parent, count, values,
                        bytes);
}

static INLINE struct trace_entered entering(uint32_t record, uint32_t span,
                                            struct beginning how,
                                            struct trace_scope own)
{
    return (struct trace_entered){record,    span, record, how.back,
                                  how.frame, own,  {0, 0}};
}

static INLINE struct trace_span_ref publish_span(struct trace_writer *writer,
                                                 struct trace_record *record,
                                                 struct beginning how,
                                                 struct trace_scope own)
{
    struct trace_span_ref ref = {trace_place_of(writer, record),
                                 writer->generation};

    if (how.flags)
        record->flags = how.flags;
    else if (unlikely(
                 !trace_push(writer, entering(ref.place, ref.place, how, own))))
        ref.place = 0;
    trace_publish(writer, record);
    return ref;
}

/* A span that is not recorded may still have a scope. */
static struct trace_span_ref pass_over(struct trace_writer *writer,
                                       struct beginning how,
                                       struct trace_scope own)
{
    uint32_t began = how.flags   ? TRACE_BEGAN_NOT_ENTERED
                     : how.frame ? TRACE_BEGAN_GUARD
                                 : 0;
    struct trace_span_ref ref = {own.takes | began, writer->generation};
    struct trace_scope takes = {0, own.takes};

    if (!own.takes ||
        (!how.flags &&
         !trace_push(writer,
                     entering(ref.place, trace_current(writer), how, takes))))
        ref.place = 0;
    return ref;
}

/* Ends the spans that a jump abandoned: their blocks cannot. */
static __attribute__((noinline)) void end_left(struct trace_writer *writer,
                                               uintptr_t frame, uint32_t back)
{
    while (trace_seems_left(writer, frame, back)) {
        const struct trace_entered *top = &writer->stack[writer->depth - 1];
        uint32_t place = top->place;

        if (!trace_has_left(top->frame, frame))
            return;
        trace_end_enter(writer, top->record);
        trace_pop(writer);
        report_closed(place);
    }
}

/* Gives back the last record's space and clears it: what stays behind a later
 * record must not look like one. */
static void take_back(struct trace_writer *writer, struct trace_record *record)
{
    memset(record, 0, (size_t)record->slots * TRACE_SLOT_SIZE);
    writer->next = record;
}

static __attribute__((noinline)) struct trace_span_ref begin_judged(
    struct trace_writer *writer, struct trace_site *site,
    const struct trace_span_ref *given, struct beginning how, size_t count,
    const struct trace_value *values, size_t bytes)
{
    struct trace_scope own = {0, 0};
    struct trace_record *record;

    trace_settle(writer);
    record = put_span(writer, site, given, count, values, bytes);
    if (!record)
        return TRACE_NONE_;
    if (ask_span(site, trace_place_of(writer, record), count, values, &own))
        return publish_span(writer, record, how, own);
    take_back(writer, record);
    return pass_over(writer, how, own);
}

static struct trace_span_ref begin_printed(struct trace_site *,
                                           const struct trace_span_ref *given,
                                           struct beginning, size_t count,
                                           const struct trace_value *);

static INLINE struct trace_span_ref begin(struct trace_site *site,
                                          const struct trace_span_ref *given,
                                          struct beginning how, size_t count,
                                          const struct trace_value *values)
{
    struct trace_span_ref ref = {0, 0};
    struct trace_writer *writer;
    size_t bytes;

    if (trace_seems_full() && trace_is_lost(site))
        return ref;
    bytes = trace_bytes_of(count, values);
    if (unlikely(bytes >= TRACE_UNPRINTED))
        return begin_printed(site, given, how, count, values);
    writer = trace_enter();
    if (unlikely(!writer))
        return ref;
    if (unlikely(trace_seems_left(writer, how.frame, how.back)))
        end_left(writer, how.frame, how.back);
    if (unlikely(trace_is_judged(site))) {
        ref = begin_judged(writer, site, given, how, count, values, bytes);
    } else {
        struct trace_record *record =
            put_span(writer, site, given, count, values, bytes);

        if (likely(record != NULL))
            ref = publish_span(writer, record, how, (struct trace_scope){0, 0});
    }
    trace_leave(writer);
    return ref;
}

static __attribute__((noinline)) struct trace_span_ref begin_printed(
    struct trace_site *site, const struct trace_span_ref *given,
    struct beginning how, size_t count, const struct trace_value *values)
{
    struct trace_span_ref ref = {0, 0};
    struct trace_printed printed;

    if (trace_print_begin(&printed, count, values)) {
        ref = begin(site, given, how, count, printed.values);
        trace_print_end(&printed);
    }
    return ref;
}

__attribute__((noinline)) struct trace_span_ref trace_span_open_(
    struct trace_site *site, size_t count, const struct trace_value *values)
{
    return begin(site, NULL, IN_BLOCK, count, values);
}

struct trace_span_ref trace_span_begin_(struct trace_site *site, size_t count,
                                        const struct trace_value *values)
{
    return begin(site, NULL, (struct beginning){0}, count, values);
}

struct trace_span_ref trace_span_new_(struct trace_site *site, size_t count,
                                      const struct trace_value *values)
{
    return begin(site, NULL,
                 (struct beginning){.flags = TRACE_FLAG_NOT_ENTERED}, count,
                 values);
}

struct trace_span_ref trace_span_beside_(struct trace_site *site, size_t count,
                                         const struct trace_value *values)
{
    return begin(site, NULL, (struct beginning){.flags = TRACE_FLAG_BESIDE},
                 count, values);
}

__attribute__((noinline)) struct trace_span_ref trace_span_in_(
    struct trace_span_ref parent, struct trace_site *site, size_t count,
    const struct trace_value *values)
{
    return begin(site, &parent, IN_BLOCK, count, values);
}

/* Writes a record without a site that belongs to `span`. */
static struct trace_record *put_plain(struct trace_writer *writer,
                                      enum trace_kind kind, uint32_t span)
{
    struct trace_record *record = trace_put_now(writer, kind, span, 0, NULL, 0);

    if (record)
        trace_publish(writer, record);
    return record;
}

bool trace_enter_again(struct trace_writer *writer,
                       struct trace_entered entered)
{
    struct trace_record *record =
        put_plain(writer, TRACE_KIND_ENTER, entered.span);

    if (!record)
        return false;
    entered.record = trace_place_of(writer, record);
    entered.place = entered.place ? entered.place : entered.record;
    if (trace_is_followed(TRACE_FOLLOWER_SUBSCRIBER))
        entered.own = ask_entered(entered.span);
    return trace_push(writer, entered);
}

/* Enters a span in a block and returns the enter's place, 0 if that failed. */
static uint32_t enter_span(struct trace_writer *writer, uint32_t span,
                           struct beginning how)
{
    struct trace_scope none = {0, 0};

    return trace_enter_again(writer, entering(0, span, how, none))
               ? writer->stack[writer->depth - 1].record
               : 0;
}

__attribute__((noinline)) struct trace_span_ref trace_span_enter_(
    struct trace_span_ref span)
{
    struct beginning how = IN_BLOCK;
    struct trace_span_ref ref = {0, 0};
    struct trace_writer *writer =
        known(span) && !trace_is_busy(&trace_writer) ? trace_enter() : NULL;

    if (!writer)
        return ref;
    if (trace_seems_left(writer, how.frame, how.back))
        end_left(writer, how.frame, how.back);
    if (trace_unrecorded(span.place))
        ref = pass_over(writer, how,
                        (struct trace_scope){0, span.place & TRACE_TAKES});
    else
        ref.place = enter_span(writer, span.place, how);
    if (ref.place)
        ref.generation = writer->generation;
    trace_leave(writer);
    return ref;
}

static void put_fields(struct trace_span_ref span, struct trace_site *site,
                       size_t count, const struct trace_value *values,
                       size_t bytes)
{
    struct trace_writer *writer = trace_enter();

    if (!writer)
        return;
    if (unlikely(trace_is_followed(TRACE_FOLLOWER_SUBSCRIBER)))
        tell_fields(site, span.place, count, values);

    struct trace_record *record = trace_put_of(
        writer, TRACE_KIND_FIELDS, site, span.place, count, values, bytes);

    if (record)
        trace_publish(writer, record);
    trace_leave(writer);
}

void trace_record_(struct trace_span_ref span, struct trace_site *site,
                   size_t count, const struct trace_value *values)
{
    size_t bytes = trace_bytes_of(count, values);
    struct trace_printed printed;

    if (!known(span) || trace_unrecorded(span.place))
        return;
    if (likely(bytes < TRACE_UNPRINTED)) {
        put_fields(span, site, count, values, bytes);
    } else if (trace_print_begin(&printed, count, values)) {
        put_fields(span, site, count, printed.values,
                   trace_bytes_of(count, printed.values));
        trace_print_end(&printed);
    }
}

/* ---- The end ---- */

/* A jump out of a guard's block leaves the guard's enter on the stack; a handle
 * that was entered meanwhile stays. */
void trace_span_leave_(struct trace_span_ref ref)
{
    struct trace_writer *writer = &trace_writer;

    if (unlikely(ref.generation != writer->generation ||
                 ref.generation != trace_generation() ||
                 trace_is_busy(writer))) {
        /* A span from before the fork: the parent ends it in the recording. */
        if (writer->forked && trace_is_current(writer) &&
            trace_find(writer, ref.place) < writer->inherited)
            trace_leave_at(writer, trace_find(writer, ref.place), true);
        return;
    }
    writer->busy = trace_frame();
    writer->back = trace_return_of(trace_frame());
    trace_barrier();
    if (likely(writer->depth &&
               writer->stack[writer->depth - 1].place == ref.place &&
               writer->depth > writer->inherited)) {
        uint32_t followers =
            __atomic_load_n(&trace_recording.followers, __ATOMIC_RELAXED);
        uint32_t record = writer->stack[writer->depth - 1].record;

        if (unlikely(followers & TRACE_FOLLOWER_METERS))
            trace_meters_leave(writer, record);
        /* In this order: a jump may come in between. */
        trace_patch(writer, record);
        writer->depth--;
        if (unlikely(followers))
            trace_report_spans(writer);
    } else {
        uint32_t at = trace_find(writer, ref.place);

        if (at < writer->depth)
            trace_leave_at(writer, at, true);
    }
    report_closed(ref.place);
    trace_leave(writer);
}

struct trace_span_ref trace_span_current(void)
{
    struct trace_writer *writer = &trace_writer;
    struct trace_span_ref ref = {0, 0};

    if (!trace_is_recording() || !trace_is_current(writer))
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
    if (trace_is_followed(TRACE_FOLLOWER_SUBSCRIBER))
        __atomic_fetch_add(&trace_recording.strays, 1, __ATOMIC_RELEASE);
}

void trace_span_end(struct trace_span_ref span)
{
    struct trace_writer *writer =
        known(span) && !trace_is_busy(&trace_writer) ? trace_enter() : NULL;

    if (!writer)
        return;

    struct trace_record *record = trace_record_at(writer, span.place);
    uint32_t at = trace_find(writer, span.place);

    if (at < writer->depth)
        trace_leave_at(writer, at, false);
    else if (trace_unrecorded(span.place) ||
             span.generation != trace_generation())
        ; /* of nobody, or the parent's */
    else if (!(record->flags & TRACE_FLAG_NOT_ENTERED) &&
             !__atomic_load_n(&record->end, __ATOMIC_RELAXED))
        end_stray(writer, span.place);
    else
        put_plain(writer, TRACE_KIND_CLOSE, span.place);
    report_closed(span.place);
    trace_leave(writer);
}

/* stack.c: the spans that a thread leaves in another order than it entered
 * them. */
#include "stack.h"

void trace_report_spans(struct trace_writer *writer)
{
    const struct trace_entered *top =
        writer->depth ? &writer->stack[writer->depth - 1] : NULL;

    if (trace_is_followed(TRACE_FOLLOWER_SUBSCRIBER))
        trace_scope_ = top ? top->inside : (struct trace_scope){0, 0};
    if (trace_is_followed(TRACE_FOLLOWER_DEVICES))
        trace_device_follow(writer);
    if (trace_is_followed(TRACE_FOLLOWER_SENDER))
        trace_sender->spans(writer);
}

void trace_report_enter(struct trace_writer *writer)
{
    trace_report_spans(writer);
    if (trace_is_followed(TRACE_FOLLOWER_METERS))
        trace_meters_enter(writer);
}

/* Recomputes the thread's scope after spans were removed from its stack. */
static void rescope(struct trace_writer *writer)
{
    struct trace_scope scope = {0, 0};

    for (uint32_t i = 0; i < writer->depth; i++) {
        scope = trace_joined(scope, writer->stack[i].own);
        writer->stack[i].inside = scope;
    }
    trace_report_spans(writer);
}

void trace_drop_strays(struct trace_writer *writer, uint32_t strays)
{
    uint32_t kept = writer->inherited;

    for (uint32_t i = kept; i < writer->depth; i++) {
        uint32_t place = writer->stack[i].record;

        if (trace_unrecorded(place) ||
            !__atomic_load_n(&trace_record_at(writer, place)->end,
                             __ATOMIC_ACQUIRE))
            writer->stack[kept++] = writer->stack[i];
    }
    writer->depth = kept;
    writer->strays = strays;
    rescope(writer);
}

void trace_leave_at(struct trace_writer *writer, uint32_t at, bool guard)
{
    uint32_t kept = at, inherited = writer->inherited;

    for (uint32_t i = writer->depth; i-- > at + 1;)
        if (guard && writer->stack[i].frame && i >= inherited)
            trace_end_enter(writer, writer->stack[i].record);
    if (at >= inherited)
        trace_end_enter(writer, writer->stack[at].record);
    for (uint32_t i = at + 1; i < writer->depth; i++) {
        if (!guard || !writer->stack[i].frame)
            writer->stack[kept++] = writer->stack[i];
        if (i + 1 == inherited)
            writer->inherited = kept;
    }
    if (at + 1 == inherited)
        writer->inherited = at;
    writer->depth = kept;
    if (unlikely(trace_is_followed(~0u)))
        rescope(writer);
}

uint32_t trace_find(const struct trace_writer *writer, uint32_t place)
{
    for (uint32_t i = writer->depth; i-- > 0;)
        if (writer->stack[i].place == place)
            return i;
    return writer->depth;
}

size_t trace_depth(void)
{
    return trace_writer.depth;
}

void trace_unwind(size_t depth)
{
    struct trace_writer *writer = &trace_writer;

    trace_returned_to(trace_frame());
    while (writer->depth > depth) {
        uint32_t top = writer->depth - 1;

        if (trace_is_current(writer) && top >= writer->inherited)
            trace_end_enter(writer, writer->stack[top].record);
        trace_pop(writer);
    }
    if (writer->inherited > writer->depth)
        writer->inherited = writer->depth;
    if (trace_call_hooks_now())
        trace_call_hooks->unwind(writer, trace_frame());
}

/* line_spans.c: records blocks of lines: lines that run one after the other.
 *
 * The compiler tells where a block begins, but not where a function ends. So
 * the last block of a function lasts until the next one of a function around it
 * begins, or until the function's exit, if it calls that hook, too.
 */
#include "calls.h"

/* gcc has a block behind a function's exit, which only returns: the line of its
 * closing brace. */
enum { RETURNING = 16 /* most bytes between both hooks */ };

/* Returns whether a block ends the innermost one: that is in its frame, or in
 * one that is gone. */
static bool ends_line(const struct trace_frame *top, uintptr_t frame)
{
    return top && top->frame <= frame && trace_is_line(top);
}

/* Begins a block; `counted`: there was no space for it. */
static bool push(struct trace_writer *writer, uintptr_t frame, uintptr_t back,
                 bool counted)
{
    struct trace_frame *top;

    if (trace_calls.top == trace_calls.last && !trace_calls_grow())
        return false;
    top = trace_calls.top + 1;
    top->frame = frame;
    top->site = trace_return_of(frame);
    top->back = top->function = back;
    top->start = trace_stamp(writer);
    top->call =
        counted ? NULL
                : trace_call_open(writer, top->start, back, TRACE_CALL_LINE);
    trace_barrier();
    trace_calls.top = top;
    return true;
}

void trace_line_put_inside(struct trace_writer *writer, uintptr_t back,
                           uintptr_t function)
{
    struct trace_frame *line = trace_calls.top;
    uintptr_t begin = line->function;

    bool counted = !line->call;

    if (counted)
        trace_call_count(writer, function & TRACE_CALL_ADDRESS);
    else
        __atomic_store_n(&line->call->function, function & TRACE_CALL_ADDRESS,
                         __ATOMIC_RELEASE);
    line->back = back;
    line->function = function;
    push(writer, line->frame, begin, counted);
}

/* Ends the last block of a frame. It did not run to its end if it called a
 * function that has not exited: which jumped into this frame, or threw. */
static void end_last(struct trace_writer *writer, uintptr_t frame,
                     uintptr_t back)
{
    bool cut = trace_calls_repair(writer, frame, trace_return_of(frame), back);

    if (trace_calls.top->frame != frame || !trace_is_line(trace_calls.top))
        return;
    if (cut)
        trace_calls_cut(writer);
    else
        trace_calls_pop(writer);
}

static void step(struct trace_writer *writer, uintptr_t frame, uintptr_t back)
{
    struct trace_calls *calls = &trace_calls;
    bool returns;

    if (calls->generation != writer->generation && !trace_calls_begin(writer))
        return;
    if (!trace_is_loaded_at(calls->module, back))
        calls->module = trace_load_map_find(writer, back);
    returns = back - calls->ended < RETURNING &&
              trace_return_of(frame) == calls->ended_site;
    if (!returns)
        end_last(writer, frame, back);
    if (!trace_is_loaded_at(calls->module, back) ||
        !trace_has_line(calls->module, back) ||
        !push(writer, frame, back, false))
        return;
    if (returns)
        trace_calls_pop(writer);
}

/* Most blocks are outside of the lines that are recorded. */
void trace_line_visit(uintptr_t frame, uintptr_t back)
{
    const struct trace_calls *calls = &trace_calls;
    struct trace_writer *writer;

    if (trace_is_loaded_at(calls->module, back) &&
        calls->module->filter == trace_recording.functions &&
        !trace_has_line(calls->module, back) && !ends_line(calls->top, frame))
        return;
    writer = trace_enter();
    if (!writer)
        return;
    step(writer, frame, back);
    trace_leave(writer);
}

/* line_hook.c: what the compiler calls where a block of lines begins: lines
 * that run one after the other.
 *
 * The compiler tells where a block begins, but not where a function ends. So
 * the last block of a function lasts until the next one of a function around it
 * begins, or until the function's exit, if it calls that hook, too.
 */
#include "calls.h"

TRACE_API void __sanitizer_cov_trace_pc(void);

/* gcc has a block behind a function's exit, which only returns. */
enum { RETURNING = 16 /* most bytes between both hooks */ };

/* Returns whether a block ends the innermost one: that is in its frame, or in
 * one that is gone. */
static bool ends_line(const struct trace_frame *top, uintptr_t frame)
{
    return top && top->frame <= frame && trace_is_line(top);
}

static void push(struct trace_writer *writer, uintptr_t frame, uintptr_t back)
{
    struct trace_frame *top;

    if (trace_calls.top == trace_calls.last && !trace_calls_grow())
        return;
    top = trace_calls.top + 1;
    top->frame = frame;
    top->site = trace_return_of(frame);
    top->back = top->function = back;
    top->start = trace_stamp(writer);
    top->call = trace_call_open(writer, top->start, back, TRACE_CALL_LINE);
    trace_barrier();
    trace_calls.top = top;
}

void trace_line_put_inside(struct trace_writer *writer, uintptr_t back,
                           uintptr_t function)
{
    struct trace_frame *line = trace_calls.top;
    uintptr_t begin = line->function;

    if (line->call)
        __atomic_store_n(&line->call->function, function & TRACE_CALL_ADDRESS,
                         __ATOMIC_RELEASE);
    line->back = back;
    line->function = function;
    push(writer, line->frame, begin);
}

static void step(struct trace_writer *writer, uintptr_t frame, uintptr_t back)
{
    struct trace_calls *calls = &trace_calls;

    if (calls->generation != writer->generation && !trace_calls_begin(writer))
        return;
    if (!trace_is_loaded_at(calls->module, back))
        calls->module = trace_load_map_find(writer, back);
    if (back - calls->ended < RETURNING &&
        trace_return_of(frame) == calls->ended_site)
        return;
    trace_calls_repair(writer, frame, trace_return_of(frame), back);
    if (calls->top->frame == frame && trace_is_line(calls->top))
        trace_calls_pop(writer);
    if (trace_is_loaded_at(calls->module, back) &&
        trace_has_line(calls->module, back))
        push(writer, frame, back);
}

/* Most blocks are outside of the lines that are recorded. */
static __attribute__((noinline)) void visit(uintptr_t frame, uintptr_t back)
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

enum { STACK_MOST = 64 << 20 /* bytes */ };

/* Returns the frame of the function that has called the hook. Code without
 * frame pointers has something else there: then it is the hook's own. */
static uintptr_t frame_of(uintptr_t hook)
{
    uintptr_t frame = trace_frame_outer(hook);

    return frame > hook && frame - hook < STACK_MOST &&
                   frame % sizeof(frame) == 0
               ? frame
               : hook;
}

void __sanitizer_cov_trace_pc(void)
{
    if (unlikely(__atomic_load_n(&trace_recording.lines, __ATOMIC_RELAXED)))
        visit(frame_of(trace_frame()), (uintptr_t)__builtin_return_address(0));
}

/* switch.c: saves the spans of coroutines, which take turns on a thread. */
#include <errno.h>
#include <stdlib.h>

#include "stack.h"

struct trace_stack {
    uint32_t generation;
    size_t count, calls; /* spans; bytes of suspended calls behind them */
    struct trace_entered entered[];
};

/* Removes the thread's spans from its stack, innermost first, and suspends its
 * calls. */
static struct trace_stack *take(struct trace_writer *writer, size_t calls)
{
    size_t count = writer->depth - writer->inherited;
    struct trace_stack *stack =
        malloc(sizeof(*stack) + count * sizeof(*stack->entered) + calls);

    if (!stack)
        return NULL;
    stack->generation = writer->generation;
    stack->count = count;
    stack->calls = calls;
    if (calls)
        trace_call_hooks->save(writer, stack->entered + count);
    while (count-- > 0) {
        stack->entered[count] = writer->stack[writer->depth - 1];
        trace_patch(writer, stack->entered[count].record);
        trace_pop(writer);
    }
    return stack;
}

static size_t size_of_calls(const struct trace_writer *writer)
{
    const struct trace_call_hooks *hooks = trace_call_hooks_now();

    return hooks ? hooks->saved(writer) : 0;
}

struct trace_stack *trace_stack_save(void)
{
    int error = errno;
    struct trace_stack *stack = NULL;
    size_t calls;
    struct trace_writer *writer =
        trace_is_recording() && !trace_is_busy(&trace_writer) ? trace_enter()
                                                              : NULL;

    if (!writer)
        return NULL;
    trace_settle(writer);
    calls = size_of_calls(writer);
    if (writer->depth > writer->inherited || calls) {
        struct trace_hold hold;
        uintptr_t busy;

        trace_hold(&hold);
        busy = trace_ours_begin(writer);
        stack = take(writer, calls);
        trace_ours_end(writer, busy);
        trace_release(&hold);
    }
    trace_leave(writer);
    errno = error;
    return stack;
}

static void put_back(struct trace_writer *writer,
                     const struct trace_stack *stack)
{
    for (size_t i = 0; i < stack->count; i++) {
        const struct trace_entered *entered = &stack->entered[i];
        bool done = trace_unrecorded(entered->record)
                        ? trace_push(writer, *entered)
                        : trace_enter_again(writer, *entered);

        if (!done)
            break;
    }
    if (stack->calls)
        trace_call_hooks->restore(writer, stack->entered + stack->count,
                                  stack->calls);
}

void trace_stack_restore(struct trace_stack *stack)
{
    int error = errno;
    struct trace_writer *writer =
        stack && trace_is_recording() && !trace_is_busy(&trace_writer)
            ? trace_enter()
            : NULL;

    /* A forked child continues with its parent's stacks. */
    if (writer && (stack->generation == writer->generation || writer->forked))
        put_back(writer, stack);
    if (writer)
        trace_leave(writer);
    free(stack);
    errno = error;
}

/* put_left.c: prints the stack that a process left when it crashed. */
#include "stacks.h"

/* Without a stack, it is known where the thread was. */
static void put_frames(const struct trace_crash *crash,
                       const struct stacks_caller *caller)
{
    const uint64_t places[] = {crash->instruction, caller->returns_to};
    static struct stacks_stack stack;
    struct stacks_mapping mapping;
    struct stacks_frame frame;

    stacks_unwind_left(crash, caller, &stack);
    for (size_t i = 0; i < stack.count; i++)
        stacks_put_frame(&stack.frames[i]);
    for (size_t i = 0; i < 2 && !stack.count; i++)
        if (places[i]) {
            frame = stacks_place(0, places[i], &mapping);
            stacks_put_frame(&frame);
        }
    if (stack.more)
        stacks_put("more");
}

int stacks_put_left(void)
{
    const struct trace_crash *crash = stacks_read_left();
    struct stacks_fault fault;
    struct stacks_caller caller;

    if (!crash)
        return 2;
    fault = (struct stacks_fault){.signal = crash->signal,
                                  .code = crash->code,
                                  .address = crash->address,
                                  .stack = crash->stack,
                                  .instruction = crash->instruction};
    caller = stacks_find_caller(&fault, 0);
    stacks_put_fault(&fault, &caller, 0);
    stacks_put("process\t%u\t%s", crash->process, crash->name);
    stacks_put("thread\t%u\t%s\t\t", crash->thread, crash->name);
    put_frames(crash, &caller);
    stacks_put("end");
    return 0;
}

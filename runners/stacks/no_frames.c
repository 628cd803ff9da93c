/* no_frames.c: replaces frames.c if libdw is missing. */
#include "stacks.h"

struct Dwfl *stacks_open(pid_t thread)
{
    static bool said;

    (void)thread;
    if (!said)
        stacks_put("note\tno stacks, because testlog was built without libdw: "
                   "install libdw-dev and build it again");
    said = true;
    return NULL;
}

void stacks_unwind(struct Dwfl *dwfl, const struct stacks_thread *thread,
                   const struct stacks_caller *caller,
                   struct stacks_stack *stack)
{
    (void)dwfl;
    (void)thread;
    (void)caller;
    stack->count = 0;
}

void stacks_close(struct Dwfl *dwfl)
{
    (void)dwfl;
}

const char *stacks_variable(struct Dwfl *dwfl, uint64_t address,
                            uint64_t *offset)
{
    (void)dwfl;
    (void)address;
    (void)offset;
    return NULL;
}

void stacks_unwind_left(const struct trace_crash *crash,
                        const struct stacks_caller *caller,
                        struct stacks_stack *stack)
{
    (void)crash;
    (void)caller;
    stacks_open(0);
    stack->count = 0;
}

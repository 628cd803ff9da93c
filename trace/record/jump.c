/* jump.c: detects what jumps have abandoned, and prevents jumps out of locks.
 */
#include <errno.h>
#include <pthread.h>

#include "stack.h"
#include "write.h"

/* ---- Stacks ---- */

struct stack {
    uintptr_t low, size;
};

enum { NEAR = 4096 }; /* frames so close are on one stack */

static bool within(struct stack stack, uintptr_t at)
{
    return at - stack.low < stack.size;
}

static struct stack own_stack(void)
{
    static _Thread_local struct stack own TRACE_TLS_;
    pthread_attr_t attributes;
    void *low;
    size_t size;

    if (own.size)
        return own;
    own.size = 1; /* malloc may be the program's own and record */
    if (pthread_getattr_np(pthread_self(), &attributes))
        return own;
    if (!pthread_attr_getstack(&attributes, &low, &size))
        own = (struct stack){(uintptr_t)low, size};
    pthread_attr_destroy(&attributes);
    return own;
}

/* The alternate stack of the thread's signal handlers, if any. */
static struct stack alternate_stack(void)
{
    stack_t stack;

    if (trace_writer.filtered || sigaltstack(NULL, &stack) ||
        stack.ss_flags & SS_DISABLE)
        return (struct stack){0, 0};
    return (struct stack){(uintptr_t)stack.ss_sp, stack.ss_size};
}

bool trace_on_own_stack(uintptr_t frame)
{
    return within(own_stack(), frame);
}

bool trace_has_left(uintptr_t inner, uintptr_t frame)
{
    struct stack alternate = alternate_stack();
    bool was_handler = within(alternate, inner);

    if (was_handler != within(alternate, frame))
        return was_handler && within(own_stack(), frame);
    return inner <= frame &&
           (frame - inner < NEAR ||
            (within(own_stack(), inner) && within(own_stack(), frame)));
}

bool trace_is_replaced(uintptr_t outer, uintptr_t back, uintptr_t frame)
{
    struct stack alternate = alternate_stack();
    bool same = within(alternate, outer)
                    ? within(alternate, frame)
                    : within(own_stack(), outer) && within(own_stack(), frame);

    return same && outer > frame && trace_return_of(outer) != back;
}

/* ---- Records ---- */

/* Returns whether an enter is of a record that was never finished. */
static bool is_unfinished(const struct trace_entered *entered)
{
    return !trace_unrecorded(entered->record) &&
           !__atomic_load_n(
               &trace_record_at(&trace_writer, entered->record)->time,
               __ATOMIC_RELAXED);
}

bool trace_is_inside(struct trace_writer *writer, uintptr_t frame)
{
    int error = errno;
    uintptr_t mark = writer->busy & ~TRACE_OURS;
    bool inside = mark == TRACE_REFUSING ||
                  !(trace_has_left(mark, frame) ||
                    trace_is_replaced(mark, writer->back, frame));

    if (!inside) {
        while (trace_is_current(writer) && writer->depth > writer->inherited &&
               is_unfinished(&writer->stack[writer->depth - 1]))
            trace_pop(writer);
        writer->busy = 0;
    }
    errno = error;
    return inside;
}

void trace_returned_to(uintptr_t frame)
{
    if (trace_writer.busy)
        trace_is_inside(&trace_writer, frame);
}

/* ---- Locks ---- */

/* The signals that may arrive at any time. Faults of our own stay unblocked;
 * abort() unblocks its signal. */
static void fill_signals(sigset_t *signals)
{
    static const int faults[] = {SIGSEGV, SIGBUS,  SIGILL,
                                 SIGFPE,  SIGTRAP, SIGSYS};

    sigfillset(signals); /* except those that glibc uses */
    for (size_t i = 0; i < sizeof(faults) / sizeof(*faults); i++)
        sigdelset(signals, faults[i]);
}

bool trace_has_handlers(void)
{
    struct sigaction action;
    sigset_t signals;

    fill_signals(&signals);
    sigdelset(&signals, SIGABRT); /* nobody goes on after it */
    for (int i = 1; i < NSIG; i++)
        if (sigismember(&signals, i) == 1 && !sigaction(i, NULL, &action) &&
            action.sa_handler != SIG_DFL && action.sa_handler != SIG_IGN)
            return true;
    return false;
}

_Thread_local unsigned trace_held TRACE_TLS_;

void trace_hold_cancelling(struct trace_hold *hold)
{
    trace_held++;
    hold->has_signals = false;
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &hold->cancelling);
}

void trace_hold(struct trace_hold *hold)
{
    sigset_t signals;

    if (!trace_writer.filtered) {
        fill_signals(&signals);
        pthread_sigmask(SIG_BLOCK, &signals, &hold->signals);
    }
    trace_hold_cancelling(hold);
    hold->has_signals = !trace_writer.filtered;
}

void trace_release(const struct trace_hold *hold)
{
    pthread_setcancelstate(hold->cancelling, NULL);
    trace_held--;
    if (hold->has_signals)
        pthread_sigmask(SIG_SETMASK, &hold->signals, NULL);
}

/* jump.h: detects records and spans that a jump has abandoned. Private.
 *
 * A signal handler that ends in siglongjmp may interrupt a record, and longjmp
 * leaves spans open. Stacks grow down: what began in a frame below the current
 * one has been abandoned, if both are on the same stack.
 */
#ifndef TRACE_JUMP_H
#define TRACE_JUMP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

#include <testlog/trace.h>

/* trace_frame is the address of the calling function's frame. */
#define trace_frame() ((uintptr_t)__builtin_frame_address(0))

/* trace_return_of returns the return address of a frame. It tells functions
 * apart that ran in the same frame. For AddressSanitizer it is a value that
 * must not be dereferenced. 0 on machines that store it elsewhere. */
static inline __attribute__((no_sanitize("address"))) uintptr_t trace_return_of(
    uintptr_t frame)
{
#if defined(__x86_64__) || defined(__i386__) || defined(__aarch64__)
    return ((volatile uintptr_t *)frame)[1];
#else
    (void)frame;
    return 0;
#endif
}

/* trace_has_left returns whether the thread, now in `frame`, has left the
 * function whose frame was `inner`. */
bool trace_has_left(uintptr_t inner, uintptr_t frame);

/* trace_on_own_stack returns whether a frame is on the stack that the thread
 * was created with. */
bool trace_on_own_stack(uintptr_t frame);

/* trace_is_replaced returns whether `frame` belongs to another function than
 * the one that was at `outer` and returned to `back`. */
bool trace_is_replaced(uintptr_t outer, uintptr_t back, uintptr_t frame);

/* trace_hold saves the signal mask and the cancellation state here. */
struct trace_hold {
    sigset_t signals;
    bool has_signals;
    int cancelling;
};

/* trace_hold blocks signals and cancellation for the thread until
 * trace_release, because it holds a lock that a jump must not leave behind.
 * trace_hold_cancelling blocks cancellation only. */
extern _Thread_local unsigned trace_held TRACE_TLS_; /* how often */
void trace_hold(struct trace_hold *);
void trace_hold_cancelling(struct trace_hold *);
void trace_release(const struct trace_hold *);

/* trace_has_handlers returns whether the process handles a signal that may
 * arrive at any time. */
bool trace_has_handlers(void);

#endif

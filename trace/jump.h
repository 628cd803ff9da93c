/* jump.h: finds what a jump has left: a record or a span whose function is
 * gone. Private.
 *
 * A signal handler that ends in siglongjmp may interrupt a record, and longjmp
 * leaves spans open. Stacks grow down, so whatever was begun in a frame below
 * the one that runs now has been left, if both are on the same stack.
 */
#ifndef TRACE_JUMP_H
#define TRACE_JUMP_H

#include <signal.h>
#include <stdbool.h>
#include <stdint.h>

/* trace_frame is the address of the calling function's frame. */
#define trace_frame() ((uintptr_t)__builtin_frame_address(0))

/* trace_return_of returns where a frame's function returns to: another function
 * has another there, or, for AddressSanitizer, something that must not be read.
 * 0 on machines that have it elsewhere. */
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

/* trace_has_left tells whether the thread, which runs in `frame`, has left
 * `inner`, the frame of a function that it was in. */
bool trace_has_left(uintptr_t inner, uintptr_t frame);

/* trace_is_replaced tells whether `frame` is in a function that took the place
 * of the one that was at `outer` and returned to `back`. */
bool trace_is_replaced(uintptr_t outer, uintptr_t back, uintptr_t frame);

/* trace_hold saves here how signals and cancellation were. */
struct trace_hold {
    sigset_t signals;
    bool has_signals;
    int cancelling;
};

/* trace_hold keeps signal handlers and cancellation away from the thread until
 * trace_release: it has a lock, which it must not leave by a jump.
 * trace_hold_cancelling keeps only cancellation away. */
void trace_hold(struct trace_hold *);
void trace_hold_cancelling(struct trace_hold *);
void trace_release(const struct trace_hold *);

/* trace_has_handlers tells whether the process handles a signal that may come
 * at any moment. */
bool trace_has_handlers(void);

#endif

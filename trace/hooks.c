/* hooks.c: what the compiler calls at the beginning and end of functions, and
 * at the beginning of blocks of lines.
 */
#include "trace/calls/calls.h"

TRACE_API void __cyg_profile_func_enter(void *function, void *site);
TRACE_API void __cyg_profile_func_exit(void *function, void *site);
TRACE_API void __sanitizer_cov_trace_pc(void);

/* Finds the module of a function that is not in the last one. */
static __attribute__((noinline)) bool find_module(struct trace_writer *writer,
                                                  uintptr_t function)
{
    trace_calls.module = trace_load_map_find(writer, function);
    return !trace_is_unwanted(trace_calls.module, function);
}

/* Prepares what the thread's last call left as it was; false if this one is
 * left out. */
static inline bool prepare(struct trace_writer *writer, uintptr_t frame,
                           uintptr_t site, uintptr_t back, uintptr_t function)
{
    struct trace_calls *calls = &trace_calls;

    if (unlikely(calls->generation != writer->generation) &&
        !trace_calls_begin(writer))
        return false;
    if (unlikely(!trace_is_loaded_at(calls->module, function)) &&
        !find_module(writer, function))
        return false;
    if (unlikely(calls->top->frame != trace_frame_outer(frame)))
        trace_calls_repair(writer, frame, site, back);
    return likely(calls->top != calls->last) || trace_calls_grow();
}

/* A program that calls the hooks may have no annotation: then the first call
 * begins what it is asked for. Returns whether calls are recorded now. */
static __attribute__((noinline)) bool ask(void)
{
    uint8_t first = TRACE_CALLS_FIRST;

    if (__atomic_compare_exchange_n(&trace_recording.calls, &first,
                                    TRACE_CALLS_OFF, false, __ATOMIC_RELAXED,
                                    __ATOMIC_RELAXED)) {
        __atomic_store_n(&trace_recording.lines, false, __ATOMIC_RELAXED);
        if (trace_process_asked())
            trace_process_begin();
    } else if (first == TRACE_CALLS_AWAITED) {
        trace_site_called();
    }
    return __atomic_load_n(&trace_recording.calls, __ATOMIC_RELAXED) ==
           TRACE_CALLS_RECORDED;
}

/* Apart from the hook, which is cheaper without its registers when it records
 * nothing. The fields are stored one by one: a copy of a struct would wait for
 * the stores that made it. */
static __attribute__((noinline)) void enter(uintptr_t frame, uintptr_t site,
                                            uintptr_t back, uintptr_t function)
{
    struct trace_writer *writer;
    struct trace_frame *top;

    if (unlikely(__atomic_load_n(&trace_recording.calls, __ATOMIC_RELAXED) !=
                 TRACE_CALLS_RECORDED) &&
        !ask())
        return;
    writer = trace_enter();
    if (unlikely(!writer))
        return;
    if (!likely(prepare(writer, frame, site, back, function))) {
        /* It is left out. */
    } else if (unlikely(trace_line_is_first(trace_calls.top, frame))) {
        trace_line_put_inside(writer, back, function);
    } else {
        top = trace_calls.top + 1;
        top->frame = frame;
        top->site = site;
        top->back = back;
        top->function = function;
        top->start = trace_stamp(writer);
        top->call = trace_call_open(writer, top->start, function, 0);
        trace_barrier();
        trace_calls.top = top;
    }
    trace_leave(writer);
}

void __cyg_profile_func_enter(void *function, void *site)
{
    if (__atomic_load_n(&trace_recording.calls, __ATOMIC_RELAXED) !=
            TRACE_CALLS_OFF &&
        !trace_is_unwanted(trace_calls.module, (uintptr_t)function))
        enter(trace_frame_outer(trace_frame()), (uintptr_t)site,
              (uintptr_t)__builtin_return_address(0), (uintptr_t)function);
}

/* Ends a call whose frame is the innermost one's, or within. */
static __attribute__((noinline)) void leave(struct trace_frame *top,
                                            uintptr_t frame, uintptr_t function,
                                            uintptr_t site, uintptr_t back)
{
    struct trace_writer *writer = trace_enter();

    if (unlikely(!writer))
        return;
    trace_calls.ended = back;
    trace_calls.ended_site = site;
    if (unlikely(trace_calls.generation != writer->generation)) {
        /* It is of an earlier recording, or of a fork's parent. */
    } else if (likely(top->frame == frame && top->function == function)) {
        trace_call_close(writer, top);
        trace_calls.top = top - 1;
    } else {
        trace_calls_leave(writer, frame, function);
    }
    trace_leave(writer);
}

/* A call that was left out has no entry: the innermost one is of a frame around
 * it. */
void __cyg_profile_func_exit(void *function, void *site)
{
    struct trace_frame *top = trace_calls.top;
    uintptr_t frame = trace_frame_outer(trace_frame());

    if (top && top->frame <= frame && !trace_is_busy(&trace_writer))
        leave(top, frame, (uintptr_t)function, (uintptr_t)site,
              (uintptr_t)__builtin_return_address(0));
}

/* ---- Lines ---- */

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
    if (likely(!__atomic_load_n(&trace_recording.lines, __ATOMIC_RELAXED)))
        return;
    if (likely(__atomic_load_n(&trace_recording.calls, __ATOMIC_RELAXED) ==
               TRACE_CALLS_RECORDED) ||
        ask())
        trace_line_visit(frame_of(trace_frame()),
                         (uintptr_t)__builtin_return_address(0));
}

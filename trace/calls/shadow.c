/* shadow.c: the open calls of a thread.
 *
 * The stack's memory is not malloc's: a hook may run in a signal handler that
 * interrupted malloc, or in the program's own malloc.
 */
#include <errno.h>
#include <sys/mman.h>

#include "calls.h"

enum { FIRST_BYTES = 64 << 10 };

void trace_calls_pop(struct trace_writer *writer)
{
    trace_call_close(writer, trace_calls.top);
    trace_barrier();
    trace_calls.top--;
}

void trace_calls_cut(struct trace_writer *writer)
{
    struct trace_call_entry *call = trace_calls.top->call;

    if (call)
        __atomic_store_n(&call->function, call->function | TRACE_CALL_CUT,
                         __ATOMIC_RELEASE);
    trace_calls_pop(writer);
}

/* ---- Threads and coroutines ---- */

static void end(struct trace_writer *writer)
{
    struct trace_calls *calls = &trace_calls;

    if (trace_is_recording() && calls->generation &&
        calls->generation == writer->generation) {
        while (calls->top > calls->bottom)
            trace_calls_cut(writer);
        trace_call_give_room(writer);
    }
    if (calls->bottom)
        munmap(calls->bottom, calls->bytes);
    *calls = (struct trace_calls){.module = &trace_load_map_none};
}

/* An unwound frame's calls are those of frames below it. */
static void unwind(struct trace_writer *writer, uintptr_t frame)
{
    struct trace_calls *calls = &trace_calls;

    if (!calls->generation || calls->generation != writer->generation)
        return;
    while (calls->top > calls->bottom && calls->top->frame < frame &&
           trace_has_left(calls->top->frame, frame))
        trace_calls_cut(writer);
}

static size_t saved(const struct trace_writer *writer)
{
    const struct trace_calls *calls = &trace_calls;

    return calls->generation && calls->generation == writer->generation
               ? (size_t)(calls->top - calls->bottom) * sizeof(*calls->top)
               : 0;
}

static void save(struct trace_writer *writer, void *memory)
{
    struct trace_calls *calls = &trace_calls;
    struct trace_frame *to = memory;

    for (size_t i = (size_t)(calls->top - calls->bottom); i-- > 0;) {
        to[i] = *calls->top;
        trace_calls_pop(writer);
    }
}

static void restore(struct trace_writer *writer, const void *memory,
                    size_t size)
{
    struct trace_calls *calls = &trace_calls;
    const struct trace_frame *from = memory, *to = from + size / sizeof(*from);

    if (calls->generation != writer->generation && !trace_calls_begin(writer))
        return;
    for (; from < to; from++) {
        struct trace_frame resumed = *from;

        if (calls->top == calls->last && !trace_calls_grow())
            return;
        resumed.start = trace_stamp(writer);
        if (resumed.call)
            resumed.call =
                trace_call_open(writer, resumed.start, resumed.function,
                                TRACE_CALL_RESUMED | trace_line_flag(from));
        *++calls->top = resumed;
    }
}

static void prepare(struct trace_writer *writer)
{
    if (trace_calls.generation != writer->generation &&
        !trace_calls_begin(writer))
        return;
    trace_load_map_renew(writer);
    trace_call_take_room(writer);
}

static const struct trace_call_hooks hooks = {end,  unwind,  saved,
                                              save, restore, prepare};

/* ---- Memory ---- */

static struct trace_frame *end_of(const struct trace_calls *calls)
{
    return calls->bottom + calls->bytes / sizeof(*calls->bottom) - 1;
}

/* The filter may allow fewer open calls than the memory has room for. */
static void set_last(struct trace_calls *calls)
{
    const struct trace_function_filter *filter = trace_recording.functions;

    calls->last = end_of(calls);
    if (filter && filter->depth && filter->depth < calls->last - calls->bottom)
        calls->last = calls->bottom + filter->depth;
}

static bool map_stack(struct trace_calls *calls)
{
    int error = errno;
    void *memory = mmap(NULL, FIRST_BYTES, PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    errno = error;
    if (memory == MAP_FAILED)
        return false;
    calls->bottom = memory;
    calls->bytes = FIRST_BYTES;
    calls->bottom->frame = UINTPTR_MAX;
    return true;
}

/* Calls of an earlier recording, or of a fork's parent, are not ended. */
bool trace_calls_begin(struct trace_writer *writer)
{
    struct trace_calls *calls = &trace_calls;

    if (!calls->bottom && !map_stack(calls))
        return false;
    calls->top = calls->bottom;
    calls->module = &trace_load_map_none;
    calls->next = calls->end = NULL;
    calls->record = calls->free = calls->room_end = NULL;
    calls->pieces = 0;
    calls->full = false;
    calls->least =
        trace_recording.functions ? trace_recording.functions->least : 0;
    set_last(calls);
    calls->generation = writer->generation;
    __atomic_store_n(&trace_call_hooks, &hooks, __ATOMIC_RELEASE);
    return true;
}

bool trace_calls_grow(void)
{
    struct trace_calls *calls = &trace_calls;
    size_t depth = (size_t)(calls->top - calls->bottom);
    int error = errno;
    struct trace_hold hold;
    void *memory;

    if (calls->last < end_of(calls))
        return false; /* the filter allows no more */
    trace_hold(&hold);
    memory =
        mremap(calls->bottom, calls->bytes, 2 * calls->bytes, MREMAP_MAYMOVE);
    if (memory != MAP_FAILED) {
        calls->bottom = memory;
        calls->bytes *= 2;
        calls->top = calls->bottom + depth;
        set_last(calls);
    }
    trace_release(&hold);
    errno = error;
    return memory != MAP_FAILED;
}

/* ---- Order ---- */

/* Returns whether a call that is still open has its frame at `frame`. */
static bool has_frame(uintptr_t frame)
{
    const struct trace_frame *at = trace_calls.top;

    while (at->frame < frame)
        at--;
    return at->frame == frame;
}

/* Returns whether a call's frame is gone when a function calls another one,
 * which is at `frame`: what is between both is. If the caller has no frame
 * pointer, the call's return address tells. */
static bool is_gone(const struct trace_frame *top, uintptr_t frame)
{
    uintptr_t outer = trace_frame_outer(frame);

    if (top->frame == outer)
        return false;
    if (!trace_on_own_stack(top->frame) || !trace_on_own_stack(frame))
        return trace_has_left(top->frame, frame);
    return (top->frame < outer && has_frame(outer)) ||
           trace_return_of(top->frame) != top->site ||
           trace_has_left(top->frame, frame);
}

/* Returns whether the innermost call has been left when a function enters.
 * Functions that were inlined have one frame and return address. A line goes
 * with the function that it is in. */
static bool is_left(const struct trace_frame *top, uintptr_t frame,
                    uintptr_t site, uintptr_t back)
{
    if (trace_is_line(top) && top[-1].frame == top->frame)
        top--;
    if (top->frame == frame)
        return top->site != site || top->back == back;
    return top->frame < frame ? trace_has_left(top->frame, frame)
                              : is_gone(top, frame);
}

bool trace_calls_repair(struct trace_writer *writer, uintptr_t frame,
                        uintptr_t site, uintptr_t back)
{
    bool functions = false;
    int error = errno;

    while (trace_calls.top > trace_calls.bottom &&
           is_left(trace_calls.top, frame, site, back)) {
        functions |= !trace_is_line(trace_calls.top);
        trace_calls_cut(writer);
    }
    errno = error;
    return functions;
}

void trace_calls_leave(struct trace_writer *writer, uintptr_t frame,
                       uintptr_t function)
{
    struct trace_calls *calls = &trace_calls;
    const struct trace_frame *at = calls->top;

    if (at->frame == frame && trace_is_line(at)) /* even if the call has none */
        trace_calls_pop(writer), at--;
    while (at->frame <= frame &&
           (at->frame != frame || at->function != function))
        at--;
    if (at->frame > frame)
        return;
    while (calls->top > at)
        trace_calls_cut(writer);
    trace_calls_pop(writer);
}

/* barred_threads.c: keeps threads from recording: those that have outlived the
 * test which started them. */
#include <stdlib.h>
#include <string.h>

#include "trace/record/recorder.h"

static uint32_t *barred;    /* under the lock of room.c */
static size_t barred_count; /* atomic */

static bool is_barred(struct trace_writer *writer)
{
    bool found = false;
    uint32_t thread;

    if (!__atomic_load_n(&barred_count, __ATOMIC_RELAXED))
        return false;
    thread = trace_self(writer)->tid;
    trace_room_lock();
    for (size_t i = 0; i < barred_count && !found; i++)
        found = barred[i] == thread;
    trace_room_unlock();
    return found;
}

int trace_bar_threads(const uint32_t *threads, size_t count)
{
    uint32_t *copy = count ? malloc(count * sizeof(*copy)) : NULL, *last;

    if (count && !copy)
        return -1;
    if (count)
        memcpy(copy, threads, count * sizeof(*copy));
    trace_thread_barred = is_barred;
    trace_room_lock();
    last = barred;
    barred = copy;
    __atomic_store_n(&barred_count, count, __ATOMIC_RELAXED);
    trace_room_unlock();
    free(last);
    return 0;
}

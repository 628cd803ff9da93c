/* backends.c: the words of each device back end. */
#include "trace/backends.h"

const struct trace_backend_words trace_backends[] = {
#define TRACE_X(folder, member, name, device, correlation, queue, calls,       \
                waits)                                                         \
    {#member, name, device, correlation, queue, calls, waits},
    TRACE_BACKENDS(TRACE_X)
#undef TRACE_X
};

const struct trace_backend_words *trace_backend_of(uint32_t device)
{
    unsigned row = TRACE_BACKEND_COUNT - 1;

    while (row > 0 && device < trace_backends[row].first_device)
        row--;
    return &trace_backends[row];
}

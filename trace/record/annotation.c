/* annotation.c: records the annotations of others, such as NVTX's. */
#include <errno.h>

#include "recorder.h"
#include "trace/device.h"

struct trace_span_ref trace_annotation_push(struct trace_site *site,
                                            size_t count,
                                            const struct trace_value *values)
{
    struct trace_span_ref span = {0, 0};
    int error = errno;

    if (trace_site_on_(site))
        span = trace_span_begin_(site, count, values);
    errno = error;
    return span;
}

struct trace_span_ref trace_annotation_start(struct trace_site *site,
                                             size_t count,
                                             const struct trace_value *values)
{
    struct trace_span_ref span = {0, 0};
    int error = errno;

    if (trace_site_on_(site))
        span = trace_span_beside_(site, count, values);
    errno = error;
    return span;
}

void trace_annotation_mark(struct trace_site *site, size_t count,
                           const struct trace_value *values)
{
    int error = errno;

    if (trace_site_on_(site))
        trace_event_(site, count, values);
    errno = error;
}

/* ---- Strays ---- */

static uint64_t strays; /* atomic */

void trace_annotation_stray(void)
{
    __atomic_fetch_add(&strays, 1, __ATOMIC_RELAXED);
}

void trace_annotation_note(void)
{
    uint64_t count = __atomic_exchange_n(&strays, 0, __ATOMIC_RELAXED);
    char text[24];

    if (!count)
        return;
    snprintf(text, sizeof(text), "%llu", (unsigned long long)count);
    trace_device_note("gpu.nvtx_strays", text);
}

/* tracked.c: what is known about spans, by the place of their record. */
#include <stdlib.h>

#include "log/filter/filter.h"
#include "replay.h"

void *log_tracked_put(struct trace_table *tracked, uint32_t place, size_t size)
{
    void *span;

    log_tracked_remove(tracked, place);
    span = calloc(1, size);
    if (span && trace_table_set(tracked, place, (uintptr_t)span))
        return span;
    free(span);
    return NULL;
}

struct log_span *log_tracked_add(struct trace_table *tracked, uint32_t place,
                                 const struct log_verdict *verdict)
{
    struct log_span *span =
        log_tracked_put(tracked, place, sizeof(*span) + verdict->patterns);

    if (span)
        span->verdict = verdict;
    return span;
}

void *log_tracked_find(const struct trace_table *tracked, uint32_t place)
{
    uintptr_t span;

    return trace_table_find(tracked, place, &span) ? (void *)span : NULL;
}

void log_tracked_remove(struct trace_table *tracked, uint32_t place)
{
    free(log_tracked_find(tracked, place));
    trace_table_remove(tracked, place);
}

void log_tracked_free(struct trace_table *tracked)
{
    size_t cursor = 0;
    uintptr_t span;

    while (trace_table_next(tracked, &cursor, &span))
        free((void *)span);
    trace_table_free(tracked);
}

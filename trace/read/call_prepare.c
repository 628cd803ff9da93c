/* call_prepare.c: sorts the calls of a recording, and finds their functions. */
#include <stdlib.h>

#include "call_index.h"
#include "reader_parts.h"

static int by_thread(const void *a, const void *b)
{
    const struct trace_call_block *x = a, *y = b;

    if (x->thread != y->thread)
        return x->thread < y->thread ? -1 : 1;
    if (x->time != y->time)
        return x->time < y->time ? -1 : 1;
    return x->place < y->place ? -1 : x->place > y->place;
}

static int by_place(const void *a, const void *b, void *context)
{
    const struct trace_call_block *blocks = context;
    uint32_t x = blocks[*(const uint32_t *)a].place;
    uint32_t y = blocks[*(const uint32_t *)b].place;

    return x < y ? -1 : x > y;
}

static bool sort_blocks(struct trace_call_index *calls)
{
    size_t count = calls->block_count;

    if (!count)
        return true;
    calls->by_place = malloc(count * sizeof(*calls->by_place));
    if (!calls->by_place)
        return false;
    qsort(calls->blocks, count, sizeof(*calls->blocks), by_thread);
    for (size_t i = 0; i < count; i++)
        calls->by_place[i] = (uint32_t)i;
    qsort_r(calls->by_place, count, sizeof(*calls->by_place), by_place,
            calls->blocks);
    return true;
}

static bool find_called(struct trace_reader *reader)
{
    struct trace_call_cursor cursor =
        trace_calls_of(reader->calls.blocks, reader->calls.block_count);
    struct trace_seen_call call;
    bool ok = true;

    while (ok && trace_calls_next(reader, &cursor, &call)) {
        ok = trace_functions_add(&reader->calls, call.function, call.start);
        reader->last = call.start > reader->last ? call.start : reader->last;
        reader->last = call.end > reader->last ? call.end : reader->last;
    }
    return ok;
}

/* ---- Opening ---- */

/* The functions have ids behind those of the call sites. */
static bool make_sites(struct trace_reader *reader)
{
    struct trace_call_index *calls = &reader->calls;

    if (!calls->function_count)
        return true;
    calls->first_site = (uint32_t)reader->site_count + !reader->site_count;
    return TRACE_ARRAY_RESERVE(reader->sites, reader->site_count,
                               calls->first_site + calls->function_count);
}

bool trace_calls_prepare(struct trace_reader *reader)
{
    trace_functions_sort(&reader->calls);
    return sort_blocks(&reader->calls) && find_called(reader) &&
           trace_lost_calls_add(reader) && make_sites(reader) &&
           trace_calls_nest(reader);
}

void trace_calls_free(struct trace_reader *reader)
{
    struct trace_call_index *calls = &reader->calls;

    free(calls->blocks);
    free(calls->by_place);
    free(calls->around);
    trace_table_free(&calls->ends);
    trace_functions_free(calls);
}

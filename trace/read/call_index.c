/* call_index.c: finds calls of functions in a recording. */
#include "call_index.h"

#include <stdlib.h>

#include "reader_parts.h"

/* ---- Records ---- */

static bool add_block(struct trace_reader *reader,
                      const struct trace_record *record, uint64_t place,
                      uint32_t thread)
{
    struct trace_call_index *calls = &reader->calls;

    if (!TRACE_ARRAY_RESERVE(calls->blocks, calls->block_capacity,
                             calls->block_count + 1))
        return false;
    calls->blocks[calls->block_count++] =
        (struct trace_call_block){record->time, (uint32_t)place,
                                  (uint32_t)(place + record->slots), thread};
    return true;
}

bool trace_calls_add(struct trace_reader *reader,
                     const struct trace_record *record, uint64_t place,
                     uint32_t thread)
{
    switch (record->kind) {
    case TRACE_KIND_CALLS:
        return place + record->slots > TRACE_CALL_NUMBER / 2 ||
               add_block(reader, record, place, thread);
    case TRACE_KIND_CALL_END:
        return trace_table_set(&reader->calls.ends, record->span, place);
    default:
        return trace_functions_module(&reader->calls, record);
    }
}

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

/* ---- Calls ---- */

static uint32_t entries_of(const struct trace_call_block *block)
{
    return (block->end - block->place - 1) * 2;
}

static uint32_t number_of(const struct trace_call_block *block, uint32_t at)
{
    return TRACE_CALL_NUMBER | ((block->place + 1) * 2 + at);
}

/* A call that was too long has its end in a record, if that had space. */
static uint64_t end_of(const struct trace_reader *reader, uint32_t number,
                       uint64_t start, uint32_t duration)
{
    const struct trace_record *record;
    uintptr_t place;

    if (!duration)
        return 0;
    if (duration == UINT32_MAX &&
        trace_table_find(&reader->calls.ends, number, &place)) {
        record = trace_reader_record(reader, (uint32_t)place);
        if (record && record->end == start && record->time > start)
            return record->time;
    }
    return start + duration;
}

/* Reads an entry; false if it is not complete. */
static bool read_call(const struct trace_reader *reader,
                      const struct trace_call_block *block, uint32_t at,
                      struct trace_seen_call *call)
{
    const struct trace_call_entry *entry =
        (const struct trace_call_entry *)(trace_slot_at(reader, block->place) +
                                          1) +
        at;
    uint64_t function = __atomic_load_n(&entry->function, __ATOMIC_ACQUIRE);

    if (!(function & TRACE_CALL_ADDRESS))
        return false;
    call->number = number_of(block, at);
    call->function = function & TRACE_CALL_ADDRESS;
    call->start = block->time + entry->start;
    call->end = end_of(reader, call->number, call->start,
                       __atomic_load_n(&entry->duration, __ATOMIC_ACQUIRE));
    return true;
}

struct trace_call_cursor trace_calls_of(const struct trace_call_block *blocks,
                                        size_t count)
{
    return (struct trace_call_cursor){blocks, count ? blocks + count : blocks,
                                      0};
}

bool trace_calls_next(const struct trace_reader *reader,
                      struct trace_call_cursor *cursor,
                      struct trace_seen_call *call)
{
    for (; cursor->block < cursor->last; cursor->block++, cursor->at = 0) {
        while (cursor->at < entries_of(cursor->block))
            if (read_call(reader, cursor->block, cursor->at++, call))
                return true;
        trace_reader_drop(reader, cursor->block->place, cursor->block->end);
    }
    return false;
}

/* Returns the block that has a place, NULL if there is none. */
static const struct trace_call_block *block_at(
    const struct trace_call_index *calls, uint64_t place)
{
    size_t low = 0, high = calls->block_count;
    const struct trace_call_block *block;

    while (low < high) {
        size_t middle = low + (high - low) / 2;

        if (calls->blocks[calls->by_place[middle]].place <= place)
            low = middle + 1;
        else
            high = middle;
    }
    block = low ? &calls->blocks[calls->by_place[low - 1]] : NULL;
    return block && place > block->place && place < block->end ? block : NULL;
}

/* Finds a call by its number; false if there is none. */
static bool find_call(const struct trace_reader *reader, uint32_t number,
                      struct trace_seen_call *call)
{
    uint32_t half = number & ~TRACE_CALL_NUMBER;
    const struct trace_call_block *block = block_at(&reader->calls, half / 2);

    return block &&
           read_call(reader, block, half - (block->place + 1) * 2, call);
}

bool trace_calls_describe(const struct trace_reader *reader,
                          const struct trace_seen_call *call,
                          const struct trace_thread *thread,
                          struct trace_entry *entry)
{
    const uint32_t *around = reader->calls.around;

    *entry = (struct trace_entry){
        .kind = TRACE_ENTRY_SPAN,
        .entered = true,
        .time = trace_reader_time(reader, call->start),
        .end = call->end ? trace_reader_time(reader, call->end) : UINT64_MAX,
        .id = call->number,
        .span = around ? around[call->number & ~TRACE_CALL_NUMBER] : 0,
        .site = trace_functions_site(reader, call->function, call->start),
        .thread = thread,
    };
    return entry->site != NULL;
}

bool trace_calls_entry(const struct trace_reader *reader, uint32_t number,
                       const struct trace_thread *thread,
                       struct trace_entry *entry)
{
    struct trace_seen_call call;

    *entry = (struct trace_entry){0};
    return find_call(reader, number, &call) &&
           trace_calls_describe(reader, &call, thread, entry);
}

uint32_t trace_calls_around(const struct trace_reader *reader, uint32_t place)
{
    const uint32_t *around = reader->calls.around;

    return around && place < reader->used ? around[place * 2] : 0;
}

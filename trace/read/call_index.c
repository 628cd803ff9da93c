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
    call->function = function & (TRACE_CALL_ADDRESS | TRACE_CALL_LINE);
    call->resumed = function & TRACE_CALL_RESUMED;
    call->cut = function & TRACE_CALL_CUT;
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
        .resumed = call->resumed,
        .cut = call->cut,
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

/* ---- Calls without space ---- */

/* Steps to the next function whose calls were only counted; NULL at the end. */
static const struct trace_call_count *next_count(
    const struct trace_reader *reader, size_t *cursor)
{
    uint64_t place = reader->header.calls_counts;
    const struct trace_record *table =
        reader->header.version > 3 && place < trace_place_limit(reader)
            ? trace_reader_record(reader, (uint32_t)place)
            : NULL;
    const struct trace_call_count *counts;
    size_t size;

    if (!table || table->kind != TRACE_KIND_CALL_COUNTS)
        return NULL;
    counts = (const struct trace_call_count *)(table + 1);
    size = ((size_t)table->slots - 1) * 2;
    while (*cursor < size)
        if (counts[(*cursor)++].function)
            return &counts[*cursor - 1];
    return NULL;
}

bool trace_lost_calls_add(struct trace_reader *reader)
{
    const struct trace_call_count *count;
    size_t cursor = 0;
    bool ok = true;

    while (ok && (count = next_count(reader, &cursor)))
        ok = trace_functions_add(&reader->calls, count->function, UINT64_MAX);
    return ok;
}

bool trace_reader_has_calls(const struct trace_reader *reader)
{
    return reader->calls.block_count;
}

uint64_t trace_reader_calls_lost(const struct trace_reader *reader)
{
    return reader->header.version > 3 ? reader->header.calls_lost : 0;
}

bool trace_reader_call_counts(const struct trace_reader *reader, size_t *cursor,
                              const struct trace_site **site, uint64_t *count)
{
    const struct trace_call_count *next = next_count(reader, cursor);

    if (!next)
        return false;
    *site = trace_functions_site(reader, next->function, UINT64_MAX);
    *count = next->count;
    return *site != NULL;
}

/* call_nest.c: finds what encloses each call, and the calls around spans and
 * events. */
#include <stdlib.h>

#include "call_index.h"
#include "reader_parts.h"

/* A call or a span that a thread is in. */
struct inside {
    uint32_t id;
    uint32_t span; /* the innermost span: itself, or one around it */
    uint64_t end;  /* ticks; 0: open */
};

/* A walk through a thread. */
struct nesting {
    struct trace_reader *reader;
    struct inside *inside; /* the outermost first */
    size_t depth, capacity;
    uint32_t outer; /* the span that the thread's process was forked in */
    const struct trace_segment *segment, *last;
    uint64_t place; /* of the next record */
    struct trace_call_cursor calls;
    struct trace_seen_call call; /* the next one */
    bool has_call;
};

static void leave_until(struct nesting *nesting, uint64_t time)
{
    const struct inside *inside = nesting->inside;

    while (nesting->depth && inside[nesting->depth - 1].end &&
           inside[nesting->depth - 1].end <= time)
        nesting->depth--;
}

static bool enter(struct nesting *nesting, struct inside inside)
{
    if (!TRACE_ARRAY_RESERVE(nesting->inside, nesting->capacity,
                             nesting->depth + 1))
        return false;
    nesting->inside[nesting->depth++] = inside;
    return true;
}

static struct inside innermost(const struct nesting *nesting)
{
    return nesting->depth ? nesting->inside[nesting->depth - 1]
                          : (struct inside){nesting->outer, nesting->outer, 0};
}

/* ---- Calls and records ---- */

static bool step_call(struct nesting *nesting)
{
    struct trace_reader *reader = nesting->reader;
    const struct trace_seen_call call = nesting->call;
    struct inside around;

    leave_until(nesting, call.start);
    around = innermost(nesting);
    reader->calls.around[call.number & ~TRACE_CALL_NUMBER] = around.id;
    nesting->has_call =
        trace_calls_next(reader, &nesting->calls, &nesting->call);
    return enter(nesting, (struct inside){call.number, around.span, call.end});
}

static bool happens_inside(const struct trace_record *record)
{
    return record->kind == TRACE_KIND_SPAN ||
           record->kind == TRACE_KIND_EVENT ||
           record->kind == TRACE_KIND_COUNTER ||
           record->kind == TRACE_KIND_SIGNPOST;
}

static bool step_record(struct nesting *nesting,
                        const struct trace_record *record)
{
    struct inside around;
    uint32_t place = (uint32_t)nesting->place;
    bool creates = record->kind == TRACE_KIND_SPAN &&
                   !(record->flags & TRACE_FLAG_NOT_ENTERED);
    uint32_t span = creates ? place : record->span;

    nesting->place += record->slots;
    leave_until(nesting, record->time);
    around = innermost(nesting);
    if (happens_inside(record) && around.id & TRACE_CALL_NUMBER &&
        around.span == record->span && place < nesting->reader->used)
        nesting->reader->calls.around[place * 2] = around.id;
    return (!creates && record->kind != TRACE_KIND_ENTER) ||
           enter(nesting, (struct inside){span, span, record->end});
}

/* Steps over holes to the next record; NULL at the thread's end. */
static const struct trace_record *peek(struct nesting *nesting)
{
    const struct trace_reader *reader = nesting->reader;

    while (nesting->segment < nesting->last) {
        while (nesting->place < nesting->segment->end) {
            const struct trace_record *record =
                trace_reader_record(reader, (uint32_t)nesting->place);
            uint32_t slots = trace_slot_at(reader, nesting->place)->slots;

            if (record)
                return record;
            nesting->place += slots ? slots : 1;
        }
        nesting->segment++;
        if (nesting->segment < nesting->last)
            nesting->place = nesting->segment->place;
    }
    return NULL;
}

static bool walk(struct nesting *nesting)
{
    bool ok = true;

    nesting->place =
        nesting->segment < nesting->last ? nesting->segment->place : 0;
    nesting->has_call =
        trace_calls_next(nesting->reader, &nesting->calls, &nesting->call);
    while (ok) {
        const struct trace_record *record = peek(nesting);

        if (nesting->has_call &&
            (!record || nesting->call.start < record->time))
            ok = step_call(nesting);
        else if (record)
            ok = step_record(nesting, record);
        else
            break;
    }
    nesting->depth = 0;
    return ok;
}

/* ---- Threads ---- */

/* The blocks and segments are sorted by thread; threads without calls are
 * left out. */
static bool walk_threads(struct nesting *nesting)
{
    const struct trace_reader *reader = nesting->reader;
    const struct trace_call_block *block = reader->calls.blocks;
    const struct trace_call_block *end = block + reader->calls.block_count;
    const struct trace_segment *segment = reader->segments;
    const struct trace_segment *last = segment + reader->segment_count;
    bool ok = true;

    while (ok && block < end) {
        const struct trace_call_block *first = block;

        while (block < end && block->thread == first->thread)
            block++;
        while (segment < last && segment->thread < first->thread)
            segment++;
        nesting->segment = segment;
        while (segment < last && segment->thread == first->thread)
            segment++;
        nesting->last = segment;
        nesting->calls = trace_calls_of(first, (size_t)(block - first));
        nesting->outer = reader->threads[first->thread].span;
        ok = walk(nesting);
    }
    return ok;
}

/* A damaged file may be sparse and huge; then the calls are not nested. */
bool trace_calls_nest(struct trace_reader *reader)
{
    struct nesting nesting = {.reader = reader};
    bool ok;

    if (!reader->calls.block_count)
        return true;
    reader->calls.around =
        calloc(reader->used, 2 * sizeof(*reader->calls.around));
    if (!reader->calls.around)
        return true;
    ok = walk_threads(&nesting);
    free(nesting.inside);
    return ok;
}

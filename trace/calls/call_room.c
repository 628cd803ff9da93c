/* call_room.c: gives calls of functions space in the recording. */
#include <errno.h>

#include "calls.h"

_Thread_local struct trace_calls trace_calls TRACE_TLS_ = {
    .module = &trace_load_map_none};

enum { SLOTS_NEEDED = 2 }; /* a CALLS record with two calls */

/* Ends the CALLS record behind its last call. */
static void end_record(struct trace_calls *calls)
{
    struct trace_record *record = calls->record;
    size_t count;

    if (!record)
        return;
    count = (size_t)(calls->next - (struct trace_call_entry *)(record + 1));
    record->slots = (uint32_t)(1 + (count + 1) / 2);
    calls->free = record + record->slots;
    calls->record = NULL;
    calls->next = calls->end = NULL;
}

/* ---- Ranges ---- */

/* Lets the recorder treat the range of calls as the writer's. */
static void swap_rooms(struct trace_writer *writer, struct trace_calls *calls)
{
    struct trace_record *next = writer->next, *end = writer->end;
    uint32_t pieces = writer->pieces;

    writer->next = calls->free;
    writer->end = calls->room_end;
    writer->pieces = calls->pieces;
    calls->free = next;
    calls->room_end = end;
    calls->pieces = pieces;
    writer->of_calls = !writer->of_calls;
}

static bool take_room(struct trace_writer *writer, size_t slots)
{
    struct trace_hold hold;
    bool taken;

    trace_hold(&hold);
    swap_rooms(writer, &trace_calls);
    taken = trace_more_room(writer, slots);
    swap_rooms(writer, &trace_calls);
    trace_release(&hold);
    return taken;
}

static bool seek_room(struct trace_writer *writer, struct trace_calls *calls)
{
    uint32_t returns = __atomic_load_n(&trace_room_returns, __ATOMIC_RELAXED);
    int error = errno;

    if (calls->full && calls->returns == returns)
        return false;
    calls->full = !take_room(writer, SLOTS_NEEDED);
    calls->returns = returns;
    errno = error;
    return !calls->full;
}

/* Makes the range have free slots. */
static bool reserve(struct trace_writer *writer, long slots)
{
    struct trace_calls *calls = &trace_calls;

    end_record(calls);
    return calls->room_end - calls->free >= slots || seek_room(writer, calls);
}

void trace_call_give_room(struct trace_writer *writer)
{
    struct trace_calls *calls = &trace_calls;

    end_record(calls);
    if (!calls->free)
        return;
    swap_rooms(writer, calls);
    trace_give_room(writer);
    swap_rooms(writer, calls);
}

void trace_call_take_room(struct trace_writer *writer)
{
    struct trace_calls *calls = &trace_calls;

    end_record(calls);
    if (calls->room_end - calls->free >= TRACE_CHUNK_SLOTS / 2)
        return;
    trace_call_give_room(writer);
    take_room(writer, TRACE_CHUNK_SLOTS - TRACE_THREAD_SLOTS);
}

/* ---- Records ---- */

/* Begins a record at the free slot; its time is stored last. */
static struct trace_record *put(struct trace_calls *calls, enum trace_kind kind,
                                uint32_t slots)
{
    struct trace_record *record = calls->free;

    record->slots = slots;
    trace_barrier();
    calls->free = record + slots;
    record->end = 0;
    record->site = record->span = 0;
    record->kind = (uint8_t)kind;
    record->flags = 0;
    record->count = 0;
    return record;
}

__attribute__((noinline)) bool trace_call_find_room(struct trace_writer *writer,
                                                    uint64_t now,
                                                    uint64_t function)
{
    struct trace_calls *calls = &trace_calls;

    if (!reserve(writer, SLOTS_NEEDED)) {
        trace_call_count(writer, function);
        return false;
    }
    calls->record =
        put(calls, TRACE_KIND_CALLS, (uint32_t)(calls->room_end - calls->free));
    __atomic_store_n(&calls->record->time, now, __ATOMIC_RELEASE);
    calls->base = now;
    calls->next = (struct trace_call_entry *)(calls->record + 1);
    calls->end = (struct trace_call_entry *)calls->room_end;
    return true;
}

/* Once calls have no space, their ends are in that of spans. Without it, the
 * call stays open: its entry cannot have its duration. */
void trace_call_end_long(struct trace_writer *writer,
                         const struct trace_frame *frame, uint64_t now)
{
    const struct trace_call_entry *first =
        (const struct trace_call_entry *)writer->base;
    uint32_t number = TRACE_CALL_NUMBER | (uint32_t)(frame->call - first);
    struct trace_record *record;

    if (reserve(writer, 1))
        record = put(&trace_calls, TRACE_KIND_CALL_END, 1);
    else
        record = trace_put(writer, TRACE_KIND_CALL_END, 0, 0, NULL);
    if (!record)
        return;
    record->end = frame->start;
    record->span = number;
    __atomic_store_n(&record->time, now, __ATOMIC_RELEASE);
    __atomic_store_n(&frame->call->duration, UINT32_MAX, __ATOMIC_RELEASE);
}

/* Readers skip the entry until another call takes it. Lines are as short as
 * they are. */
void trace_call_end_short(const struct trace_writer *writer,
                          const struct trace_frame *frame, uint64_t now)
{
    struct trace_calls *calls = &trace_calls;
    struct trace_call_entry *call = frame->call;

    if (call + 1 == calls->next && calls->written == writer->next &&
        !trace_is_line(frame)) {
        __atomic_store_n(&call->function, 0, __ATOMIC_RELEASE);
        calls->next = call;
    } else {
        __atomic_store_n(&call->duration, (uint32_t)(now - frame->start),
                         __ATOMIC_RELEASE);
    }
}

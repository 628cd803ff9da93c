/* record.h: how a record comes to be: what is hot of it, in line. Private.
 *
 * A record is reserved, filled and stamped without a lock or an atomic
 * instruction: the chunk is the thread's own. `busy` keeps a signal handler out
 * of a record that its thread is in the midst of.
 */
#ifndef TRACE_RECORD_H
#define TRACE_RECORD_H

#include "recorder.h"

#define likely(x)   __builtin_expect(!!(x), 1)
#define unlikely(x) __builtin_expect(!!(x), 0)

/* trace_find_room finds room for a record when the chunk has none, or counts it
 * as dropped. */
bool trace_find_room(struct trace_writer *, size_t slots);

/* trace_site_id gives a call site its id in the recording; 0: no room. */
uint32_t trace_site_id(struct trace_writer *, struct trace_site *);

/* trace_put_spare puts an error or metadata where room is kept for;
 * trace_put_printed a record once the callbacks among its values are text. */
struct trace_record *trace_put_spare(struct trace_writer *, enum trace_kind,
                                     struct trace_site *, uint32_t span,
                                     size_t count, const struct trace_value *);
struct trace_record *trace_put_printed(struct trace_writer *, enum trace_kind,
                                       struct trace_site *, uint32_t span,
                                       size_t count,
                                       const struct trace_value *);

static inline void trace_barrier(void)
{
    __atomic_signal_fence(__ATOMIC_SEQ_CST);
}

static inline uint64_t trace_stamp(struct trace_writer *writer)
{
    uint64_t now = trace_clock_now();

    if (unlikely(now <= writer->last))
        now = writer->last + 1;
    writer->last = now;
    return now;
}

static inline struct trace_record *trace_record_at(uint32_t place)
{
    return (struct trace_record *)trace_recording.header + place;
}

static inline uint32_t trace_place_of(const struct trace_record *record)
{
    return (uint32_t)(record -
                      (const struct trace_record *)trace_recording.header);
}

static inline void trace_drop(void)
{
    __atomic_fetch_add(&trace_recording.header->dropped, 1, __ATOMIC_RELAXED);
}

/* Most spans have no values. */
static inline size_t trace_bytes_of(size_t count,
                                    const struct trace_value *values)
{
    return count ? trace_values_size(count, values) : 0;
}

/* Puts a record whose values take `bytes`. */
static inline struct trace_record *trace_put_now(
    struct trace_writer *writer, enum trace_kind kind, uint32_t span,
    size_t count, const struct trace_value *values, size_t bytes)
{
    size_t slots = 1 + (bytes + TRACE_SLOT_SIZE - 1) / TRACE_SLOT_SIZE;

    if (unlikely((size_t)(writer->end - writer->next) < slots) &&
        !trace_find_room(writer, slots))
        return NULL;

    struct trace_record *record = writer->next;

    writer->next += slots;
    record->slots = (uint32_t)slots;
    record->end = 0;
    record->span = span;
    record->site = 0;
    record->kind = (uint8_t)kind;
    record->flags = 0;
    record->count = (uint16_t)count;
    if (count)
        trace_values_store(record + 1, count, values);
    return record;
}

/* The calling thread's writer, to be handed back to trace_leave(); NULL if it
 * is in the midst of a record already or nothing is recorded. */
static inline struct trace_writer *trace_enter(void)
{
    struct trace_writer *writer = &trace_writer;

    if (unlikely(writer->busy)) {
        trace_drop();
        return NULL;
    }
    writer->busy = true;
    trace_barrier();
    if (unlikely(!trace_is_current(writer)) && !trace_writer_begin(writer)) {
        writer->busy = false;
        return NULL;
    }
    return writer;
}

static inline void trace_leave(struct trace_writer *writer)
{
    trace_barrier();
    writer->busy = false;
}

static inline uint32_t trace_id_of(struct trace_writer *writer,
                                   struct trace_site *site)
{
    uint32_t id = __atomic_load_n(&site->id, __ATOMIC_ACQUIRE);

    return likely(id) ? id : trace_site_id(writer, site);
}

/* Puts a record of a call site. */
static inline struct trace_record *trace_put_of(
    struct trace_writer *writer, enum trace_kind kind, struct trace_site *site,
    uint32_t span, size_t count, const struct trace_value *values, size_t bytes)
{
    if (unlikely(bytes >= TRACE_UNPRINTED))
        return trace_put_printed(writer, kind, site, span, count, values);

    uint32_t id = trace_id_of(writer, site);
    struct trace_record *record =
        trace_put_now(writer, kind, span, count, values, bytes);

    if (unlikely(!record))
        return trace_put_spare(writer, kind, site, span, count, values);
    record->site = id;
    return record;
}

/* Stamps a record and tells who listens. */
static inline void trace_publish(struct trace_writer *writer,
                                 struct trace_record *record)
{
    trace_commit(writer, record);
    if (unlikely(trace_recording.live))
        trace_live_tell(record);
}

static inline unsigned trace_interest_of(const struct trace_site *site)
{
    return __atomic_load_n(&site->interest, __ATOMIC_RELAXED);
}

/* Who sees that a site is judged also sees its verdict. */
static inline bool trace_is_judged(const struct trace_site *site)
{
    return __atomic_load_n(&site->interest, __ATOMIC_ACQUIRE) & TRACE_JUDGED;
}

#endif

/* ticks.c: finished records, and the time of their ticks. */
#include "reader.h"
#include "reader_parts.h"
#include "trace/base/values.h"
#include "trace/format.h"

const struct trace_record *trace_reader_record(
    const struct trace_reader *reader, uint32_t place)
{
    const struct trace_record *record = trace_reader_bounded(reader, place);

    if (!record || !__atomic_load_n(&record->time, __ATOMIC_ACQUIRE))
        return NULL;
    return record;
}

enum { SCALE = 56 }; /* fractional bits of a reader's `scale` */

#define TIME_MAX UINT64_C(9000000000000000000)

static bool plausible(const struct trace_anchor *a,
                      const struct trace_anchor *b)
{
    return b->ticks > a->ticks && b->monotonic > a->monotonic &&
           b->monotonic - a->monotonic < UINT64_C(1) << 56;
}

void trace_reader_set_end(struct trace_reader *reader, struct trace_anchor end)
{
    struct trace_header *header = &reader->header;
    const struct trace_anchor *from = &header->origin;

    header->end = end;
    reader->rate = 0;
    reader->scale = 0;
    if (header->clock != TRACE_CLOCK_MONOTONIC && plausible(from, &end))
        reader->rate = (long double)(end.monotonic - from->monotonic) /
                       (long double)(end.ticks - from->ticks);
#ifdef __SIZEOF_INT128__
    if (reader->rate > 0.01L && reader->rate < 128)
        reader->scale = (uint64_t)(reader->rate * (UINT64_C(1) << SCALE));
#endif
}

#ifdef __SIZEOF_INT128__

/* Without floating point, which would take most of the time of reading. */
static uint64_t scaled(uint64_t ticks, uint64_t scale)
{
    trace_u128_t time = (trace_u128_t)ticks * scale >> SCALE;

    return time < TIME_MAX ? (uint64_t)time : TIME_MAX;
}

#else
#    define scaled(ticks, scale) 0
#endif

static uint64_t since_origin(const struct trace_reader *reader, uint64_t ticks)
{
    uint64_t origin = reader->header.origin.ticks;
    uint64_t since = ticks > origin ? ticks - origin : 0;
    long double time;

    if (reader->scale)
        return scaled(since, reader->scale);
    if (reader->rate == 0)
        return since;
    time = (long double)since * reader->rate;
    return time < TIME_MAX ? (uint64_t)time : TIME_MAX;
}

uint64_t trace_reader_time(const struct trace_reader *reader, uint64_t ticks)
{
    uint64_t time = since_origin(reader, ticks);

    return time < TIME_MAX - reader->before ? time + reader->before : TIME_MAX;
}

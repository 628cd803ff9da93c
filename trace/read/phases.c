/* phases.c: when the phases of a test began, and from when its times count. */
#include "reader.h"
#include "reader_parts.h"
#include "slices.h"

struct trace_phases trace_reader_phases(const struct trace_reader *reader)
{
    uint64_t times[TRACE_PHASE_COUNT] = {0};

    for (size_t i = 0; i < TRACE_PHASE_COUNT; i++)
        if (reader->phases[i])
            times[i] = trace_reader_time(reader, reader->phases[i]);
    return (struct trace_phases){
        .setup = times[TRACE_PHASE_SETUP],
        .body = times[TRACE_PHASE_BODY],
        .teardown = times[TRACE_PHASE_TEARDOWN],
        .end = times[TRACE_PHASE_END],
    };
}

uint64_t trace_reader_began(const struct trace_reader *reader)
{
    struct trace_phases phases = trace_reader_phases(reader);

    return phases.body ? phases.body
           : phases.setup
               ? phases.setup
               : trace_reader_time(reader, reader->header.start.ticks);
}

/* ---- Recordings without phases ---- */

/* The records of all threads, and of the main thread. */
struct bounds {
    bool some;
    uint64_t first, last_of_main; /* ns */
};

static uint64_t end_of(const struct trace_entry *entry, uint64_t end)
{
    if (entry->kind == TRACE_ENTRY_EVENT ||
        (entry->kind == TRACE_ENTRY_SPAN && !entry->entered))
        return entry->time;
    return entry->end == UINT64_MAX ? end : entry->end;
}

static struct bounds find_bounds(struct trace_reader *reader)
{
    struct trace_summary summary = trace_reader_summary(reader);
    struct bounds bounds = {.some = false};
    struct trace_entry entry;

    if (trace_reader_rewind(reader))
        return bounds;
    while (trace_reader_next(reader, &entry)) {
        uint64_t end = end_of(&entry, summary.end);

        if (entry.kind == TRACE_ENTRY_EXIT || entry.kind == TRACE_ENTRY_CLOSE ||
            entry.kind == TRACE_ENTRY_FIELDS)
            continue;
        if (!bounds.some)
            bounds.first = entry.time;
        bounds.some = true;
        if (trace_is_on_thread(&entry) && entry.thread->pid == summary.pid &&
            entry.thread->tid == summary.pid && end > bounds.last_of_main)
            bounds.last_of_main = end;
    }
    trace_reader_rewind(reader);
    return bounds;
}

/* The runner notes a test's beginning before the body runs, so the body begins
 * as late as it must to end no earlier than the main thread's last record. */
static uint64_t estimate(struct trace_reader *reader, struct trace_noted noted)
{
    struct bounds bounds = find_bounds(reader);
    uint64_t latest = trace_between(noted.duration, bounds.last_of_main);
    uint64_t began =
        noted.began && noted.began - 1 > latest ? noted.began - 1 : latest;

    return bounds.some && (!noted.began || bounds.first < began) ? bounds.first
                                                                 : began;
}

uint64_t trace_reader_zero(struct trace_reader *reader,
                           struct trace_noted noted)
{
    struct trace_phases phases = trace_reader_phases(reader);

    if (phases.body || phases.setup)
        return phases.body ? phases.body : phases.setup;
    return estimate(reader, noted);
}

/* span_times.c: measures how long spans are open and when they close.
 *
 * A span closes once its block has ended, or trace_span_end was called, and no
 * thread is in it. In a recording, later enters are known. Live they are not:
 * if a span is entered again later, it has been reported as closed.
 */
#include <string.h>

#include "replay.h"
#include "trace/base/text.h"
#include "trace/read/reader.h"

static void enter(struct log_span_times *times, uint64_t time)
{
    if (!times->inside++)
        times->since = time;
}

static void leave(struct log_span_times *times, uint64_t time)
{
    if (times->inside && !--times->inside)
        times->busy += trace_between(times->since, time);
}

static struct log_span_times *begin(struct trace_table *span_times,
                                    const struct trace_reader *reader,
                                    const struct trace_entry *entry)
{
    struct log_span_times *times =
        log_tracked_put(span_times, entry->id, sizeof(*times));

    if (!times)
        return NULL;
    times->made = entry->time;
    times->to_come = trace_reader_later(reader, entry->id);
    if (entry->entered)
        enter(times, entry->time);
    return times;
}

/* Applies an entry after the span's creation. */
static void follow(struct log_span_times *times,
                   const struct trace_entry *entry)
{
    switch (entry->kind) {
    case TRACE_ENTRY_ENTER:
        times->to_come -= times->to_come > 0;
        enter(times, entry->time);
        break;
    case TRACE_ENTRY_CLOSE:
        times->to_come -= times->to_come > 0;
        times->over = true;
        break;
    case TRACE_ENTRY_EXIT:
        times->over |= entry->id == entry->span; /* the exit of its creation */
        leave(times, entry->time);
        break;
    default:
        break;
    }
}

bool log_span_times_step(struct trace_table *span_times,
                         const struct trace_reader *reader,
                         const struct trace_entry *entry,
                         struct log_span_times *closed)
{
    struct log_span_times *times =
        entry->kind == TRACE_ENTRY_SPAN
            ? begin(span_times, reader, entry)
            : log_tracked_find(span_times, entry->span);

    if (!times)
        return false;
    follow(times, entry);
    if (!times->over || times->inside || times->to_come)
        return false;
    *closed = *times;
    log_tracked_remove(
        span_times, entry->kind == TRACE_ENTRY_SPAN ? entry->id : entry->span);
    return true;
}

void log_duration(struct trace_text *out, uint64_t ns)
{
    static const char *const units[] = {"ns", "\xc2\xb5s", "ms", "s"};
    enum { UNITS = sizeof(units) / sizeof(*units) };
    double time = (double)ns;
    size_t unit = 0;
    locale_t before;

    while (time >= 1000 && unit + 1 < UNITS) {
        time /= 1000;
        unit++;
    }
    before = trace_locale_enter();
    trace_text_printf(out, "%.*f%s",
                      time < 10    ? 2
                      : time < 100 ? 1
                                   : 0,
                      time, units[unit]);
    trace_locale_leave(before);
}

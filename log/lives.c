/* lives.c: how long spans are open, and when they close.
 *
 * A span closes when its block has ended, or trace_span_end was called, and it
 * is entered nowhere any more. A recording tells what is still to come; live
 * nobody knows, so there a span that is entered after that has closed before.
 */
#include <string.h>

#include "internal.h"

static void enter(struct log_life *life, uint64_t time)
{
    if (!life->inside++)
        life->since = time;
}

static void leave(struct log_life *life, uint64_t time)
{
    if (life->inside && !--life->inside)
        life->busy += trace_between(life->since, time);
}

static struct log_life *begin(struct trace_table *lives,
                              const struct trace_reader *reader,
                              const struct trace_entry *entry)
{
    struct log_life *life = log_tracked_put(lives, entry->id, sizeof(*life));

    if (!life)
        return NULL;
    life->made = entry->time;
    life->to_come = trace_reader_later(reader, entry->id);
    if (entry->entered)
        enter(life, entry->time);
    return life;
}

/* Follows what comes after the beginning. */
static void follow(struct log_life *life, const struct trace_entry *entry)
{
    switch (entry->kind) {
    case TRACE_ENTRY_ENTER:
        life->to_come -= life->to_come > 0;
        enter(life, entry->time);
        break;
    case TRACE_ENTRY_CLOSE:
        life->to_come -= life->to_come > 0;
        life->over = true;
        break;
    case TRACE_ENTRY_EXIT:
        life->over |= entry->id == entry->span; /* the span began with it */
        leave(life, entry->time);
        break;
    default:
        break;
    }
}

bool log_life_step(struct trace_table *lives, const struct trace_reader *reader,
                   const struct trace_entry *entry, struct log_life *closed)
{
    struct log_life *life = entry->kind == TRACE_ENTRY_SPAN
                                ? begin(lives, reader, entry)
                                : log_tracked_find(lives, entry->span);

    if (!life)
        return false;
    follow(life, entry);
    if (!life->over || life->inside || life->to_come)
        return false;
    *closed = *life;
    log_tracked_remove(lives, entry->kind == TRACE_ENTRY_SPAN ? entry->id
                                                              : entry->span);
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

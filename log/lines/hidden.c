/* hidden.c: finds the recorded lines that a filter does not show. */
#include "log/filter/filter.h"
#include "log/replay/entry_text.h"
#include "trace/read/reader.h"

#include <stdlib.h>
#include <string.h>

#include "trace/base/containers.h"

/* Events in a row that differ only in their time share a line. Looks at this
 * many events for each line to print. */
enum { EVENTS_PER_LINE = 16 };

struct row {
    size_t start; /* in walk.lines */
    size_t events;
};

/* The state of one pass through a recording. */
struct walk {
    struct log_replay *shown;           /* what the filter shows */
    struct log_replay *all, *all_again; /* to print the others */
    const struct log_style *style;
    struct trace_reader *reader;
    struct trace_text lines;
    struct trace_text timeless, last_timeless; /* of an event and its last */
    struct row *rows;
    size_t row_count, row_capacity;
};

static void add_event(struct walk *walk, const struct trace_entry *entry)
{
    struct trace_text *now = &walk->timeless, last = walk->last_timeless;
    struct log_style timeless = *walk->style;

    timeless.time = LOG_TIME_NONE;
    trace_text_clear(now);
    log_line(walk->all_again, &timeless, walk->reader, entry, now);
    /* Each JSON line is an event for other programs. */
    if (walk->row_count && walk->style->format != LOG_FORMAT_JSON &&
        now->size && now->size == last.size &&
        !memcmp(now->data, last.data, last.size)) {
        walk->rows[walk->row_count - 1].events++;
        return;
    }
    if (!TRACE_ARRAY_RESERVE(walk->rows, walk->row_capacity,
                             walk->row_count + 1))
        return;
    walk->rows[walk->row_count++] = (struct row){walk->lines.size, 1};
    log_line(walk->all, walk->style, walk->reader, entry, &walk->lines);
    walk->last_timeless = *now;
    *now = last;
}

/* Finds hidden events, adds those from number `from` on, and returns how many
 * there are. */
static size_t go_through(struct walk *walk, size_t from)
{
    struct trace_entry entry;
    size_t hidden = 0;

    if (trace_reader_rewind(walk->reader))
        return 0;
    while (trace_reader_next(walk->reader, &entry)) {
        bool shown = log_replay_step(walk->shown, walk->reader, &entry);

        if (shown || !log_is_event(&entry))
            continue;
        if (hidden++ >= from)
            add_event(walk, &entry);
    }
    return hidden;
}

/* Returns for how many events the lines are. */
static size_t put_last(const struct walk *walk, size_t most,
                       struct trace_text *out)
{
    size_t count = walk->row_count, events = 0;

    if (walk->lines.failed)
        return 0;
    for (size_t i = count > most ? count - most : 0; i < count; i++) {
        const struct row *row = &walk->rows[i];
        const char *text = walk->lines.data + row->start;
        size_t end = i + 1 < count ? row[1].start : walk->lines.size;
        size_t size = end - row->start;
        const char *newline = size ? memchr(text + 1, '\n', size - 1) : NULL;
        size_t first = newline ? (size_t)(newline - text) : size;

        /* The number is at the end of the message: the first line of a layout
         * that has several. */
        trace_text_add(out, text, first);
        if (row->events > 1)
            trace_text_printf(out, " (%zu times)", row->events);
        trace_text_add(out, text + first, size - first);
        events += row->events;
    }
    return events;
}

size_t log_add_hidden(const struct log_filter *filter,
                      const struct log_style *style,
                      struct trace_reader *reader, size_t most,
                      struct trace_text *out)
{
    struct log_filter *everything =
        log_filter_parse("trace", "trace", "", NULL);
    struct walk walk = {
        .shown = log_replay_new(filter), .style = style, .reader = reader};
    size_t hidden = 0;

    if (everything) {
        walk.all = log_replay_new(everything);
        walk.all_again = log_replay_new(everything);
    }
    if (walk.shown && walk.all && walk.all_again) {
        hidden = go_through(&walk, SIZE_MAX);
        log_replay_free(walk.shown);
        walk.shown = log_replay_new(filter);
    }
    /* The first walk counts, so that the second formats only the last events.
     */
    if (walk.shown && hidden && most) {
        go_through(&walk, hidden / EVENTS_PER_LINE >= most
                              ? hidden - most * EVENTS_PER_LINE
                              : 0);
        hidden -= put_last(&walk, most, out);
    }
    log_replay_free(walk.shown);
    log_replay_free(walk.all);
    log_replay_free(walk.all_again);
    log_filter_free(everything);
    trace_text_free(&walk.lines);
    trace_text_free(&walk.timeless);
    trace_text_free(&walk.last_timeless);
    free(walk.rows);
    return hidden;
}

/* hidden.c: finds the recorded lines that a filter does not show, and puts them
 * among those that it shows. */
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
    size_t start;  /* in walk.lines */
    size_t events; /* that are hidden; 0: it is shown */
};

/* The state of one pass through a recording. */
struct walk {
    struct log_replay *shown;           /* what the filter shows */
    struct log_replay *all, *all_again; /* to print the others */
    const struct log_style *style;
    struct trace_reader *reader;
    bool mixes;            /* shown lines are wanted, too: */
    size_t room, left_out; /* about their last bytes; how many came before */
    struct trace_text lines;
    struct trace_text timeless, last_timeless; /* of an event and its last */
    struct row *rows;
    size_t row_count, row_capacity, hidden_rows;
};

static bool add_row(struct walk *walk, size_t start, size_t events)
{
    if (!TRACE_ARRAY_RESERVE(walk->rows, walk->row_capacity,
                             walk->row_count + 1))
        return false;
    walk->rows[walk->row_count++] = (struct row){start, events};
    walk->hidden_rows += events > 0;
    return true;
}

/* Marked lines have no colours of their own: they are dim. */
static void add_event(struct walk *walk, const struct trace_entry *entry)
{
    struct trace_text *now = &walk->timeless, last = walk->last_timeless;
    struct log_style style = *walk->style, timeless;

    style.span_events = 0;
    style.color &= !walk->mixes;
    timeless = style;
    timeless.time = LOG_TIME_NONE;
    trace_text_clear(now);
    log_line(walk->all_again, &timeless, walk->reader, entry, now);
    /* Each JSON line is an event for other programs. */
    if (walk->row_count && walk->rows[walk->row_count - 1].events &&
        walk->style->format != LOG_FORMAT_JSON && now->size &&
        now->size == last.size && !memcmp(now->data, last.data, last.size)) {
        walk->rows[walk->row_count - 1].events++;
        return;
    }
    if (!add_row(walk, walk->lines.size, 1))
        return;
    log_line(walk->all, &style, walk->reader, entry, &walk->lines);
    walk->last_timeless = *now;
    *now = last;
}

/* Leaves the last lines, before there are many more than there is room for. */
static void drop_first(struct walk *walk)
{
    size_t first = 0, bytes;

    if (walk->lines.size / 4 < walk->room || walk->lines.failed)
        return;
    while (first + 1 < walk->row_count &&
           walk->lines.size - walk->rows[first + 1].start >= walk->room)
        walk->hidden_rows -= walk->rows[first++].events > 0;
    bytes = first ? walk->rows[first].start : 0;
    walk->left_out += bytes;
    walk->lines.size -= bytes;
    memmove(walk->lines.data, walk->lines.data + bytes, walk->lines.size);
    walk->row_count -= first;
    for (size_t i = 0; i < walk->row_count; i++) {
        walk->rows[i] = walk->rows[i + first];
        walk->rows[i].start -= bytes;
    }
}

/* Returns whether the filter shows the entry, whose line it adds if shown lines
 * are wanted. */
static bool show(struct walk *walk, const struct trace_entry *entry)
{
    size_t start = walk->lines.size;

    if (!walk->mixes)
        return log_replay_step(walk->shown, walk->reader, entry);
    if (!log_line(walk->shown, walk->style, walk->reader, entry, &walk->lines))
        return false;
    add_row(walk, start, 0);
    drop_first(walk);
    return true;
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
        if (show(walk, &entry) || !log_is_event(&entry))
            continue;
        if (hidden++ >= from)
            add_event(walk, &entry);
    }
    return hidden;
}

/* ---- Lines of a row ---- */

enum { DATE = sizeof("2026-11-29T") - 1 };

/* Returns where a line has a date, in the first bytes; NULL without one. */
static const char *date_in(const char *line, size_t size)
{
    for (const char *at = line; at + DATE < line + size && at < line + 8; at++)
        if (strspn(at, "0123456789") == 4 && at[4] == '-' && at[7] == '-' &&
            at[10] == 'T')
            return at;
    return NULL;
}

struct printing {
    const struct walk *walk;
    struct trace_text *out;
    bool marks;            /* lines have a column for a mark */
    const char *last_date; /* that was printed; NULL: none was */
};

/* Adds a line without its newline, and without the date of the line before. */
static void put_line(struct printing *printing, const char *line, size_t size,
                     bool first)
{
    const struct log_style *style = printing->walk->style;
    const char *date = first && printing->walk->mixes &&
                               style->time == LOG_TIME_UTC &&
                               style->format != LOG_FORMAT_JSON
                           ? date_in(line, size)
                           : NULL;

    if (date && printing->last_date &&
        !memcmp(date, printing->last_date, DATE)) {
        trace_text_add(printing->out, line, (size_t)(date - line));
        size -= (size_t)(date - line) + DATE;
        line = date + DATE;
    }
    printing->last_date = date ? date : printing->last_date;
    trace_text_add(printing->out, line, size);
}

/* Adds the text before the newline of a line, and the number of events at the
 * end of the first: the message ends there in a layout of several lines. */
static void put_row(struct printing *printing, const struct row *row,
                    const char *text, size_t size)
{
    bool json = printing->walk->style->format == LOG_FORMAT_JSON;
    bool marked = printing->marks && row->events;
    bool dim = marked && printing->walk->style->color && !json;
    struct trace_text *out = printing->out;
    bool first = true;

    while (size) {
        const char *newline = memchr(text, '\n', size);
        size_t part = newline ? (size_t)(newline - text) : size;

        if (dim)
            trace_text_string(out, "\033[2m");
        if (json && marked && text[0] == '{') {
            trace_text_string(out, "{\"hidden\":true,");
            text++, size--, part--;
        } else if (printing->marks && !json && (part || !first)) {
            trace_text_string(out, marked ? "~ " : "  ");
        }
        put_line(printing, text, part, first);
        if (first && part && row->events > 1)
            trace_text_printf(out, " (%zu times)", row->events);
        first = first && !part;
        if (dim)
            trace_text_string(out, "\033[0m");
        part += newline != NULL;
        if (newline)
            trace_text_char(out, '\n');
        text += part;
        size -= part;
    }
}

/* Adds the shown rows and the last `most` hidden ones. Returns for how many
 * hidden events these are. */
static size_t put_rows(const struct walk *walk, size_t most,
                       struct trace_text *out)
{
    struct printing printing = {walk, out, walk->mixes && walk->hidden_rows,
                                NULL};
    size_t left_out = walk->hidden_rows > most ? walk->hidden_rows - most : 0;
    size_t events = 0;

    if (walk->lines.failed)
        return 0;
    for (size_t i = 0; i < walk->row_count; i++) {
        const struct row *row = &walk->rows[i];
        size_t end = i + 1 < walk->row_count ? row[1].start : walk->lines.size;

        if (row->events && left_out && left_out--)
            continue;
        put_row(&printing, row, walk->lines.data + row->start,
                end - row->start);
        events += row->events;
    }
    return events;
}

/* ---- All ---- */

static void restart(struct walk *walk, const struct log_filter *filter)
{
    log_replay_free(walk->shown);
    walk->shown = log_replay_new(filter);
}

static size_t add(const struct log_filter *filter, struct walk *walk,
                  size_t most, struct trace_text *out)
{
    struct log_filter *everything =
        log_filter_parse("trace", "trace", "", NULL);
    bool mixes = walk->mixes;
    size_t hidden = 0;

    walk->shown = log_replay_new(filter);
    if (everything) {
        walk->all = log_replay_new(everything);
        walk->all_again = log_replay_new(everything);
    }
    if (walk->shown && walk->all && walk->all_again) {
        walk->mixes = false;
        hidden = go_through(walk, SIZE_MAX);
        walk->mixes = mixes;
        restart(walk, filter);
    }
    /* The first walk counts, so that the second formats only the last events.
     */
    if (walk->shown && walk->all && walk->all_again &&
        ((hidden && most) || mixes)) {
        go_through(walk, !most ? SIZE_MAX
                         : hidden / EVENTS_PER_LINE >= most
                             ? hidden - most * EVENTS_PER_LINE
                             : 0);
        hidden -= put_rows(walk, most, out);
    }
    log_replay_free(walk->shown);
    log_replay_free(walk->all);
    log_replay_free(walk->all_again);
    log_filter_free(everything);
    trace_text_free(&walk->lines);
    trace_text_free(&walk->timeless);
    trace_text_free(&walk->last_timeless);
    free(walk->rows);
    return hidden;
}

size_t log_add_hidden(const struct log_filter *filter,
                      const struct log_style *style,
                      struct trace_reader *reader, size_t most,
                      struct trace_text *out)
{
    struct walk walk = {.style = style, .reader = reader};

    return add(filter, &walk, most, out);
}

size_t log_add_with_hidden(const struct log_filter *filter,
                           const struct log_style *style,
                           struct trace_reader *reader, size_t most,
                           size_t room, size_t *left_out,
                           struct trace_text *out)
{
    struct walk walk = {
        .style = style, .reader = reader, .mixes = true, .room = room};
    size_t missing = add(filter, &walk, most, out);

    *left_out = walk.left_out;
    return missing;
}

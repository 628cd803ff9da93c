/* hidden.c: finds the recorded lines that a filter does not show. */
#include "internal.h"

/* The state of one pass through a recording. */
struct walk {
    struct log_replay *shown; /* what the filter shows */
    struct log_replay *all;   /* to print the others */
    const struct log_style *style;
    struct trace_reader *reader;
};

/* Adds the lines of hidden events from number `from` on; returns how many
 * events are hidden. */
static size_t go_through(const struct walk *walk, size_t from,
                         struct trace_text *out)
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
            log_line(walk->all, walk->style, walk->reader, &entry, out);
    }
    return hidden;
}

/* The first walk counts, so that the second prints only the last lines. */
static size_t add_last(const struct log_filter *filter, struct walk *walk,
                       size_t most, struct trace_text *out)
{
    size_t hidden = go_through(walk, SIZE_MAX, out);

    log_replay_free(walk->shown);
    walk->shown = log_replay_new(filter);
    if (walk->shown && hidden && most)
        go_through(walk, hidden > most ? hidden - most : 0, out);
    return hidden;
}

size_t log_add_hidden(const struct log_filter *filter,
                      const struct log_style *style,
                      struct trace_reader *reader, size_t most,
                      struct trace_text *out)
{
    struct log_filter *everything =
        log_filter_parse("trace", "trace", "", NULL);
    struct walk walk = {log_replay_new(filter),
                        everything ? log_replay_new(everything) : NULL, style,
                        reader};
    size_t hidden = 0;

    if (walk.shown && walk.all)
        hidden = add_last(filter, &walk, most, out);
    log_replay_free(walk.shown);
    log_replay_free(walk.all);
    log_filter_free(everything);
    return hidden;
}

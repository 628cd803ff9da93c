/* line.c: entries of a recording as lines. */
#include "internal.h"

static void (*const layouts[])(const struct log_parts *,
                               struct trace_text *) = {
    [LOG_FORMAT_FULL] = log_full,
};

bool log_line(struct log_replay *replay, const struct log_style *style,
              const struct trace_reader *reader,
              const struct trace_entry *entry, struct trace_text *out)
{
    struct log_parts parts = {replay, style, reader, entry};

    if (!log_replay_step(replay, reader, entry) ||
        entry->kind != TRACE_ENTRY_EVENT)
        return false;
    if (style->test)
        trace_text_printf(out, "[%s] ", style->test);
    layouts[style->format](&parts, out);
    return true;
}

size_t log_write_all(const struct log_filter *filter,
                     const struct log_style *style, struct trace_reader *reader,
                     FILE *stream)
{
    struct log_replay *replay = log_replay_new(filter);
    struct trace_text text = {0};
    struct trace_entry entry;
    size_t lines = 0;

    if (replay && !trace_reader_rewind(reader))
        while (trace_reader_next(reader, &entry)) {
            trace_text_clear(&text);
            if (!log_line(replay, style, reader, &entry, &text))
                continue;
            fwrite(text.data, 1, text.size, stream);
            lines++;
        }
    trace_text_free(&text);
    log_replay_free(replay);
    return lines;
}

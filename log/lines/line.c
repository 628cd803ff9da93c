/* line.c: prints entries of a recording as lines. */
#include <string.h>

#include "layout.h"
#include "log/filter/filter.h"
#include "log/replay/entry_text.h"
#include "log/replay/replay.h"
#include "trace/read/reader.h"

static void (*const layouts[])(const struct log_parts *,
                               struct trace_text *) = {
#define LOG_X(name, word, layout) layout,
    LOG_FORMATS(LOG_X)
#undef LOG_X
};

static void lay_out(const struct log_parts *parts, struct trace_text *out)
{
    const struct log_style *style = parts->style;
    struct trace_text lines = {.ceiling = out->ceiling};
    const char *at, *end;

    if (!style->test || style->format == LOG_FORMAT_JSON) {
        layouts[style->format](parts, out);
        return;
    }
    layouts[style->format](parts, &lines);
    at = lines.data;
    end = at + lines.size;
    while (at < end) {
        const char *newline = memchr(at, '\n', (size_t)(end - at));
        const char *next = newline ? newline + 1 : end;

        trace_text_printf(out, "[%s] ", style->test);
        trace_text_add(out, at, (size_t)(next - at));
        at = next;
    }
    trace_text_free(&lines);
}

/* ---- Events ---- */

static struct trace_value duration(struct trace_text *text, uint64_t ns)
{
    struct trace_value value = {.type = TRACE_TYPE_DISPLAY};

    log_duration(text, ns);
    value.size = (uint32_t)text->size;
    value.as.text = text->data ? text->data : "";
    return value;
}

/* Sets the message and the fields; `took` keeps the text of a duration. */
static void set_event(struct log_parts *parts, const struct trace_entry *entry,
                      struct trace_text *took)
{
    struct trace_text *message = &parts->memory->message;
    bool is_activity = entry->kind == TRACE_ENTRY_DEVICE;
    struct trace_values values = log_values_of(entry);
    const struct trace_site *site = entry->site;
    struct trace_field *fields = parts->fields;
    size_t count = 0;

    if (entry->printf_ || entry->message) {
        trace_text_clear(message);
        log_message_of(entry, message);
        parts->message = message->data ? message->data : "";
        parts->message_size = message->size;
    } else {
        const char *text = is_activity ? log_device_message(entry) : site->name;

        parts->message = text[0] ? text : NULL;
        parts->message_size = strlen(text);
    }
    if (is_activity && !entry->launch) { /* a launch names the kernel */
        fields[count] = (struct trace_field){"name", trace_text_(site->name)};
        fields[count++].value.type = TRACE_TYPE_DISPLAY;
    }
    for (size_t i = 0; i < site->field_count && count < TRACE_FIELDS_MAX &&
                       trace_values_next(&values, &fields[count].value);
         i++) {
        fields[count].name = site->fields[i];
        count += fields[count].value.type != TRACE_TYPE_EMPTY;
    }
    /* An instant has no duration. */
    if (is_activity && entry->end > entry->time &&
        parts->style->time != LOG_TIME_NONE && count < TRACE_FIELDS_MAX)
        fields[count++] = (struct trace_field){
            "duration", duration(took, entry->end - entry->time)};
    parts->field_count = count;
}

static size_t event_line(struct log_parts *parts, struct log_replay *replay,
                         const struct trace_entry *entry,
                         struct trace_text *out)
{
    struct trace_text took = {.ceiling = 0};

    set_event(parts, entry, &took);
    log_chain_around(parts->chain, replay, parts->style->all_spans,
                     parts->reader, entry);
    lay_out(parts, out);
    log_chain_free(parts->chain);
    trace_text_free(&took);
    return 1;
}

void log_event(struct log_memory *memory, const struct log_style *style,
               const struct trace_reader *reader,
               const struct trace_entry *entry, struct trace_text *out)
{
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct log_chain chain;
    struct log_parts parts = {.style = style,
                              .reader = reader,
                              .memory = memory,
                              .time = entry->time,
                              .thread = entry->thread,
                              .site = entry->site,
                              .fields = fields,
                              .chain = &chain};

    event_line(&parts, NULL, entry, out);
}

void log_event_text(struct log_memory *memory, const struct trace_entry *entry,
                    struct trace_text *out)
{
    static const struct log_style style = {.time = LOG_TIME_UTC};
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct log_parts parts = {
        .style = &style, .memory = memory, .fields = fields};
    struct trace_text took = {.ceiling = 0};

    set_event(&parts, entry, &took);
    log_put_event(&parts, out);
    trace_text_free(&took);
}

/* ---- Spans ---- */

/* Adds the line of a span event, if the style has such lines. */
static size_t span_line(struct log_parts *parts, enum log_span_event event,
                        struct trace_text *out)
{
    static const char *const words[] = {
#define LOG_X(name, word, bits) [bits] = word,
        LOG_SPAN_EVENTS(LOG_X)
#undef LOG_X
    };

    if (!(parts->style->span_events & event))
        return 0;
    parts->message = words[event];
    parts->message_size = strlen(words[event]);
    parts->outside = event != LOG_SPAN_ENTER;
    lay_out(parts, out);
    return 1;
}

static size_t close_line(struct log_parts *parts,
                         const struct log_span_times *times,
                         struct trace_text *out)
{
    struct trace_text busy = {.ceiling = 0}, idle = {.ceiling = 0};
    uint64_t rest =
        trace_between(times->busy, trace_between(times->made, parts->time));
    size_t lines;

    if (parts->style->time != LOG_TIME_NONE) {
        parts->fields[0] =
            (struct trace_field){"time.busy", duration(&busy, times->busy)};
        parts->fields[1] =
            (struct trace_field){"time.idle", duration(&idle, rest)};
        parts->field_count = 2;
    }
    lines = span_line(parts, LOG_SPAN_CLOSE, out);
    trace_text_free(&busy);
    trace_text_free(&idle);
    return lines;
}

/* Returns the span event of an entry, except for its close. */
static size_t life_lines(struct log_parts *parts,
                         const struct trace_entry *entry,
                         struct trace_text *out)
{
    size_t lines = 0;

    switch (entry->kind) {
    case TRACE_ENTRY_SPAN:
        lines = span_line(parts, LOG_SPAN_NEW, out);
        if (entry->entered)
            lines += span_line(parts, LOG_SPAN_ENTER, out);
        return lines;
    case TRACE_ENTRY_ENTER:
        return span_line(parts, LOG_SPAN_ENTER, out);
    case TRACE_ENTRY_EXIT:
        return span_line(parts, LOG_SPAN_EXIT, out);
    default:
        return 0;
    }
}

static size_t span_lines(struct log_parts *parts, struct log_replay *replay,
                         const struct trace_entry *entry,
                         struct trace_text *out)
{
    uint32_t place = entry->kind == TRACE_ENTRY_SPAN ? entry->id : entry->span;
    struct log_chain *chain = parts->chain;
    struct log_span_times times;
    size_t lines = 0;

    log_chain_of(chain, replay, parts->style->all_spans, parts->reader, place);
    if (chain->count && chain->spans[0].id == place &&
        log_replay_shows(replay, &chain->spans[0])) {
        parts->site = chain->spans[0].site;
        lines = life_lines(parts, entry, out);
        if (parts->style->span_events & LOG_SPAN_CLOSE &&
            log_span_times_step(&parts->memory->span_times, parts->reader,
                                entry, &times))
            lines += close_line(parts, &times, out);
    }
    log_chain_free(chain);
    return lines;
}

size_t log_line(struct log_replay *replay, const struct log_style *style,
                const struct trace_reader *reader,
                const struct trace_entry *entry, struct trace_text *out)
{
    bool is_event = log_is_event(entry);
    bool is_life = !is_event && style->span_events &&
                   entry->kind != TRACE_ENTRY_FIELDS &&
                   entry->kind != TRACE_ENTRY_DEVICE;
    struct trace_field fields[TRACE_FIELDS_MAX];
    struct log_chain chain;
    struct log_parts parts = {.style = style,
                              .reader = reader,
                              .memory = log_replay_memory(replay),
                              .time = entry->time,
                              .thread = entry->thread,
                              .site = entry->site,
                              .fields = fields,
                              .chain = &chain};

    if (!is_event && !is_life && !log_replay_follows(replay))
        return 0;
    if (!log_replay_step(replay, reader, entry))
        return 0;
    if (is_event)
        return event_line(&parts, replay, entry, out);
    return is_life ? span_lines(&parts, replay, entry, out) : 0;
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
            lines += log_line(replay, style, reader, &entry, &text);
            if (text.size)
                fwrite(text.data, 1, text.size, stream);
        }
    trace_text_free(&text);
    log_replay_free(replay);
    return lines;
}

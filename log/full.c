/* full.c: tracing-subscriber's Full layout.
 *
 *  [TIME ]LEVEL [THREAD ][span{f=v g=w}:span: ]target: [file:][line: ]message
 * f=v
 *
 * Colours are those of the original: time, target and punctuation dim, span
 * names bold, field names italic, the level in its own colour.
 */
#include <string.h>
#include <time.h>

#include "internal.h"

#define DIM    "2"
#define BOLD   "1"
#define ITALIC "3"

static void styled(struct trace_text *out, bool color, const char *style,
                   const char *text)
{
    if (color)
        trace_text_printf(out, "\033[%sm", style);
    log_plain(out, text, strlen(text));
    if (color)
        trace_text_string(out, "\033[0m");
}

static void put_time(const struct log_parts *parts, struct trace_text *out)
{
    uint64_t ns = parts->entry->time;
    char text[64];

    if (parts->style->time == LOG_TIME_NONE)
        return;
    if (parts->style->time == LOG_TIME_UPTIME) {
        snprintf(text, sizeof(text), "%4llu.%09llus",
                 (unsigned long long)(ns / 1000000000),
                 (unsigned long long)(ns % 1000000000));
    } else {
        struct tm date;
        uint64_t wall = trace_reader_summary(parts->reader).origin.wall + ns;
        time_t seconds = (time_t)(wall / 1000000000);
        size_t size;

        gmtime_r(&seconds, &date);
        size = strftime(text, sizeof(text), "%Y-%m-%dT%H:%M:%S", &date);
        snprintf(text + size, sizeof(text) - size, ".%06lluZ",
                 (unsigned long long)(wall % 1000000000 / 1000));
    }
    styled(out, parts->style->color, DIM, text);
    trace_text_char(out, ' ');
}

static void put_level(const struct log_parts *parts, struct trace_text *out)
{
    static const struct {
        const char *text, *color;
    } levels[] = {{"  OFF", "0"},  {"ERROR", "31"}, {" WARN", "33"},
                  {" INFO", "32"}, {"DEBUG", "34"}, {"TRACE", "35"}};
    unsigned level = parts->entry->site->level;

    if (level > TRACE_LEVEL_TRACE)
        level = 0;
    styled(out, parts->style->color, levels[level].color, levels[level].text);
    trace_text_char(out, ' ');
}

static void put_thread(const struct log_parts *parts, struct trace_text *out)
{
    const struct trace_thread *thread = parts->entry->thread;

    if (parts->style->thread_name && thread->name[0]) {
        log_plain(out, thread->name, strlen(thread->name));
        trace_text_char(out, ' ');
    }
    if (parts->style->thread_id)
        trace_text_printf(out, "ThreadId(%02u) ", thread->tid);
}

static void put_field(struct trace_text *out, bool color, const char *name,
                      const struct trace_value *value)
{
    styled(out, color, ITALIC, name);
    styled(out, color, DIM, "=");
    log_value(out, value);
}

static void put_span(const struct log_parts *parts,
                     const struct trace_entry *span, struct trace_text *out)
{
    struct log_field fields[LOG_FIELDS_MAX];
    bool color = parts->style->color;
    size_t count =
        log_fields_of(parts->reader, span, parts->entry->time, fields);

    styled(out, color, BOLD, span->site->name);
    if (!count)
        return;
    styled(out, color, BOLD, "{");
    for (size_t i = 0; i < count; i++) {
        if (i)
            trace_text_char(out, ' ');
        put_field(out, color, fields[i].name, &fields[i].value);
    }
    styled(out, color, BOLD, "}");
}

static void put_spans(const struct log_parts *parts, struct trace_text *out)
{
    struct log_chain chain;
    struct trace_entry span;

    log_chain_of(&chain, parts->replay, parts->reader, parts->entry->span);
    for (size_t i = 0; i < chain.count; i++) {
        trace_reader_span(parts->reader, chain.places[i], &span);
        put_span(parts, &span, out);
        styled(out, parts->style->color, DIM, ":");
    }
    if (chain.count)
        trace_text_char(out, ' ');
    log_chain_free(&chain);
}

static void put_place(const struct log_parts *parts, struct trace_text *out)
{
    const struct trace_site *site = parts->entry->site;
    bool color = parts->style->color;
    char line[16];

    styled(out, color, DIM, site->target);
    styled(out, color, DIM, ":");
    trace_text_char(out, ' ');
    if (parts->style->file) {
        styled(out, color, DIM, site->file);
        styled(out, color, DIM, ":");
    }
    if (parts->style->line) {
        snprintf(line, sizeof(line), "%u:", site->line);
        styled(out, color, DIM, line);
    }
    if (parts->style->file || parts->style->line)
        trace_text_char(out, ' ');
}

/* The message, then the fields; a field called "message" stands bare. */
static void put_event(const struct log_parts *parts, struct trace_text *out)
{
    const struct trace_site *site = parts->entry->site;
    struct trace_text message = {0};
    struct trace_values values = log_values_of(parts->entry);
    struct trace_value value;
    bool any;

    log_message_of(parts->entry, &message);
    any = message.size > 0;
    if (any)
        log_plain(out, message.data, message.size);
    trace_text_free(&message);
    for (size_t i = 0;
         i < site->field_count && trace_values_next(&values, &value); i++) {
        if (value.type == TRACE_TYPE_EMPTY)
            continue;
        if (any)
            trace_text_char(out, ' ');
        any = true;
        if (!strcmp(site->fields[i], "message") &&
            (value.type == TRACE_TYPE_STRING ||
             value.type == TRACE_TYPE_DISPLAY))
            log_plain(out, value.as.text, value.size);
        else
            put_field(out, parts->style->color, site->fields[i], &value);
    }
}

void log_full(const struct log_parts *parts, struct trace_text *out)
{
    put_time(parts, out);
    put_level(parts, out);
    put_thread(parts, out);
    put_spans(parts, out);
    put_place(parts, out);
    put_event(parts, out);
    trace_text_char(out, '\n');
}

void log_span_text(struct log_replay *replay, const struct trace_reader *reader,
                   uint32_t place, uint64_t time, struct trace_text *out)
{
    struct log_style style = {0};
    struct trace_entry at = {.time = time}, span;
    struct log_parts parts = {replay, &style, reader, &at};
    struct log_chain chain;

    log_chain_of(&chain, replay, reader, place);
    for (size_t i = 0; i < chain.count; i++) {
        if (i)
            trace_text_char(out, ':');
        trace_reader_span(reader, chain.places[i], &span);
        put_span(&parts, &span, out);
    }
    log_chain_free(&chain);
}
